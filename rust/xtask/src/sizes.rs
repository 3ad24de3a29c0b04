//! The record of sizes, and the comparison with it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A growth up to this passes in silence.
const TOLERANCE_PERCENT: u64 = 3;

/// Bytes of each part of a target: `archive` (what Xcode links), `linked` (a stripped dylib of all of it), `shared` (the
/// stripped library of an AAR).
pub type Measured = BTreeMap<String, u64>;

/// The file of the record.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// With which toolchain the numbers were taken; only its own builds are compared.
    pub toolchain: String,
    /// The bytes by target.
    pub bytes: BTreeMap<String, Measured>,
    /// The most that a part may have, by `target part`. A decision that raises one stands in `docs/decisions`.
    pub budgets: BTreeMap<String, u64>,
    /// Why the numbers are what they are, newest last.
    pub changes: Vec<Change>,
}

/// A new state of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The parts that moved, as `target part: before -> after`.
    pub moved: Vec<String>,
    /// The explanation.
    pub reason: String,
}

/// What a comparison found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What fails.
    pub problems: Vec<String>,
    /// What is good to know.
    pub notes: Vec<String>,
}

impl Record {
    /// Reads the file.
    ///
    /// # Errors
    /// A file that is not there or not a record.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        std::fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Holds what was measured against the record and the budgets.
    pub fn compare(&self, triple: &str, measured: &Measured) -> Comparison {
        let mut found = Comparison::default();
        let before = self.bytes.get(triple);
        for (part, &now) in measured {
            let name = format!("{triple} {part}");
            if let Some(&budget) = self.budgets.get(&name).filter(|&&budget| now > budget) {
                found.problems.push(format!("{name}: {now} bytes are over the budget of {budget}"));
            }
            let Some(&then) = before.and_then(|parts| parts.get(part)) else {
                found
                    .problems
                    .push(format!("{name}: {now} bytes, and nothing in the record; record it with a reason"));
                continue;
            };
            let change = percent(then, now);
            if u128::from(now) * 100 > u128::from(then) * u128::from(100 + TOLERANCE_PERCENT) {
                found.problems.push(format!(
                    "{name}: {then} -> {now} bytes ({change}): record it with a reason, or mend it"
                ));
            } else if u128::from(now) * u128::from(100 + TOLERANCE_PERCENT) < u128::from(then) * 100 {
                found.notes.push(format!(
                    "{name}: {then} -> {now} bytes ({change}): record it, or the way back stays open"
                ));
            } else {
                found.notes.push(format!("{name}: {now} bytes ({change})"));
            }
        }
        for part in before.into_iter().flat_map(BTreeMap::keys).filter(|part| !measured.contains_key(*part)) {
            found.problems.push(format!("{triple} {part}: in the record and no longer measured"));
        }
        found
    }

    /// Takes what was measured into the record.
    pub fn explain(&mut self, toolchain: &str, all: &BTreeMap<String, Measured>, reason: &str) {
        let mut moved = Vec::new();
        for (triple, parts) in all {
            let before = self.bytes.get(triple).cloned().unwrap_or_default();
            for (part, now) in parts {
                match before.get(part) {
                    Some(then) if then == now => {}
                    Some(then) => moved.push(format!("{triple} {part}: {then} -> {now}")),
                    None => moved.push(format!("{triple} {part}: {now}")),
                }
            }
            self.bytes.insert(triple.clone(), parts.clone());
        }
        toolchain.clone_into(&mut self.toolchain);
        self.changes.push(Change { moved, reason: reason.to_owned() });
    }
}

fn percent(then: u64, now: u64) -> String {
    let (sign, difference) = if now < then { ('-', then - now) } else { ('+', now - then) };
    let tenths = u128::from(difference) * 1000 / u128::from(then.max(1));
    format!("{sign}{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(shared: u64) -> Measured {
        Measured::from([("shared".to_owned(), shared)])
    }

    fn record() -> Record {
        let mut record = Record::default();
        record.explain("a", &BTreeMap::from([("t".to_owned(), measured(1_000_000))]), "the first");
        record.budgets.insert("t shared".into(), 1_030_500);
        record
    }

    #[test]
    fn three_percent_pass_and_one_byte_more_fails() {
        assert_eq!(record().compare("t", &measured(1_030_000)).problems, Vec::<String>::new());
        let found = record().compare("t", &measured(1_030_001));
        assert_eq!(
            found.problems,
            ["t shared: 1000000 -> 1030001 bytes (+3.0 %): record it with a reason, or mend it"]
        );
    }

    #[test]
    fn a_budget_holds_whatever_the_record_says() {
        let mut record = record();
        record.explain("a", &BTreeMap::from([("t".to_owned(), measured(1_030_501))]), "more");
        let found = record.compare("t", &measured(1_030_501));
        assert_eq!(found.problems, ["t shared: 1030501 bytes are over the budget of 1030500"]);
    }

    #[test]
    fn a_fall_is_told_and_passes() {
        let found = record().compare("t", &measured(900_000));
        assert_eq!((found.problems.len(), found.notes.len()), (0, 1));
        assert!(found.notes.iter().all(|note| note.contains("-10.0 %")), "{:?}", found.notes);
    }

    #[test]
    fn what_is_on_one_side_only_fails() {
        assert_eq!(record().compare("other", &measured(1)).problems.len(), 1);
        assert_eq!(
            record().compare("t", &Measured::new()).problems,
            ["t shared: in the record and no longer measured"]
        );
    }

    #[test]
    fn an_explanation_names_what_moved() {
        let mut record = record();
        record.explain("b", &BTreeMap::from([("t".to_owned(), measured(1_200_000))]), "a codec");
        let last = record.changes.last().unwrap();
        assert_eq!(
            (last.reason.as_str(), last.moved.as_slice()),
            ("a codec", &["t shared: 1000000 -> 1200000".to_owned()][..])
        );
    }

    #[test]
    fn the_file_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sizes.json");
        record().write(&path).unwrap();
        assert_eq!(Record::read(&path).unwrap(), record());
    }
}
