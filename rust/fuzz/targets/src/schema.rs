//! Schemas, and their three readers.

use connector_core::json::{Numbers, Path, Profile, read_strict};
use connector_core::schema::{Options, Schema, Verdict, World};
use connector_core::{Findings, TrustLimits};

use crate::parts;

const ANY: Profile = Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Any };

fn compile(text: &str, world: World) -> Option<Schema> {
    let source = read_strict(text.as_bytes(), ANY).ok()?;
    let mut findings = Findings::new();
    let options = Options { world, ..Options::default() };
    let schema = Schema::compile(&source, &Path::Root, options, &TrustLimits::default(), &mut findings);
    assert_eq!(schema.is_some(), !findings.has_errors(), "a schema is there exactly when nothing refuses it");
    schema
}

/// A schema and a value: it is decided, the same again, and what is refused is refused with a place.
pub(crate) fn schema(data: &[u8]) {
    let Some([schema, value]) = parts(data) else { return };
    for world in [World::Closed, World::Open] {
        let Some(schema) = compile(schema, world) else { continue };
        let Ok(value) = read_strict(value.as_bytes(), ANY) else { continue };
        let verdict = schema.accepts(&value);
        assert_eq!(verdict.is_ok(), schema.accepts(&value).is_ok());
        if let Err(violations) = verdict {
            assert!(!violations.is_empty());
        }
    }
}

/// A schema: its grammar is bounded, has its root, and names no rule twice.
pub(crate) fn grammar(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Some(schema) = compile(text, World::Closed) else { return };
    let Ok(grammar) = schema.to_grammar() else { return };
    assert!(grammar.text.len() <= 256 << 10 && grammar.text.starts_with("root ::= "));
    let mut names: Vec<&str> =
        grammar.text.lines().filter_map(|line| line.split_once(" ::= ")).map(|(name, _)| name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a rule stands twice");
    assert_eq!(schema.to_grammar().expect("once more").text, grammar.text);
}

/// Two schemas: a schema is narrower than itself, and a witness is one.
pub(crate) fn narrower(data: &[u8]) {
    let Some([new, old]) = parts(data) else { return };
    let (Some(new), Some(old)) = (compile(new, World::Closed), compile(old, World::Closed)) else { return };
    assert!(new.is_narrower_than(&new).is_narrower());
    if let Verdict::Wider { witness, .. } = new.is_narrower_than(&old) {
        assert!(new.accepts(&witness).is_ok(), "the new schema refuses the witness");
        assert!(old.accepts(&witness).is_err(), "the old schema takes the witness");
        let again = read_strict(witness.to_text().as_bytes(), ANY).expect("a witness can be written");
        assert!(again == witness, "a witness is what is written");
    }
}
