//! Sets of arrays: the items of the prefix one by one, then the rest as a repetition.

use smol_str::SmolStr;

use super::notes::{Place, Step};
use super::repeat::Element;
use super::rules::Rules;
use super::shared::Shared;
use super::values::{COMBINED, Value, Values};
use crate::schema::array::Arr;
use crate::schema::set::Clause;

/// The keywords that compare or count items.
const COUNTED: &[&str] = &["contains", "minContains", "maxContains"];

/// An alternative of a set of arrays.
#[derive(Debug)]
pub(super) struct Array {
    prefix: Vec<Value>,
    /// The items past the prefix; nothing where there are none.
    rest: Option<Value>,
    least: u64,
    most: Option<u64>,
    /// What new names are made from.
    hint: SmolStr,
    /// After so many items the array may end or go on, by a rule of its own.
    open: Vec<(u64, SmolStr)>,
    /// The rule of an item after the comma, once it is used.
    next: Option<SmolStr>,
    /// The rule of all items after one of the rest, once it is used.
    more: Option<SmolStr>,
}

impl Array {
    /// The arrays of a clause; nothing when there are none.
    pub(super) fn plan(
        clause: &Clause<Arr>,
        hint: &SmolStr,
        place: Place,
        values: &mut Values<'_, '_>,
    ) -> Option<Self> {
        let Clause { pos, neg } = clause;
        let proven = neg.is_empty() && pos.length.0 == 0 && pos.counts.is_empty();
        if !proven && values.sets.has_no_array(pos, neg) {
            return None;
        }
        let (least, mut most) = pos.length;
        let mut prefix = Vec::new();
        for (at, id) in pos.prefix.iter().enumerate() {
            if most.is_some_and(|most| at as u64 >= most) {
                break;
            }
            if values.sets.is_empty(*id) {
                most = Some(at as u64);
                break;
            }
            let hint = smol_str::format_smolstr!("{hint}-{}", at + 1);
            prefix.push(values.value(*id, &hint, place, || Step::Item(at)));
        }
        let length = prefix.len() as u64;
        let mut rest = None;
        if most.is_none_or(|most| most > length) {
            if values.sets.is_empty(pos.rest) {
                most = Some(length);
            } else {
                let hint = smol_str::format_smolstr!("{hint}-item");
                rest = Some(values.value(pos.rest, &hint, place, || Step::Rest));
            }
        }
        if pos.unique && most.is_none_or(|most| most > 1) {
            values.notes.add(place, &[&["uniqueItems"], COMBINED], "a grammar cannot compare items");
        }
        if !pos.counts.is_empty() {
            values.notes.add(place, &[COUNTED, COMBINED], "items of one form are not counted");
        }
        if !neg.is_empty() {
            values.notes.add(
                place,
                &[COUNTED, COMBINED],
                "an array that must not be of some form is not told apart",
            );
        }
        Some(Self { prefix, rest, least, most, hint: hint.clone(), open: Vec::new(), next: None, more: None })
    }

    /// Writes the arrays into the open rule.
    pub(super) fn write(&mut self, rules: &mut Rules) {
        rules.writer.literal("[");
        let Some(first) = self.item(0).cloned() else { return rules.writer.literal("]") };
        if self.least > 0 {
            first.write(rules);
            return self.after(1, rules);
        }
        rules.writer.open();
        rules.writer.literal("]");
        rules.writer.alternative();
        first.write(rules);
        self.after(1, rules);
        rules.writer.close();
    }

    /// Writes the rules that the arrays need. No rule may be open.
    pub(super) fn finish(&mut self, rules: &mut Rules) {
        let mut next = 0;
        while let Some((count, name)) = self.open.get(next).cloned() {
            next += 1;
            rules.begin(&name);
            rules.writer.literal("]");
            rules.writer.alternative();
            if let Some(item) = self.item(count).cloned() {
                comma(&item, rules);
            }
            self.after(count + 1, rules);
            rules.end();
        }
        if let (Some(name), Some(item)) = (&self.next, &self.rest) {
            rules.begin(name);
            comma(item, rules);
            rules.end();
        }
        if let (Some(name), Some(item)) = (&self.more, &self.rest) {
            rules.begin(name);
            rules.writer.literal("]");
            rules.writer.alternative();
            comma(item, rules);
            rules.writer.name(name);
            rules.end();
        }
    }

    /// The item after so many, if there may be one.
    fn item(&self, count: u64) -> Option<&Value> {
        if self.most.is_some_and(|most| count >= most) {
            return None;
        }
        usize::try_from(count).ok().and_then(|at| self.prefix.get(at)).or(self.rest.as_ref())
    }

    /// Writes what remains of an array after some items.
    fn after(&mut self, mut count: u64, rules: &mut Rules) {
        while count < self.prefix.len() as u64 {
            let Some(item) = self.item(count).cloned() else { break };
            if count >= self.least {
                let name = rules.names.after(&self.hint);
                self.open.push((count, name.clone()));
                return rules.writer.name(&name);
            }
            comma(&item, rules);
            count += 1;
        }
        if self.item(count).is_none() {
            return rules.writer.literal("]");
        }
        let (least, most) =
            (self.least.saturating_sub(count), self.most.map(|most| most.saturating_sub(count)));
        if (least, most) == (0, None) {
            let name = name(&mut self.more, &self.hint, "more", rules);
            return rules.writer.name(&name);
        }
        let next = Element::Name(name(&mut self.next, &self.hint, "next", rules));
        if most.is_some() {
            rules.repeat(&next, least, most);
            rules.writer.literal("]");
        } else {
            rules.repeat(&next, least, Some(least));
            let name = name(&mut self.more, &self.hint, "more", rules);
            rules.writer.name(&name);
        }
    }
}

fn name(slot: &mut Option<SmolStr>, hint: &SmolStr, suffix: &str, rules: &mut Rules) -> SmolStr {
    slot.get_or_insert_with(|| rules.names.after(&smol_str::format_smolstr!("{hint}-{suffix}"))).clone()
}

/// Writes an item after its comma.
fn comma(item: &Value, rules: &mut Rules) {
    rules.writer.literal(",");
    rules.shared(Shared::Ws);
    item.write(rules);
}
