//! What the tests of the schemas share.

use super::{Options, Schema, World};
use crate::json::{Numbers, Path, Profile, Value, read};
use crate::limits::TrustLimits;
use crate::rule::Findings;

pub(super) const OPEN: Options =
    Options { world: World::Open, dialect: super::Dialect::Draft202012, formats: super::Formats::Assert };

/// A value, with numbers of any size.
pub(super) fn value(text: &str) -> Value {
    let profile = Profile { max_bytes: 1 << 24, max_depth: 128, numbers: Numbers::Any };
    let (value, findings) = read(text.as_bytes(), profile);
    assert!(!findings.has_errors(), "{text}: {:?}", findings.list());
    value.unwrap()
}

/// Compiles, or tells the rules that were broken with their pointers.
pub(super) fn compile(text: &str, options: Options) -> Result<Schema, Vec<(&'static str, String)>> {
    let mut findings = Findings::new();
    let schema = Schema::compile(&value(text), &Path::Root, options, &TrustLimits::default(), &mut findings);
    schema.ok_or_else(|| findings.list().iter().map(|f| (f.rule.id, f.pointer.clone())).collect())
}

/// A schema in the closed reading.
pub(super) fn closed(text: &str) -> Schema {
    compile(text, Options::default()).unwrap_or_else(|findings| panic!("{text}: {findings:?}"))
}

/// A schema in the standard's reading.
pub(super) fn open(text: &str) -> Schema {
    compile(text, OPEN).unwrap_or_else(|findings| panic!("{text}: {findings:?}"))
}

/// The rules that a schema breaks in the closed reading, with their pointers.
pub(super) fn broken(text: &str) -> Vec<(&'static str, String)> {
    compile(text, Options::default()).expect_err(text)
}

/// Asserts what a schema takes and what it does not; every refusal has a reason.
pub(super) fn check(schema: &Schema, taken: &[&str], refused: &[&str]) {
    for text in taken {
        assert_eq!(schema.accepts(&value(text)), Ok(()), "{} takes {text}", schema.source());
    }
    for text in refused {
        let reasons = schema.accepts(&value(text)).expect_err(text);
        assert!(reasons.iter().all(|reason| !reason.keyword.is_empty()), "{} {text}", schema.source());
    }
}

/// The pointers and keywords of the violations of a value.
pub(super) fn reasons(schema: &Schema, text: &str) -> Vec<(String, &'static str)> {
    let violations = schema.accepts(&value(text)).err().unwrap_or_default();
    violations.into_iter().map(|violation| (violation.pointer, violation.keyword)).collect()
}
