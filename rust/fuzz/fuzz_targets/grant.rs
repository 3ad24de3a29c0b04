#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| connector_fuzz_targets::run("grant", data));
