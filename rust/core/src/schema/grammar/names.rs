//! Names of rules: readable, unique, and made of what llama.rn's parser takes in a name.

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, SmolStrBuilder};

use super::formats;
use super::shared::Shared;

/// The longest part of a name that is taken from the schema, in characters.
const MOST_CHARS: usize = 40;

/// The names given so far. A name is letters, digits and hyphens. The parser makes names of its own with an
/// underscore, which cannot stand in ours.
#[derive(Debug)]
pub(super) struct Names {
    /// Each name, with the number that the next one like it gets.
    given: FxHashMap<SmolStr, u32>,
}

impl Names {
    /// With `root` and the names of the shared rules taken.
    pub(super) fn new() -> Self {
        let mut given = FxHashMap::with_capacity_and_hasher(64, rustc_hash::FxBuildHasher);
        let fixed = Shared::names().chain(["root"]);
        given.extend(fixed.map(|name| (SmolStr::new_static(name), 2)));
        Self { given }
    }

    /// A new name like this text: its letters and digits, whatever else it holds as hyphens, and a number where the
    /// name is taken.
    pub(super) fn like(&mut self, text: &str) -> SmolStr {
        self.unique(readable(text))
    }

    /// A new name that begins with a given one.
    pub(super) fn after(&mut self, name: &SmolStr) -> SmolStr {
        self.unique(name.clone())
    }

    fn unique(&mut self, name: SmolStr) -> SmolStr {
        let Some(next) = self.given.get_mut(&name) else {
            self.given.insert(name.clone(), 2);
            return name;
        };
        let mut number = *next;
        let unique = loop {
            let candidate = smol_str::format_smolstr!("{name}-{number}");
            number += 1;
            if !self.given.contains_key(&candidate) {
                break candidate;
            }
        };
        self.given.insert(name, number);
        self.given.insert(unique.clone(), 2);
        unique
    }
}

/// The letters and digits of a text, joined by hyphens.
fn readable(text: &str) -> SmolStr {
    let mut name = SmolStrBuilder::new();
    let mut gap = false;
    let mut length = 0;
    for c in text.chars() {
        if !c.is_ascii_alphanumeric() {
            gap = length > 0;
            continue;
        }
        if std::mem::take(&mut gap) {
            name.push('-');
        }
        name.push(c);
        length += 1;
        if length == MOST_CHARS {
            break;
        }
    }
    if length == 0 {
        name.push_str("field");
    }
    let name = name.finish();
    // The rules of formats are written once for the process, with names of this kind.
    if name.starts_with(formats::PREFIX) { smol_str::format_smolstr!("x-{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable_and_hold_letters_digits_and_hyphens() {
        let mut names = Names::new();
        for (text, name) in [
            ("userId", "userId"),
            ("user.name", "user-name"),
            ("user_name", "user-name-2"),
            ("  $ref  ", "ref"),
            ("", "field"),
            ("名前", "field-2"),
            ("größe", "gr-e"),
            ("-", "field-3"),
            (&"x".repeat(50), &"x".repeat(40)),
        ] {
            assert_eq!(names.like(text), name, "{text}");
        }
    }

    #[test]
    fn no_two_names_are_the_same_whatever_the_texts() {
        let mut names = Names::new();
        let texts = ["a", "a-2", "a", "a_2", "a", "a-2-2", "a-3", "root", "ws", "fmt-date", "x-fmt-date"];
        let given: Vec<_> = texts.iter().map(|text| names.like(text)).collect();
        let mut unique: Vec<_> = given.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), texts.len(), "{given:?}");
        assert!(!given.iter().any(|name| name == "root" || name == "ws" || name.starts_with("fmt-")));
    }

    #[test]
    fn many_texts_that_look_like_numbered_names_are_no_work() {
        let mut names = Names::new();
        for at in 0..20_000 {
            names.like(&format!("a-{at}"));
            names.like("a");
        }
    }
}
