#!/bin/sh
# Runs each fuzz target for so many seconds (20 by default), from seeds made of the shared cases, where there are cargo-fuzz
# and a nightly toolchain; elsewhere the same targets as a test, with more mutations than `cargo test` has.
# Usage: rust/fuzz/run.sh [seconds] [target ...]
#
# What it finds stands in target/fuzz/artifacts: mended, it becomes a file in rust/fuzz/cases/TARGET, which the test replays.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-20}
[ $# -eq 0 ] || shift
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "no cargo-fuzz with a nightly toolchain: the targets run as a test"
    CONNECTOR_FUZZ_RUNS=$((seconds * 1000)) exec cargo test -p connector-fuzz-targets --test smoke
fi
out=$PWD/target/fuzz
cargo run -q -p connector-fuzz-targets --example seeds -- "$out/seeds"
for source in rust/fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    if [ $# -gt 0 ] && ! echo " $* " | grep -q " $target "; then continue; fi
    mkdir -p "$out/corpus/$target" "$out/artifacts/$target" "rust/fuzz/cases/$target"
    echo "== $target"
    cargo +nightly fuzz run --fuzz-dir rust/fuzz --target-dir "$out/build" "$target" \
        "$out/corpus/$target" "$out/seeds/$target" "rust/fuzz/cases/$target" -- \
        -max_total_time="$seconds" -dict=rust/fuzz/dictionary.txt -timeout=10 -rss_limit_mb=2048 -max_len=8192 \
        -artifact_prefix="$out/artifacts/$target/" -verbosity=1 -print_final_stats=1 2>"$out/$target.log" || {
        tail -n 60 "$out/$target.log"
        exit 1
    }
    grep -E "^stat::number_of_executed_units|^#[0-9]+.DONE" "$out/$target.log"
done
