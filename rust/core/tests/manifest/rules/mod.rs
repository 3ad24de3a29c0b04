//! Each rule of a manifest: one change to the valid base, and the findings that it makes.

mod document;
mod parameters;
mod request;

use serde_json::Value;

use crate::base::Change::{Put, Remove};
use crate::base::{Change, changed, found, is_error, report};

/// A rule, the places of its findings, and the changes to the base that make them.
pub(crate) struct Case {
    places: Vec<(&'static str, &'static str)>,
    pub(crate) changes: Vec<Change>,
}

/// A value put at a pointer; the finding stands there.
fn put(rule: &'static str, pointer: &'static str, value: impl Into<Value>) -> Case {
    Case { places: vec![(rule, pointer)], changes: vec![Put(pointer, value.into())] }
}

/// A value removed; the finding stands at another place.
fn remove(rule: &'static str, place: &'static str, pointer: &'static str) -> Case {
    Case { places: vec![(rule, place)], changes: vec![Remove(pointer)] }
}

impl Case {
    /// The finding stands there instead.
    fn at(self, place: &'static str) -> Self {
        Self { places: vec![(self.rule(), place)], ..self }
    }

    /// The same rule is broken there too.
    fn and(mut self, place: &'static str) -> Self {
        self.places.push((self.rule(), place));
        self
    }

    /// Another rule is broken too.
    fn beside(mut self, rule: &'static str, place: &'static str) -> Self {
        self.places.push((rule, place));
        self
    }

    fn rule(&self) -> &'static str {
        self.places[0].0
    }

    /// A further change.
    fn with(mut self, pointer: &'static str, value: impl Into<Value>) -> Self {
        self.changes.push(Put(pointer, value.into()));
        self
    }

    /// A further removal.
    fn without(mut self, pointer: &'static str) -> Self {
        self.changes.push(Remove(pointer));
        self
    }
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let parts = [
        document::document(),
        document::declarations(),
        request::slots(),
        request::request(),
        parameters::parameters(),
        parameters::effect_and_limits(),
        parameters::response(),
        parameters::schemas(),
    ];
    parts.into_iter().flatten().collect()
}

#[test]
fn each_rule_is_met_where_the_format_says() {
    let mut wrong = Vec::new();
    for case in cases() {
        let report = report(&changed(&case.changes));
        let expected: Vec<_> = case.places.iter().map(|(rule, place)| (*rule, (*place).to_owned())).collect();
        if found(&report) != expected || report.manifest.is_some() == is_error(case.rule()) {
            wrong.push(format!("expected {expected:?}\n   found {:?}", report.findings.list()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
