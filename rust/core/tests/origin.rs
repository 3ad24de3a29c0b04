//! Origins and addresses against the IANA registries, the URL standard's own tests, and SSRF payloads.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a helper of a test may fail as the test does"
)]

mod corpus;

use std::collections::BTreeMap;
use std::net::IpAddr;

use connector_core::json::{Numbers, Path, Profile, read_strict};
use connector_core::limits::TrustLimits;
use connector_core::origin::{
    METADATA, Origin, OriginEntry, Reach, SPECIAL_PURPOSE, classify, is_local, judge,
};
use connector_core::rule::Findings;
use connector_core::shape::{Reading, Shape};
use serde_json::Value;

/// How the labels of a suite were met.
#[derive(Default)]
struct Counts {
    right: usize,
    argued: usize,
    wrong: Vec<String>,
}

impl Counts {
    fn check(&mut self, right: bool, argued: bool, case: impl FnOnce() -> String) {
        match (right, argued) {
            (true, false) => self.right += 1,
            (false, true) => self.argued += 1,
            (true, true) => self.wrong.push(format!("argued with for nothing: {}", case())),
            (false, false) => self.wrong.push(case()),
        }
    }

    fn report(self, suite: &str) {
        println!("{suite}: {} right, {} argued, {} wrong", self.right, self.argued, self.wrong.len());
        assert!(self.wrong.is_empty(), "{suite}:\n{}", self.wrong.join("\n"));
    }
}

fn text<'c>(case: &'c Value, member: &str) -> &'c str {
    case[member].as_str().unwrap_or_else(|| panic!("no {member} in {case}"))
}

fn userprovided(members: &str) -> OriginEntry {
    let text = format!(r#"{{"userProvided": {{"title": "Your server"{members}}}}}"#);
    let profile = Profile { max_bytes: 1 << 10, max_depth: 4, numbers: Numbers::Exact };
    let (limits, mut findings) = (TrustLimits::default(), Findings::new());
    let mut reading = Reading { limits: &limits, findings: &mut findings };
    OriginEntry::read(&read_strict(text.as_bytes(), profile).unwrap(), &Path::Root, &mut reading).unwrap()
}

#[test]
fn the_table_is_that_of_iana() {
    let Some(cases) = corpus::cases("ssrf/iana-special-purpose.json") else { return };
    let mut counts = Counts::default();
    let mut rows: BTreeMap<String, _> =
        SPECIAL_PURPOSE.iter().map(|row| (format!("{}/{}", row.prefix, row.length), row)).collect();
    for case in &cases {
        // `::ffff:0:0` and the like: one spelling for both sides.
        let (prefix, length) = text(case, "prefix").split_once('/').unwrap();
        let row = rows.remove(&format!("{}/{length}", prefix.parse::<IpAddr>().unwrap()));
        let right = row.is_some_and(|row| {
            row.kind.is_none() == (text(case, "globally_reachable") == "True")
                && row.source.replace(' ', "") == text(case, "rfc")
        });
        counts.check(right, false, || format!("{case} {row:?}"));
    }
    counts.report("ssrf/iana-special-purpose.json");
    // Not in the registries: the IPv6 address space, and two forms that carry IPv4 addresses.
    let more: Vec<_> = rows.keys().map(String::as_str).collect();
    assert_eq!(more, ["2000::/3", "::/0", "::/96", "::ffff:0:0:0/96"]);
}

#[test]
fn the_edges_of_every_block_are_judged_right() {
    let Some(cases) = corpus::cases("ssrf/ip-classification.json") else { return };
    let mut counts = Counts::default();
    for case in &cases {
        let address = text(case, "ip").parse().unwrap();
        let denied = judge(address, Reach::PUBLIC).is_err();
        counts.check(denied == case["deny"].as_bool().unwrap(), false, || case.to_string());
        // What no grant may open stays closed; what is public stays open.
        if METADATA.iter().any(|block| block.contains(address)) {
            assert!(judge(address, Reach::WIDEST).is_err() && !is_local(address), "{case}");
        }
        assert!(denied || judge(address, Reach::WIDEST).is_ok(), "{case}");
    }
    counts.report("ssrf/ip-classification.json");
}

#[test]
fn the_addresses_of_other_guards_are_judged_alike() {
    let Some(cases) = corpus::cases("ssrf/ip-upstream-tests.json") else { return };
    let mut counts = Counts::default();
    for case in &cases {
        let ip = text(case, "ip");
        // smokescreen refuses every NAT64 address; on an IPv6-only network (most phones) that would refuse
        // every IPv4 server. It allows 64:ff9c::/16, which is allocated to nobody.
        let argued = ["64:ff9b::808:808", "64:ff9c::1"].contains(&ip);
        let denied = judge(ip.parse().unwrap(), Reach::PUBLIC).is_err();
        counts.check(denied == case["deny"].as_bool().unwrap(), argued, || case.to_string());
        assert_eq!(denied, case["iana_rule_deny"].as_bool().unwrap(), "{case}");
        assert_eq!(classify(ip, Reach::PUBLIC).allowed, !denied, "{case}");
    }
    counts.report("ssrf/ip-upstream-tests.json");
}

/// `scheme://authority` of a text, when it has the form.
fn without_path(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |at| at + 3);
    url[authority..].find(['/', '?', '#']).map_or(url, |at| &url[..authority + at])
}

#[test]
fn no_payload_is_a_fixed_origin() {
    let Some(cases) = corpus::cases("ssrf/url-payloads.json") else { return };
    let mut counts = Counts::default();
    for case in &cases {
        let (url, kind) = (text(case, "url"), text(case, "kind"));
        let allowed = text(case, "expect") == "allow";
        // A path is not part of an origin; the case is met without it, below.
        let argued = url == "https://postman-echo.com/get";
        counts.check(OriginEntry::fixed(url).is_ok() == allowed, argued, || case.to_string());

        // Half of the payloads fall to the `/` at their end. Without it, only names are left that resolve to
        // local addresses, which the judge of the address meets, and honest names of other servers.
        let Ok(entry) = OriginEntry::fixed(without_path(url)) else {
            assert!(!allowed, "{case}");
            continue;
        };
        let bound = entry.bind(None, Reach::WIDEST).unwrap();
        assert_eq!(case["whatwg"]["origin"], bound.as_str(), "{case}");
        assert!(bound.judge("127.0.0.1".parse().unwrap()).is_err(), "{case}");
        assert!(bound.judge("169.254.169.254".parse().unwrap()).is_err(), "{case}");
        let honest = ["public", "dns-name-to-private", "suffix", "userinfo"].contains(&kind);
        assert!(honest, "accepted: {case}");
        assert!(kind != "userinfo" || bound.as_str() == "https://evil.example", "{case}");
    }
    counts.report("ssrf/url-payloads.json as fixed origins");
}

#[test]
fn a_payload_is_a_local_origin_only_where_the_grant_reaches() {
    let Some(cases) = corpus::cases("ssrf/url-payloads.json") else { return };
    let entry = userprovided(r#", "localNetwork": true, "basePath": true"#);
    let (mut bound_to_address, mut bound_to_name, mut refused) = (0, 0, BTreeMap::new());
    for case in &cases {
        let url = text(case, "url").strip_suffix('/').unwrap_or(text(case, "url"));
        match entry.bind(Some(url), Reach::WIDEST) {
            Ok(bound) => {
                assert_eq!(case["whatwg"]["origin"], bound.origin().as_str(), "{case}");
                if let Some(address) = bound.origin().address() {
                    bound_to_address += 1;
                    assert!(is_local(address), "{case}");
                } else {
                    bound_to_name += 1;
                }
                assert!(bound.judge("169.254.169.254".parse().unwrap()).is_err(), "{case}");
            }
            Err(fault) => *refused.entry(fault.rule().id).or_insert(0) += 1,
        }
        assert!(
            text(case, "kind") != "cloud-metadata"
                || entry
                    .bind(Some(url), Reach { loopback: false, ..Reach::WIDEST })
                    .map_or(true, |bound| bound.origin().address().is_none()),
            "{case}"
        );
    }
    println!(
        "ssrf/url-payloads.json as local origins: {bound_to_address} local addresses, {bound_to_name} names, refused {refused:?}"
    );
}

/// Checks a text against what the URL standard makes of it; gives the rule that refuses it.
fn differential(text: &str, serialised: Option<&str>) -> Option<&'static str> {
    match Origin::parse(text) {
        Ok(origin) => {
            assert_eq!(serialised, Some(text), "{text}: accepted, and the standard reads something else");
            assert_eq!(origin.as_str(), text);
            None
        }
        Err(fault) => Some(fault.rule().id),
    }
}

#[derive(Default)]
struct Differential {
    accepted: usize,
    refused: usize,
    /// Equal to its serialisation and refused all the same, by rule.
    stricter: BTreeMap<&'static str, usize>,
}

impl Differential {
    fn check(&mut self, text: &str, serialised: Option<&str>) {
        match differential(text, serialised) {
            None => self.accepted += 1,
            Some(rule) if serialised == Some(text) => *self.stricter.entry(rule).or_default() += 1,
            Some(_) => self.refused += 1,
        }
    }

    fn report(&self, suite: &str) {
        let Self { accepted, refused, stricter } = self;
        println!(
            "{suite}: {accepted} accepted, {refused} refused as not their serialisation, stricter than the standard {stricter:?}"
        );
        assert!(*accepted > 0);
        let known =
            ["origin.host", "origin.port", "origin.trailing_dot", "origin.scheme", "origin.character"];
        assert!(stricter.keys().all(|rule| known.contains(rule)), "{stricter:?}");
    }
}

#[test]
fn what_is_accepted_is_what_the_url_standard_serialises() {
    let Some(cases) = corpus::cases("url/url-parse.json") else { return };
    let mut counts = Differential::default();
    for case in &cases {
        // Some cases have no `origin`, and all that parse have these two.
        let web = case["protocol"].as_str().filter(|protocol| ["http:", "https:"].contains(protocol));
        let serialised = web.map(|protocol| format!("{protocol}//{}", text(case, "host")));
        counts.check(text(case, "input"), serialised.as_deref());
        if let Some(serialised) = serialised {
            counts.check(&serialised, Some(&serialised));
        }
    }
    counts.report("url/url-parse.json");
}

#[test]
fn hosts_are_accepted_only_in_their_ascii_form() {
    for file in ["url/toascii.json", "url/idna-v2.json"] {
        let Some(cases) = corpus::cases(file) else { return };
        let mut counts = Differential::default();
        for case in &cases {
            let ascii = case["output"].as_str().map(|host| format!("https://{host}"));
            counts.check(&format!("https://{}", text(case, "input")), ascii.as_deref());
            if let Some(ascii) = ascii {
                counts.check(&ascii, Some(&ascii));
            }
        }
        counts.report(file);
    }
}

/// A name that DNS can carry.
fn is_dns_name(host: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let label = |label: &str| {
        (1..=63).contains(&label.len()) && label.chars().all(plain) && label.trim_matches('-') == label
    };
    host.len() <= 253 && host.split('.').all(label)
}

#[test]
fn every_international_name_has_a_form_that_is_accepted() {
    let Some(cases) = corpus::cases("url/idna-v2.json") else { return };
    let mut accepted = 0;
    for case in &cases {
        let Some(host) = case["output"].as_str().filter(|host| is_dns_name(host)) else { continue };
        // ASCII input is passed through by the suite, whether its `xn--` labels are valid or not.
        if !text(case, "input").is_ascii() {
            let origin = Origin::parse(&format!("https://{host}"));
            assert!(origin.is_ok(), "{case}: {origin:?}");
            accepted += 1;
        }
    }
    println!("url/idna-v2.json: {accepted} ASCII forms of international names, all accepted");
}
