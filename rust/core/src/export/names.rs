//! The names by which a model knows the tools.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::toolset::ToolSet;

/// The table between full names (`id.tool`) and the names that a model reads and writes.
///
/// A model-facing name has letters, digits, `_` and `-` only. No two are the same, also not once llama.rn has made
/// rule names of them, which have hyphens for everything else. It hangs on the tool set alone, whatever part of it an
/// export shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    by_model: BTreeMap<SmolStr, SmolStr>,
    by_full: BTreeMap<SmolStr, SmolStr>,
}

impl Names {
    /// The names of all tools of a set that may be called.
    pub fn of(set: &ToolSet) -> Self {
        Self::of_names(set.contract().names())
    }

    fn of_names<'n>(full_names: impl Iterator<Item = &'n SmolStr>) -> Self {
        let mut names = Self::default();
        let mut rules = std::collections::BTreeSet::new();
        for full in full_names {
            let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
            let base: String = full.chars().map(plain).collect();
            let mut model = base.clone();
            let mut number = 2_u32;
            while !rules.insert(rule(&model)) {
                model = format!("{base}_{number}");
                number += 1;
            }
            let model = SmolStr::from(model);
            names.by_model.insert(model.clone(), full.clone());
            names.by_full.insert(full.clone(), model);
        }
        names
    }

    /// The name for the model.
    pub fn model_name(&self, full_name: &str) -> Option<&SmolStr> {
        self.by_full.get(full_name)
    }

    /// The full name of what a model called: by its name for the model, or the full name itself.
    pub fn full_name(&self, name: &str) -> Option<&SmolStr> {
        self.by_model.get(name).or_else(|| self.by_full.get_key_value(name).map(|(full, _)| full))
    }

    /// Full names and names for the model, sorted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&SmolStr, &SmolStr)> {
        self.by_full.iter()
    }
}

/// What tells a name from others in llama.rn: its letters and digits, runs of anything else as one.
fn rule(name: &str) -> String {
    let mut rule = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            rule.push(c.to_ascii_lowercase());
        } else if !rule.ends_with('-') {
            rule.push('-');
        }
    }
    rule
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(full: &[&str]) -> Names {
        let mut full: Vec<SmolStr> = full.iter().map(SmolStr::new).collect();
        full.sort();
        Names::of_names(full.iter())
    }

    #[test]
    fn a_name_has_a_form_for_the_model_and_comes_back_by_table() {
        let names = names(&["notes.find", "home-assistant.get_state"]);
        assert_eq!(names.model_name("notes.find").unwrap(), "notes_find");
        assert_eq!(names.model_name("home-assistant.get_state").unwrap(), "home-assistant_get_state");
        assert_eq!(names.full_name("notes_find").unwrap(), "notes.find");
        assert_eq!(names.full_name("notes.find").unwrap(), "notes.find");
        assert_eq!(names.full_name("notes-find"), None);
        assert_eq!(names.full_name("notes"), None);
    }

    #[test]
    fn names_that_llama_rn_would_take_for_one_are_told_apart() {
        let full = ["a.b_c", "a_b.c", "a-b.c", "a_b_c.x", "a_b.c_x", "a.b_c_2"];
        let names = names(&full);
        let mut rules: Vec<String> = names.iter().map(|(_, model)| rule(model)).collect();
        rules.sort();
        rules.dedup();
        assert_eq!(rules.len(), full.len(), "{names:?}");
        for full in full {
            assert_eq!(names.full_name(names.model_name(full).unwrap()).unwrap(), full);
        }
    }
}
