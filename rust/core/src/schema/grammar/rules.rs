//! The rules of one grammar under construction: text, names, and what many rules share.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;

use super::chars::{Escapes, Ranges, Spelled};
use super::formats::FormatRules;
use super::names::Names;
use super::repeat::{self, Element};
use super::shared::{Shared, SharedSet};
use super::writer::Writer;

/// The text stops growing here: far above what is given out, so that what is too large is known to be.
const FULL: usize = 1 << 20;

/// A grammar under construction. At most one rule is open; what it needs and is no rule yet gets its name at once and
/// its body when the open rule ends.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) writer: Writer,
    pub(super) names: Names,
    shared: SharedSet,
    spelled: FxHashMap<Spelled, SmolStr>,
    escapes: FxHashMap<Escapes, SmolStr>,
    blocks: FxHashMap<(Element, u64), SmolStr>,
    deferred: SmallVec<[Deferred; 4]>,
    formats: Vec<&'static FormatRules>,
    /// Which of the rules of values something refers to.
    used: Vec<bool>,
}

/// A rule whose name is given and whose body is not written.
#[derive(Debug)]
enum Deferred {
    Spelled(SmolStr, Spelled),
    Escapes(SmolStr, Escapes),
    Block(SmolStr, Element, u64),
}

impl Rules {
    pub(super) fn new() -> Self {
        Self {
            writer: Writer::default(),
            names: Names::new(),
            shared: SharedSet::default(),
            spelled: FxHashMap::default(),
            escapes: FxHashMap::default(),
            blocks: FxHashMap::default(),
            deferred: SmallVec::new(),
            formats: Vec::new(),
            used: Vec::new(),
        }
    }

    /// Whether the text is too long to go on.
    pub(super) fn is_full(&self) -> bool {
        self.writer.len() > FULL
    }

    /// Writes a reference to the rule of a value.
    pub(super) fn used(&mut self, name: &str, number: usize) {
        self.mark(number);
        self.writer.name(name);
    }

    /// A number for the rule of a value.
    pub(super) fn number(&mut self) -> usize {
        self.used.push(false);
        self.used.len() - 1
    }

    /// Says that the rule of a value is used.
    pub(super) fn mark(&mut self, number: usize) {
        if let Some(used) = self.used.get_mut(number) {
            *used = true;
        }
    }

    /// Whether the rule of a value is used.
    pub(super) fn is_used(&self, number: usize) -> bool {
        self.used.get(number).copied().unwrap_or(false)
    }

    /// Writes a reference to the rule of a format.
    pub(super) fn format(&mut self, format: &'static FormatRules) {
        if !self.formats.iter().any(|known| known.name == format.name) {
            self.formats.push(format);
            self.shared.add_all(format.shared);
        }
        self.writer.name(&format.name);
    }

    /// The text, with what it shares.
    pub(super) fn finish(mut self) -> String {
        self.formats.iter().for_each(|format| self.writer.push_rules(&format.text));
        let mut text = self.writer.into_text();
        self.shared.write(&mut text);
        text
    }

    /// The text and the shared rules that it still needs.
    pub(super) fn into_parts(self) -> (String, SharedSet) {
        (self.writer.into_text(), self.shared)
    }

    pub(super) fn begin(&mut self, name: &str) {
        self.writer.begin(name);
    }

    /// Begins a rule that may be empty.
    pub(super) fn begin_optional(&mut self, name: &str) {
        self.writer.begin_optional(name);
    }

    /// Ends the open rule, and writes those that it brought.
    pub(super) fn end(&mut self) {
        self.writer.end();
        while let Some(deferred) = self.deferred.pop() {
            match deferred {
                Deferred::Spelled(name, spelled) => {
                    self.begin(&name);
                    if !spelled.raw.is_empty() {
                        self.writer.class(&spelled.raw);
                    }
                    self.writer.alternative();
                    self.escape(spelled.escaped, &name);
                }
                Deferred::Escapes(name, escapes) => {
                    self.begin(&name);
                    self.escape_tail(escapes);
                }
                Deferred::Block(name, element, count) => {
                    self.begin(&name);
                    self.element(&element);
                    self.writer.times(count, Some(count));
                }
            }
            self.writer.end();
        }
    }

    /// Writes a reference to a shared rule.
    pub(super) fn shared(&mut self, rule: Shared) {
        self.shared.add(rule);
        self.writer.name(rule.name());
    }

    /// Marks a shared rule as used, and gives its name.
    pub(super) fn use_shared(&mut self, rule: Shared) -> SmolStr {
        self.shared.add(rule);
        SmolStr::new_static(rule.name())
    }

    /// Writes one character of a JSON string as one element.
    pub(super) fn character(&mut self, spelled: &Spelled, hint: &SmolStr) {
        if let Some(text) = spelled.only() {
            return self.writer.literal(&text);
        }
        let element = self.element_of(spelled, hint);
        self.element(&element);
    }

    /// One character of a JSON string as an element that can be repeated.
    pub(super) fn element_of(&mut self, spelled: &Spelled, hint: &SmolStr) -> Element {
        if spelled.escaped.is_empty() {
            return Element::Class(spelled.raw.clone());
        }
        if *spelled == Spelled::any() {
            self.shared.add(Shared::Char);
            return Element::Name(SmolStr::new_static(Shared::Char.name()));
        }
        if let Some(name) = self.spelled.get(spelled) {
            return Element::Name(name.clone());
        }
        let name = self.names.after(&smol_str::format_smolstr!("{hint}-char"));
        self.spelled.insert(spelled.clone(), name.clone());
        self.deferred.push(Deferred::Spelled(name.clone(), spelled.clone()));
        Element::Name(name)
    }

    /// Writes an element.
    pub(super) fn element(&mut self, element: &Element) {
        match element {
            Element::Name(name) => self.writer.name(name),
            Element::Class(ranges) => self.writer.class(ranges),
        }
    }

    /// Writes the escaped spellings of some characters, backslash included.
    pub(super) fn escape(&mut self, escapes: Escapes, hint: &SmolStr) {
        if let Some(spelling) = escapes.only() {
            return self.writer.literal(spelling);
        }
        self.writer.literal("\\");
        if escapes == Escapes::ALL {
            return self.shared(Shared::Escape);
        }
        if let Some(name) = self.escapes.get(&escapes) {
            return self.writer.name(name);
        }
        let name = self.names.after(&smol_str::format_smolstr!("{hint}-escape"));
        self.writer.name(&name);
        self.escapes.insert(escapes, name.clone());
        self.deferred.push(Deferred::Escapes(name, escapes));
    }

    /// Writes what may follow the backslash.
    fn escape_tail(&mut self, escapes: Escapes) {
        let letters = escapes.letters();
        if !letters.is_empty() {
            self.writer.class(&letters);
        }
        let digits = ['0', '1'].map(|high| (high, escapes.digits(high)));
        let some: SmallVec<[&(char, Ranges); 2]> = digits.iter().filter(|(_, low)| !low.is_empty()).collect();
        let write = |writer: &mut Writer, (high, low): &(char, Ranges)| {
            writer.literal(high.encode_utf8(&mut [0; 4]));
            writer.class(low);
        };
        match some.as_slice() {
            [] => {}
            [one] => {
                self.writer.alternative();
                self.writer.literal("u00");
                write(&mut self.writer, one);
            }
            several => {
                self.writer.alternative();
                self.writer.literal("u00");
                self.writer.open();
                for part in several {
                    self.writer.alternative();
                    write(&mut self.writer, part);
                }
                self.writer.close();
            }
        }
    }

    /// Writes an element as often as an interval says.
    pub(super) fn repeat(&mut self, element: &Element, least: u64, most: Option<u64>) {
        repeat::write(self, element, least, most);
    }

    /// A rule of exactly so many elements.
    pub(super) fn block(&mut self, element: &Element, count: u64) -> Element {
        let key = (element.clone(), count);
        if let Some(name) = self.blocks.get(&key) {
            return Element::Name(name.clone());
        }
        let base = match element {
            Element::Name(name) => name.as_str(),
            Element::Class(_) => "class",
        };
        let name = self.names.after(&smol_str::format_smolstr!("{base}-x{count}"));
        self.blocks.insert(key, name.clone());
        self.deferred.push(Deferred::Block(name.clone(), element.clone(), count));
        Element::Name(name)
    }
}
