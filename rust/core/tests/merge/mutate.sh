#!/bin/sh
# Removes the checks of the merge one by one, in a copy, and expects the tests to fail each time.
# Usage: rust/core/tests/merge/mutate.sh [folder for the copy]
set -eu
root=$(cd "$(dirname "$0")/../../../.." && pwd)
copy=${1:-$(mktemp -d)}
mkdir -p "$copy"
(cd "$root" && git ls-files -z | xargs -0 tar cf - ) | (cd "$copy" && tar xf -)
cd "$copy"
survivors=0

# try NAME FILE SED-EXPRESSION
try() {
    file="rust/core/src/toolset/$2"
    cp "$file" "$copy/original"
    sed -i "$3" "$file"
    if cmp -s "$file" "$copy/original"; then
        echo "STALE    $1: the expression changes nothing"
        survivors=$((survivors + 1))
    elif cargo test -q -p connector-core --test merge >"$copy/output" 2>&1; then
        echo "SURVIVED $1"
        survivors=$((survivors + 1))
    elif grep -q "test result: FAILED" "$copy/output"; then
        echo "caught   $1: $(grep -c '^test .*FAILED\|^    [a-z_]*::' "$copy/output") lines of failures"
    else
        echo "BROKEN   $1: it does not compile"
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
try "removed tools are remembered" merge/past.rs 's/let known = before.into_iter().flat_map(|past| past.tools.iter());/let known = before.into_iter().take(0).flat_map(|past| past.tools.iter());/'
try "removed connectors are remembered" set.rs 's/Self { connectors: self.connectors.remove(id), ..self.clone() }/Self { connectors: self.connectors.remove(id), past: Tree::default(), tombstones: 0 }/'
try "a tool that comes back is new" merge/compare.rs 's/if gone {/if false \&\& gone {/'
try "annotations" merge/compare.rs 's/        self.annotations(&at, tool, old);//'
try "an approval is for one subject" merge/review.rs 's/if self.review.subject != Subject::new(set, connector)/if false/'
try "an approval ends" merge/review.rs 's/if age.is_none_or(|age| age >= APPROVAL_MS)/if false/'
try "an approval is used once" merge/review.rs 's/Ok(self.pending.remove(place))/{ let kept = self.pending.remove(place); let copy = Approval { token: kept.token, review: kept.review.clone(), made_ms: kept.made_ms }; self.pending.push(kept); Ok(copy) }/'
try "an approval relaxes only its list" merge/mod.rs 's/self.admit(connector, &approved)/self.admit(connector, \&[])/'

echo "$survivors survivors"
[ "$survivors" -eq 0 ]
