//! Sets of strings.

use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::automaton::Automaton;
use super::chars::Spelled;
use super::notes::{Notes, Place};
use super::rules::Rules;
use super::sets::Sets;
use super::shared::Shared;
use super::values::COMBINED;
use super::words::Words;
use crate::schema::string::{Str, Words as Set};
use crate::schema::strings::{ANY_LENGTH, Dfa, Length, START};

/// Up to this many words are written as a tree; of more, common endings are written once too.
const TREE: usize = 64;
/// The most states of an automaton that counts, or that joins several.
pub(super) const STATES: u32 = 1_500;
/// The most states of a pattern as it stands, or of words.
const PLAIN_STATES: u32 = 16_384;
/// The same where the grammar has to be short.
pub(super) const FEW_STATES: u32 = 64;

/// The keywords that make a set of strings.
const KEYWORDS: &[&[&str]] =
    &[&["pattern", "format"], &["enum", "const"], &["minLength", "maxLength"], COMBINED];

/// One alternative of a set of strings.
#[derive(Debug)]
pub(super) enum Strings {
    Any,
    Words(Arc<[SmolStr]>),
    /// A count of characters of one set.
    Counted(Spelled, Length),
    Automaton(Box<Automaton>),
}

/// What can be said of strings, and where.
pub(super) struct Scope<'a, 's> {
    pub(super) sets: &'a mut Sets<'s>,
    pub(super) notes: &'a mut Notes,
    pub(super) place: Place,
    pub(super) short: bool,
}

impl Strings {
    /// The alternatives of a union.
    pub(super) fn plan(parts: &[Str], hint: &SmolStr, scope: &mut Scope<'_, '_>) -> SmallVec<[Self; 1]> {
        if let [one] = parts {
            return SmallVec::from_iter([Self::part(one, hint, scope)]);
        }
        // What is only counted would be as many states as characters; the rest is one automaton if that is not large.
        let (counted, others): (Vec<&Str>, Vec<&Str>) =
            parts.iter().partition(|part| counted(part).is_some_and(|(_, length)| length != ANY_LENGTH));
        let mut plans: SmallVec<[Self; 1]> =
            counted.into_iter().map(|part| Self::part(part, hint, scope)).collect();
        let most = if scope.short { FEW_STATES } else { STATES };
        let whole: Vec<Str> = others.iter().map(|part| (*part).clone()).collect();
        match scope.sets.search().products.language(&whole) {
            Ok(dfa) if others.len() > 1 && dfa.states() <= most => {
                plans.push(Self::Automaton(Box::new(Automaton::of_strings(&dfa, hint.clone()))));
            }
            _ => plans.extend(others.into_iter().map(|part| Self::part(part, hint, scope))),
        }
        plans
    }

    fn part(part: &Str, hint: &SmolStr, scope: &mut Scope<'_, '_>) -> Self {
        if part.is_any() {
            return Self::Any;
        }
        let dfa = match &part.words {
            Set::List(words) if words.len() <= TREE => return Self::Words(Arc::clone(words)),
            Set::List(words) => Arc::new(Dfa::words(&words.iter().map(SmolStr::as_str).collect::<Vec<_>>())),
            Set::Dfa(dfa) => Arc::clone(dfa),
        };
        if let Some((characters, length)) = counted(part)
            && length != ANY_LENGTH
        {
            return Self::Counted(characters, length);
        }
        let most = match scope.short {
            true => FEW_STATES,
            false if part.length == ANY_LENGTH => PLAIN_STATES,
            false => STATES,
        };
        let with = |(least, longest): Length| {
            let within = dfa.with_length(least, longest, 4 * STATES as usize).ok()?;
            (within.states() <= most && !within.is_none()).then_some(within)
        };
        let (least, longest) = part.length;
        let min: &[&[&str]] = &[&["minLength"], &["pattern"], COMBINED];
        let max: &[&[&str]] = &[&["maxLength"], &["pattern"], COMBINED];
        let tries = [((least, longest), None), ((0, longest), Some(min)), ((least, None), Some(max))];
        for (length, dropped) in tries {
            if let Some(within) = with(length) {
                if let Some(keywords) = dropped {
                    scope.notes.add(
                        scope.place,
                        keywords,
                        "the pattern and this length need too many rules together",
                    );
                }
                return Self::Automaton(Box::new(Automaton::of_strings(&within, hint.clone())));
            }
        }
        if dfa.states() <= most {
            scope.notes.add(
                scope.place,
                &[&["minLength", "maxLength"], &["pattern"], COMBINED],
                "the pattern and this length need too many rules together",
            );
            return Self::Automaton(Box::new(Automaton::of_strings(&dfa, hint.clone())));
        }
        scope.notes.add(scope.place, KEYWORDS, "the strings need too many rules");
        Self::Any
    }

    /// Writes the alternative into the open rule.
    pub(super) fn write(&mut self, rules: &mut Rules, hint: &SmolStr) {
        match self {
            Self::Any => rules.shared(Shared::String),
            Self::Words(words) => {
                rules.writer.literal("\"");
                Words::new(words.iter().map(|word| (word, ()))).write(rules, |_, ()| ());
            }
            Self::Counted(characters, (least, most)) => {
                rules.writer.literal("\"");
                let element = rules.element_of(characters, hint);
                rules.repeat(&element, *least, *most);
                rules.writer.literal("\"");
            }
            Self::Automaton(automaton) => {
                rules.writer.literal("\"");
                automaton.start(rules);
            }
        }
    }

    /// Writes the rules that the alternative needs. No rule may be open.
    pub(super) fn finish(&mut self, rules: &mut Rules) {
        if let Self::Automaton(automaton) = self {
            automaton.finish(rules);
        }
    }
}

/// The characters of a set that only counts them, and how many there may be.
fn counted(part: &Str) -> Option<(Spelled, Length)> {
    let Set::Dfa(dfa) = &part.words else { return None };
    if dfa.states() > 3 {
        return None;
    }
    let dead = dfa.dead();
    let edges = |state: u32| dfa.edges(state).filter(|(_, to)| Some(*to) != dead);
    let (_, loops) = edges(START).next()?;
    let least = u64::from(loops != START);
    let same = dfa.is_accepting(loops)
        && (least == 0 || !dfa.is_accepting(START))
        && edges(START).chain(edges(loops)).all(|(_, to)| to == loops)
        && edges(START).map(|(range, _)| range).eq(edges(loops).map(|(range, _)| range));
    same.then(|| {
        (Spelled::of(edges(START).map(|(range, _)| range)), (part.length.0.max(least), part.length.1))
    })
}
