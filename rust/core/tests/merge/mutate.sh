#!/bin/sh
# Removes the checks of the merge, and what sessions add to them, one by one in a copy, and expects the tests to fail
# each time.
# Usage: rust/core/tests/merge/mutate.sh [folder for the copy] [words in the names of those to try]
# CHECK=1 builds nothing and only says which expressions match nothing any more.
set -eu
root=$(cd "$(dirname "$0")/../../../.." && pwd)
copy=${1:-$(mktemp -d)}
only=${2:-}
mkdir -p "$copy"
(cd "$root" && git ls-files -z | xargs -0 tar cf - ) | (cd "$copy" && tar xf -)
cd "$copy"
survivors=0

# try NAME FILE SED-EXPRESSION: a check of the merge
try() {
    try_in "$1" "rust/core/src/toolset/$2" "$3" -p connector-core --test merge
}

# cargo_test TESTS...: built first, so that only a test that never ends takes all of its time; its end is in $status
cargo_test() {
    status=0
    cargo test -q --no-run "$@" >"$copy/output" 2>&1 || { status=1; return 1; }
    timeout 300 cargo test -q "$@" >"$copy/output" 2>&1 || status=$?
    [ "$status" -eq 0 ]
}

# try_in NAME FILE SED-EXPRESSION TESTS...
try_in() {
    name=$1 file=$2 expression=$3
    shift 3
    case $name in *"$only"*) ;; *) return ;; esac
    cp "$file" "$copy/original"
    sed -i "$expression" "$file"
    if cmp -s "$file" "$copy/original"; then
        echo "STALE    $name: the expression changes nothing"
        survivors=$((survivors + 1))
    elif [ -n "${CHECK:-}" ]; then
        :
    elif cargo_test "$@"; then
        echo "SURVIVED $name"
        survivors=$((survivors + 1))
    elif grep -q "test result: FAILED" "$copy/output"; then
        echo "caught   $name: $(grep -c '^    [a-z_:]*$' "$copy/output") tests fail"
    elif [ "$status" -eq 124 ]; then
        echo "caught   $name: a test never ends"
    else
        echo "BROKEN   $name: it does not compile"
        survivors=$((survivors + 1))
    fi
    cp "$copy/original" "$file"
}

for kind in Source Key Supersedes Widened Undecided Required ToolAdded Effect Origin Credential Setting Request Response LimitRaised Text Grant; do
    try "kind $kind" merge/change.rs "s/^    $kind \"\\([a-z_]*\\)\" Some([A-Za-z:]*)/    $kind \"\\1\" None/"
done
try "compare and swap" merge/mod.rs 's/if seen.is_none_or(|seen| seen == self.hash())/if true/'
try "a replacement names the set" merge/mod.rs 's/self.admit(connector, &\[\]).and(Err(stale()))/self.admit(connector, \&[])/'
try "tombstones are bounded" merge/mod.rs 's/if self.tombstones() + more > TOMBSTONES/if false/'
try "ids are one when they fold to one" merge/mod.rs 's/self.check_id(connector.id())?;//'
try "removed ids fold too" set.rs 's/Self { connectors: self.connectors.remove(id), ..self.clone() }/Self { connectors: self.connectors.remove(id), owners: Tree::default(), ..self.clone() }/'
try "removed tools are remembered" merge/past.rs 's/let known = before.into_iter().flat_map(|past| past.tools.iter());/let known = before.into_iter().take(0).flat_map(|past| past.tools.iter());/'
try "removed connectors are remembered" set.rs 's/Self { connectors: self.connectors.remove(id), ..self.clone() }/Self { connectors: self.connectors.remove(id), past: Tree::default(), owners: Tree::default(), tombstones: 0 }/'
try "a tool that comes back is new" merge/compare.rs 's/if gone {/if false \&\& gone {/'
try "annotations" merge/compare.rs 's/        self.annotations(&at, tool, old);//'
try "an approval is for one subject" merge/review.rs 's/if self.review.subject != Subject::new(set, connector)/if false/'
try "an approval ends" merge/review.rs 's/if age.is_none_or(|age| age >= APPROVAL_MS)/if false/'
try "an approval is used once" merge/review.rs 's/Ok(self.pending.remove(place))/{ let kept = self.pending.remove(place); let copy = Approval { token: kept.token, review: kept.review.clone(), made_ms: kept.made_ms }; self.pending.push(kept); Ok(copy) }/'
try "an approval relaxes only its list" merge/mod.rs 's/self.admit(connector, &approved)/self.admit(connector, \&[])/'

# What sessions and the store add: what was committed comes before what is visible, a plan dies with its tool set, a
# write starts in the ledger, secrets go with their connector.
session() {
    try_in "session: $1" "rust/runtime/src/$2" "$3" -p connector-runtime --test "${4-stored}"
}
session "committed before visible" visible.rs 's/^        commit(&next)?;$//; s/= Arc::new(next);$/= Arc::new(next); commit(\&self.current())?;/' visible
session "a plan dies with its tool set" state.rs 's/if self.generation != shelf.generation || !is_same {/if false {/'
session "a write starts in the ledger" run.rs 's/if !plan.is_write() {/if true {/'
session "secrets go with their connector" change.rs 's/secrets.delete(key)?;/let _ = key;/'
session "a signature is judged" change.rs 's/let signer = inner.trusted.verify(offer.manifest, offer.signature, policy, &inner.limits)?;/let signer = inner.trusted.verify(offer.manifest, None, connector_core::signature::Policy::Optional, \&inner.limits)?; let _ = policy;/'
session "a key speaks for its ids" change.rs 's/signer.may_sign(subject)?;//'
session "a change is durable" journal.rs 's/store.commit(&change).map(drop)/{ drop(change); Ok(()) }/'

echo "$survivors survivors"
[ "$survivors" -eq 0 ]
