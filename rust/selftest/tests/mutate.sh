#!/bin/sh
# Switches off each guard, one by one, in a copy, and expects a scenario of its group to fail each time.
# Usage: rust/selftest/tests/mutate.sh [folder for the copy]      (perl and about a quarter of an hour are needed)
# MUTATE=WORDS tries only the guards with these words in their names.
#
# Every address that is let pass leads to loopback, also in a mutated build: nothing else is ever connected to.
# CHECK=1 builds nothing and only says which expressions match nothing any more.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
copy=${1:-$(mktemp -d)}
mkdir -p "$copy"
(cd "$root" && git ls-files -z | xargs -0 tar cf - ) | (cd "$copy" && tar xmf -)
cd "$copy"
caught=0
survivors=0

# judge SCENARIOS: runs those with this in their id; the ids of the failed ones
judge() {
    status=0
    timeout 300 ./target/debug/connector selftest --format json --only "$1" >report 2>errors || status=$?
    if [ "$status" -eq 0 ]; then return 0; fi
    failed=$(perl -ne 'while (/\{"id":"([^"]*)"[^{}]*"ok":false/g) { print "$1 " }' report)
    echo "${failed:-ended with status $status: $(tail -n 1 errors)}"
}

# try SCENARIOS NAME FILE PERL-EXPRESSION: the expression is applied to the file as one text
try() {
    case "$2" in *"${MUTATE:-}"*) ;; *) return 0 ;; esac
    cp "$3" original
    perl -0pi -e "$4" "$3"
    if cmp -s "$3" original; then
        echo "STALE    $2: the expression changes nothing"
        survivors=$((survivors + 1))
    elif [ -n "${CHECK:-}" ]; then
        caught=$((caught + 1))
    elif ! cargo build -q -p connector-cli 2>output; then
        echo "BROKEN   $2: it does not compile"
        grep -m 3 '^error' output || true
        survivors=$((survivors + 1))
    else
        found=$(judge "$1")
        if [ -z "$found" ]; then
            echo "SURVIVED $2"
            survivors=$((survivors + 1))
        else
            echo "caught   $2: $(echo "$found" | cut -c -100)"
            caught=$((caught + 1))
        fi
    fi
    # A later time than the build's, or cargo would take the mutated file for built.
    cat original >"$3"
}

if [ -z "${CHECK:-}" ]; then cargo build -q -p connector-cli; fi
for group in path address local redirect tls ambient deadline caps framing repeat write secret text; do
    if [ -n "${CHECK:-}" ]; then break; fi
    found=$(judge "$group-")
    [ -z "$found" ] || { echo "the unchanged build fails: $found"; exit 1; }
done

net=rust/net/src
core=rust/core/src
runtime=rust/runtime/src

# Addresses
try address- "each address is judged" $net/connect.rs 's/    judge\(address, reach\)\.map_err\(Forbidden::Denied\)\?;\n//'
try address-mixed "what is forbidden is dropped" $net/connect.rs 's/Err\(reason\) => refused = refused\.or\(Some\(reason\)\),/Err(reason) => { refused = refused.or(Some(reason)); address.set_port(port); allowed.push(address); }/'
try address-rebind "the judged address is connected to" $net/connect.rs 's/_ => Ok\(interleave\(allowed\)\),/_ => match url.host() { Some(Host::Domain(name)) => Ok(self.resolver.resolve(name, port).await?.into_iter().map(|at| SocketAddr::new(at.ip(), port)).collect()), _ => Ok(allowed) },/'
try address-nat64 "carried IPv4 addresses are unwrapped" $core/origin/address.rs 's/IpAddr::V6\(address\) => \(carried\(address\), carried_by_local_nat64\(address\)\),/IpAddr::V6(address) => { let _ = (carried(address), carried_by_local_nat64(address)); ([None::<Ipv4Addr>; 2], [None::<Ipv4Addr>; 4]) }/'
try local- "metadata addresses are opened by no grant" $core/origin/address.rs 's/if is_metadata\(address\) \{/if false {/'
try local- "the words of a grant are separate" $core/origin/address.rs 's/AddressKind::Loopback => Some\(\|reach\| reach\.loopback\)/AddressKind::Loopback => Some(|reach| reach.local_network)/'
try local- "the overlay network has its own word" $core/origin/address.rs 's/AddressKind::Shared => Some\(\|reach\| reach\.overlay_network\)/AddressKind::Shared => Some(|reach| reach.local_network)/'
try local-fixed "a fixed origin is public" $core/origin/binding.rs 's/reach: Reach::PUBLIC,/reach,/'
try local-public "cleartext is for local addresses" $net/connect.rs 's/if must_be_local && !is_local\(address\)/if must_be_local \&\& false/'
try local-literal "a bound literal is judged" $core/origin/binding.rs 's/judge\(address, reach\)\.map_err\(OriginFault::address\)\?;//'
try local-cleartext "a credential over http has its own word" $core/call/plan.rs 's/if guarded && built/if false \&\& guarded \&\& built/'

# Redirects
try redirect- "redirects are followed only where the manifest says so" $net/redirect.rs 's/if outgoing\.budget\(\)\.redirects != Redirects::SameOrigin \|\| !safe/if !safe/'
try redirect- "the origin is kept" $net/redirect.rs 's/next\.origin\(\) != url\.origin\(\) \|\| //'
try redirect-userinfo "userinfo is refused" $net/redirect.rs 's/ \|\| has_userinfo/ || false/'
try redirect-four "three hops" $net/redirect.rs 's/if hops >= HOPS/if hops > HOPS/'
try redirect-prefix "the literal prefix is kept" $net/redirect.rs 's/if !keeps_prefix\(/if false \&\& !keeps_prefix(/'
try redirect-prefix "no encoded dots" $net/redirect.rs 's/kept && !path\.split\(.\/.\)\.any\(climbs\)/kept/'
try redirect-two "one Location" $net/redirect.rs 's/let \(Some\(location\), None\) = \(values\.next\(\), values\.next\(\)\)/let Some(location) = values.next()/'
try redirect- "only readable targets" $net/redirect.rs 's/let readable =\s+!location\.is_empty\(\) && location\.iter\(\)\.all\(\|byte\| byte\.is_ascii_graphic\(\) && \*byte != b.\\\\.\);/let readable = true;/'
try redirect-hop "the body of a hop is not read" $net/client.rs 's/self\.discard\(answer\)\.await;/drop(self.receive(answer, budget, progress).await?);/'

# TLS
cp $net/tls.rs tls.original
cat >>$net/tls.rs <<'RUST'

#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &rustls::pki_types::ServerName<'_>,
        _: &[u8],
        _: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
RUST
try tls- "certificates are verified" $net/tls.rs 's/\.with_custom_certificate_verifier\(self\.verifier\(\)\?\)/.with_custom_certificate_verifier({ self.verifier()?; Arc::new(Anyone) })/'
cat tls.original >$net/tls.rs
try tls- "a connection has its own time" $net/connect.rs 's/match timeout\(limit, self\.handshake\(url, addresses\)\)\.await/match { let _ = limit; Ok::<_, tokio::time::error::Elapsed>(self.handshake(url, addresses).await) }/'

# What is ambient
try ambient-proxy "no proxy of the environment" $net/connect.rs 's/let stream = race\(addresses\)/let addresses = std::env::var("HTTP_PROXY").ok().and_then(|proxy| proxy.split(":\/\/").nth(1).and_then(|at| at.parse().ok())).map_or(addresses, |proxy| vec![proxy]);\n        let stream = race(addresses)/'
try ambient-clients-apart "one client for each grant" $runtime/state.rs 's/match self\.clients\.get\(id\) \{\s+Some\(\(hash, client\)\) if \*hash == grant =>/match self.clients.values().next() {\n            Some((_, client)) =>/'
try ambient-origins "a kept connection is for one origin" $net/pool.rs 's/idle\.key == \*key/idle.key.header_bytes == key.header_bytes/'
try ambient-grant "a client goes with its grant" $runtime/state.rs 's/self\.clients\.retain\(.*?\);//; s/if \*hash == grant =>/if *hash == grant || *hash != grant =>/'

# The deadline and cancellation
try deadline- "the deadline" $net/client.rs 's/\(\) = sleep_until\(deadline\) => progress\.told\(\)\.ok_or_else\(\|\| progress\.timeout\(\)\),\n//'
try deadline-pause "no pause beyond the deadline" $net/retry.rs 's/\(pause < left\)\.then_some\(pause\)/{ let _ = left; Some(pause) }/'
try deadline-slow-unauthorized "a second try has what is left" $runtime/execution.rs 's/run\.send\(&renewed\.within\(left\)\)/run.send(\&{ let _ = left; renewed })/'
try write- "cancellation" $net/client.rs 's/\(\) = cancel\.cancelled\(\) => Err\(Failure::Cancelled\),\n//'

# Caps and codings
try caps-head "the cap on the head" $net/pool.rs 's/\.max_header_size\(header_bytes\)//'
try caps-body "the cap on wire bytes" $net/body.rs 's/let left = budget\.wire_bytes - wire_bytes;/let left = usize::MAX; let _ = budget;/'
try caps-body-lowered "the cap on decoded bytes" $net/coding.rs 's/let room = self\.cap\.saturating_sub\(self\.bytes\.len\(\)\);/let room = self.cap.saturating_mul(4).saturating_sub(self.bytes.len());/'
try caps- "the cap on framing" $net/wire.rs 's/if heard > self\.0\.allowed\.load\(Ordering::SeqCst\)/if heard == usize::MAX/'
try caps-coding "one coding" $net/coding.rs 's/if values\.next\(\)\.is_some\(\) \|\| value\.as_bytes\(\)\.contains\(&b.,.\)/if false/'
try caps-coding "a coding that was asked for" $net/coding.rs 's/_ => Err\(BadCoding::NotAsked\)/_ => Ok(Self::Identity)/'
try caps-coding "a body is what its coding says" $net/coding.rs 's/if ended\.is_err\(\) && !sink\.over/if ended.is_err() \&\& false/'
try caps-json-deep "the depth of JSON" $core/json/read.rs 's/if depth > self\.max_depth \{/if false {/'
try caps-json-many "the number of JSON values" $core/response/apply.rs 's/const MAX_VALUES: usize = 200_000/const MAX_VALUES: usize = usize::MAX/'

# Framing
try framing- "a length beside a coding" $net/exchange.rs 's/if !one \|\| headers\.contains_key\(TRANSFER_ENCODING\)/if !one/'
try framing-length "one length" $net/exchange.rs 's/if !one \|\| /if /'
try framing-coding "chunked alone" $net/exchange.rs 's/if !chunked \|\| codings\.next\(\)\.is_some\(\)/if false \&\& !chunked/'
try framing-upgrade "no change of protocol" $net/exchange.rs 's/if response\.status\(\)\.as_u16\(\) == 101/if false/'
try framing- "what is cut short is no answer" $net/body.rs 's/let frame = frame\.map_err\(\|error\| damaged\(&error\)\)\?;/let Ok(frame) = frame.map_err(|error| damaged(\&error)) else { break };/'

# Repeats and rates
try repeat-status "only four statuses are repeated" $net/retry.rs 's/429 \| 502 \| 503 \| 504/400..=599/'
try repeat- "only what may be repeated" $core/call/plan.rs 's/retries: if repeatable \{ retries \} else \{ 0 \}/retries: { let _ = repeatable; retries.max(2) }/'
try repeat- "as often as the manifest says" $net/client.rs 's/_ if tries >= budget\.retries => None,/_ if tries > budget.retries => None,/'
try repeat-cut "a connection that was cut is no failure to connect" $net/retry.rs 's/Failure::Connect\(_\) \| Failure::Tls\(TlsFailure::Broken\)/Failure::Connect(_) | Failure::Protocol(_)/'
try repeat-retry-after "Retry-After is clamped" $net/retry.rs 's/Some\(wait\.min\(LONGEST_WAIT\)\)/Some(wait)/'
try repeat-retry-after "one Retry-After" $net/retry.rs 's/let \(Some\(value\), None\) = \(values\.next\(\), values\.next\(\)\)/let Some(value) = values.next()/'
try repeat-retry-after "Retry-After is honoured" $net/retry.rs 's/let asked = headers\.and_then\(\|headers\| self\.retry_after\(headers\)\);/let asked = None::<Duration>; let _ = headers.and_then(|headers| self.retry_after(headers));/'
try repeat-idempotent "the key stays the same" $runtime/planning.rs 's/idempotency_key: keyed\.then\(\|\| self\.inner\.random\.uuid\(\)\)\.transpose\(\)\?/idempotency_key: { let _ = keyed; None }/'
try repeat-rate "the calls of a minute" $runtime/rates.rs 's/if calls\.len\(\) >= \*limit as usize/if calls.len() >= usize::MAX - *limit as usize/'

# Writes
try write- "an unknown outcome is told" $runtime/run.rs 's/if self\.confirmed\.plan\(\)\.is_write\(\) \{ refusal \} else \{ error\.refusal\(\) \}/error.refusal()/'
try write- "what was not sent has a known outcome" $net/error.rs 's/if self\.sent == Sent::Maybe && !answered/if !answered/'
try write- "what was answered has a known outcome" $net/error.rs 's/if self\.sent == Sent::Maybe && !answered/if { let _ = answered; self.sent == Sent::Maybe }/'
try write-one "one write in flight" $runtime/state.rs 's/if plan\.is_write\(\) && self\.running/if false \&\& self.running/'
try write-drop "a dropped write is recorded" $runtime/run.rs 's/let code = if unknown \{ Code::OutcomeUnknown \} else \{ Code::NetCancelled \};/let _ = unknown; let code = Code::NetCancelled;/'
try write-idle "a write needs a young connection" $net/client.rs 's/let once_only = budget\.retries == 0;/let once_only = false;/'
try path-unconfirmed "a confirmation is needed" $core/call/dispatch.rs 's/None if self\.needs_confirmation\(\)\.is_empty\(\) =>/None =>/'

# Secrets
try secret-unauthorized "after a 401 the store is asked" $runtime/execution.rs 's/if run\.is_refused\(\) \{/if false \&\& run.is_refused() {/'
try secret-unauthorized "only another secret is tried" $runtime/secrets.rs 's/secret\.filter\(\|secret\| !secret\.is\(&held\.secret\)\)/secret/; s/if !renewed \|\| are_known_refused\(inner, &next\)/if !renewed/'
try secret-unauthorized "a rejected secret stays rejected" $runtime/standing.rs 's/self\.refused\.iter\(\)\.any\(\|refused\| refused\.iter\(\)\.all\(is_sent\)\)/self.refused.iter().any(|refused| refused.iter().all(is_sent)) \&\& false/'
try secret-unauthorized-minute "one refresh a minute" $runtime/standing.rs 's/BETWEEN_REFRESHES: Duration = Duration::from_secs\(60\)/BETWEEN_REFRESHES: Duration = Duration::ZERO/'
try secret-echo "secrets that come back are hidden" $runtime/secrets.rs 's/Redactor::new\(texts\.iter\(\)\.map\(\|text\| text\.as_bytes\(\)\)\)/Redactor::new(texts.iter().take(0).map(|text| text.as_bytes()))/'
try secret-echo-old "so are those that were sent before" $runtime/secrets.rs 's/let sent = self\.now\.iter\(\)\.chain\(&self\.before\);/let sent = self.now.iter().chain(self.before.iter().take(0));/'
try secret-missing "no request without its secret" $runtime/secrets.rs 's/let Some\(secret\) = fetch\(place, &key, None\)\.await\? else \{/let Some(secret) = fetch(place, \&key, None).await?.or(Some(Secret::new(String::from("none")))) else {/'
try secret-deleted "secrets go with their connector" $runtime/change.rs 's/secrets\.delete\(key\)\?;/let _ = key;/; s/let _deleted_before = secrets\.delete\(key\);/let _ = key;/'

try secret-unauthorized-drip "the body of a 401 is waited for a second" $net/client.rs 's/let read = if status == UNAUTHORIZED \{/let read = if false \&\& status == UNAUTHORIZED {/'
try secret-unauthorized- "a 401 is one whatever its body" $net/client.rs 's/if status >= 400 \{\s+progress\.tell/if false {\n            progress.tell/'
try secret-unauthorized-length "a 401 is one in a broken frame" $runtime/run.rs 's/self\.refused = error\.status == Some\(UNAUTHORIZED\);//'
try redirect-status "five statuses are followed" $net/redirect.rs 's/if !matches!\(status, 301 \| 302 \| 303 \| 307 \| 308\)/if false/'
try redirect- "a target is read as it is spelled" $net/redirect.rs 's/if let Some\(authority\) = authority\(text\)\? \{/if let Some(authority) = None::<\&str> {/'
try redirect-prefix "a segment stays in its place" $net/redirect.rs 's/kept && !path\.split\(.\/.\)\.any\(climbs\)/kept/'
try redirect-long "the length of a target" $net/redirect.rs 's/if next\.as_str\(\)\.len\(\) > outgoing\.budget\(\)\.url_bytes/if false/'
try redirect-hops "hops before and after a 401" $runtime/run.rs 's/, &self\.spent\)/, \&Spent::default())/'

# Text
try text- "tokens are broken up" $core/text/mod.rs 's/step\(self\.tokens\.break_up\(&text\), &mut text\);\n//'
try text- "controls and invisible characters are removed" $core/text/mod.rs 's/step\(strip::strip\(&text, self\.context == Context::Title\), &mut text\);\n//'
try text- "what would load something is defused" $core/text/mod.rs 's/step\(defuse::defuse\(&text\), &mut text\);//'

echo "$caught caught, $survivors survivors"
[ "$survivors" -eq 0 ]
