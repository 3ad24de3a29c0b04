//! What the names of a built library must be: all of the bindings', none of the tests', nothing that a phone lacks.

use std::collections::{BTreeMap, BTreeSet};

use crate::binary::Names;

/// The names by which generated Swift and Kotlin call the core.
pub fn is_of_bindings(name: &str) -> bool {
    name.starts_with("uniffi_") || name.starts_with("ffi_")
}

/// What is wrong with the names of a library that generated code calls by `expected`.
pub fn problems(names: &Names, expected: &BTreeSet<String>) -> Vec<String> {
    let mut problems = Vec::new();
    let expected: BTreeSet<_> = expected.iter().filter(|name| is_of_bindings(name)).collect();
    if expected.is_empty() {
        problems.push("the library of this machine exports nothing for the bindings".into());
    }
    for name in expected.into_iter().filter(|name| !names.exported.contains(*name)) {
        problems.push(format!("`{name}` is called by the bindings and not exported"));
    }
    for name in names.defined.iter().filter(|name| is_of_tests(name)) {
        problems
            .push(format!("`{name}` is there: the feature `test-hooks` must be off in a build for phones"));
    }
    // With panic = "abort" a fault in Rust would end the application instead of coming back as an error.
    let unwinds = |set: &BTreeSet<String>| set.contains("_Unwind_RaiseException");
    if !unwinds(&names.needed) && !unwinds(&names.defined) {
        problems.push("panics do not unwind, so the bindings cannot turn them into errors".into());
    }
    problems
}

/// `test_hooks_kit` of a function, `testhookskit` of an object, `TEST_HOOKS` of metadata: all are the same word.
fn is_of_tests(name: &str) -> bool {
    name.to_ascii_lowercase().replace('_', "").contains("testhooks")
}

/// The names that the oldest supported Android has, by library, as the list in the repository says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AndroidNames {
    /// Names by library (`libc`, `libdl`, `unwind` ...).
    pub libraries: BTreeMap<String, BTreeSet<String>>,
}

impl AndroidNames {
    /// Reads lines of `library name`; `#` starts a comment.
    ///
    /// # Errors
    /// A line of any other shape, or a name told twice.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut read = Self::default();
        let mut seen = BTreeSet::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<_> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [library, name] => {
                    if !seen.insert((*name).to_owned()) {
                        return Err(format!("line {}: `{name}` is told twice", number + 1));
                    }
                    read.libraries.entry((*library).to_owned()).or_default().insert((*name).to_owned());
                }
                _ => return Err(format!("line {}: not `library name`", number + 1)),
            }
        }
        Ok(read)
    }

    /// What a shared library asks for that is not in the list. A weak reference may be absent on the device.
    pub fn lacking(&self, names: &Names) -> Vec<String> {
        let has = |name: &&String| !self.libraries.values().any(|library| library.contains(*name));
        names
            .needed
            .iter()
            .filter(has)
            .map(|name| format!("`{name}` is not in the list of what Android has at API 24"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn good() -> Names {
        Names {
            exported: set(&[
                "uniffi_connector_ffi_fn_func_check",
                "ffi_connector_ffi_rustbuffer_free",
                "other",
            ]),
            defined: set(&[
                "uniffi_connector_ffi_fn_func_check",
                "ffi_connector_ffi_rustbuffer_free",
                "other",
                "hidden",
            ]),
            needed: set(&["_Unwind_RaiseException", "malloc"]),
            wanted: set(&["getrandom"]),
        }
    }

    #[test]
    fn a_full_library_has_no_problem() {
        let expected = set(&[
            "uniffi_connector_ffi_fn_func_check",
            "ffi_connector_ffi_rustbuffer_free",
            "rust_eh_personality",
        ]);
        assert_eq!(problems(&good(), &expected), Vec::<String>::new());
    }

    #[test]
    fn a_missing_export_is_named_even_when_it_is_defined_inside() {
        let mut names = good();
        names.exported.remove("uniffi_connector_ffi_fn_func_check");
        let found = problems(&names, &set(&["uniffi_connector_ffi_fn_func_check"]));
        assert_eq!(
            found,
            ["`uniffi_connector_ffi_fn_func_check` is called by the bindings and not exported"]
        );
    }

    #[test]
    fn a_comparison_with_nothing_is_no_proof() {
        assert!(problems(&good(), &set(&["main"])).iter().any(|problem| problem.contains("exports nothing")));
    }

    #[test]
    fn hooks_of_tests_are_found_in_any_spelling() {
        for hook in [
            "uniffi_connector_ffi_fn_func_test_hooks_resolve",
            "uniffi_connector_ffi_fn_clone_testhookskit",
            "UNIFFI_META_CONNECTOR_FFI_FUNC_TEST_HOOKS_RESOLVE",
        ] {
            let mut names = good();
            names.defined.insert(hook.into());
            let found = problems(&names, &set(&["ffi_connector_ffi_rustbuffer_free"]));
            assert!(found.iter().any(|problem| problem.contains(hook)), "{found:?}");
        }
    }

    #[test]
    fn a_build_that_aborts_is_refused() {
        let mut names = good();
        names.needed.remove("_Unwind_RaiseException");
        assert_eq!(problems(&names, &set(&["ffi_connector_ffi_rustbuffer_free"])).len(), 1);
    }

    #[test]
    fn android_lacks_what_is_not_in_the_list() {
        let list =
            AndroidNames::parse("# why\nlibc malloc # old\n\nunwind _Unwind_RaiseException\n").unwrap();
        assert_eq!(list.lacking(&good()), Vec::<String>::new());
        let mut names = good();
        names.needed.insert("getrandom".into());
        assert_eq!(list.lacking(&names), ["`getrandom` is not in the list of what Android has at API 24"]);
        assert!(AndroidNames::parse("malloc").is_err());
        assert!(AndroidNames::parse("libc malloc\nlibm malloc").is_err());
    }
}
