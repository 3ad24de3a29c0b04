//! What a library is made of: bytes by crate, from the sizes of its symbols.

use std::collections::BTreeMap;

/// Names and their bytes.
pub type Sizes = Vec<(String, u64)>;

/// Bytes by crate and the largest single symbols, each largest first. What has no Rust name (C, assembler, tables
/// without a path) is `(not Rust)`.
pub fn of(symbols: &[(String, u64)]) -> (Sizes, Sizes) {
    let mut crates: BTreeMap<String, u64> = BTreeMap::new();
    let mut single = Vec::new();
    for (symbol, size) in symbols {
        let demangled = format!("{:#}", rustc_demangle::demangle(symbol));
        *crates.entry(crate_of(&demangled)).or_default() += size;
        single.push((demangled, *size));
    }
    let mut crates: Vec<_> = crates.into_iter().collect();
    crates.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    single.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    (crates, single)
}

/// The crate that a path begins in: `core` of `<core::str::Chars as Iterator>::next`, `http` of `http::uri::parse`. A
/// generic function counts for the crate that wrote it, not for the one whose types it was made for.
fn crate_of(demangled: &str) -> String {
    let Some((before, _)) = demangled.split_once("::") else {
        return "(not Rust)".into();
    };
    let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    match before.get(start..) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => "(not Rust)".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_the_first_path_that_is_named() {
        assert_eq!(crate_of("http::uri::parse"), "http");
        assert_eq!(crate_of("<core::str::Chars as core::iter::Iterator>::next"), "core");
        assert_eq!(crate_of("<&mut alloc::vec::Vec<u8> as std::io::Write>::write"), "alloc");
        assert_eq!(crate_of("ecp_nistz256_precomputed"), "(not Rust)");
    }

    #[test]
    fn bytes_add_up_and_the_largest_stands_first() {
        let symbols = [("_RNvC6_123foo3bar", 1), ("_RNvC3foo3bar", 5), ("memcpy", 3), ("_RNvC3foo3baz", 2)];
        let symbols: Vec<_> = symbols.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
        let (crates, single) = of(&symbols);
        assert_eq!(crates.first(), Some(&("foo".to_owned(), 7)));
        assert_eq!(single.first(), Some(&("foo::bar".to_owned(), 5)));
        assert_eq!(crates.iter().map(|(_, size)| size).sum::<u64>(), 11);
    }
}
