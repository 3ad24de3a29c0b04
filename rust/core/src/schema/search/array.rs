//! Members of sets of arrays.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::vec::IntoIter;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{FirstFound, Search, Witness};
use crate::json::Value;
use crate::schema::arena::Id;
use crate::schema::array::{Arr, Count};
use crate::schema::number::{Bound, Num};
use crate::schema::string::{Words, is_empty, meet, outside, within};
use crate::schema::undecided::Undecided;

/// The longest array that is built.
const ITEMS: u64 = 10_000;
/// The most ways of reaching counts that are looked at.
const REACHED: usize = 10_000;
/// The most counts at once.
const COUNTS: usize = 3;

impl Search {
    /// An array of `pos` that is in none of `negatives`: each way of leaving the first is tried.
    pub(super) fn array(&mut self, pos: &Arr, negatives: &[Arr]) -> Result<Option<Witness>, Undecided> {
        if is_empty(pos.length) {
            return Ok(None);
        }
        match negatives.split_first() {
            Some((first, rest)) => self.framed(|search| search.array_outside(pos, first, rest)),
            None if pos.counts.is_empty() => self.items(pos),
            None => self.counted_items(pos),
        }
    }

    fn array_outside(&mut self, pos: &Arr, out: &Arr, rest: &[Arr]) -> Result<Option<Witness>, Undecided> {
        let mut first = FirstFound::default();
        for length in outside(out.length) {
            self.pay(pos.prefix.len() / 8)?;
            let narrowed = Arr { length: meet(pos.length, length), ..pos.clone() };
            let found = self.array(&narrowed, rest);
            if let Some(array) = first.note(found)? {
                return Ok(Some(array));
            }
        }
        // One place past every prefix stands for all that follow.
        let prefixes = rest.iter().chain([pos, out]).map(|array| array.prefix.len());
        let places = prefixes.max().unwrap_or(0) + 1;
        for place in 0..places {
            if pos.length.1.is_some_and(|most| place as u64 >= most) {
                break;
            }
            if pos.at(place) == out.at(place) {
                continue;
            }
            let item = self.arena.diff(pos.at(place), out.at(place));
            let item = self.arena.and(item, Id::PRESENT);
            let member = self.member(item);
            if first.note(member)?.is_some() {
                self.pay(place.max(pos.prefix.len()) / 8)?;
                let found = self.array(&pos.with(place, item), rest);
                if let Some(array) = first.note(found)? {
                    return Ok(Some(array));
                }
            }
        }
        for count in &out.counts {
            for range in outside(count.count) {
                let other = Count { of: count.of, count: range };
                let counted = pos.meet(&Arr { counts: vec![other], ..Arr::ANY }, |a, _| a);
                let found = counted.map_or(Ok(None), |counted| self.array(&counted, rest));
                if let Some(array) = first.note(found)? {
                    return Ok(Some(array));
                }
            }
        }
        if out.unique && !pos.unique {
            let found = self.two_equal(pos, rest, places);
            if let Some(array) = first.note(found)? {
                return Ok(Some(array));
            }
        }
        first.end()
    }

    /// An array with two equal items.
    fn two_equal(&mut self, pos: &Arr, rest: &[Arr], places: usize) -> Result<Option<Witness>, Undecided> {
        let mut first = FirstFound::default();
        for second in 1..=places {
            if pos.length.1.is_some_and(|most| second as u64 >= most) {
                break;
            }
            for place in 0..second {
                self.pay(1)?;
                let both = self.arena.and(pos.at(place), pos.at(second));
                let member = self.member(both);
                let Some(member) = first.note(member)? else { continue };
                let value = member.value().ok_or(Undecided::Arrays)?;
                let item = self.arena.constant(&value).ok_or(Undecided::Arrays)?;
                self.pay(second.max(pos.prefix.len()) / 4)?;
                let found = self.array(&pos.with(place, item).with(second, item), rest);
                if let Some(array) = first.note(found)? {
                    return Ok(Some(array));
                }
                // Another value might have stayed outside the other sets too.
                if !rest.is_empty() || !pos.counts.is_empty() {
                    first.undecided = Some(Undecided::Arrays);
                }
            }
        }
        first.end()
    }

    /// The shortest array of a set without counts.
    fn items(&mut self, pos: &Arr) -> Result<Option<Witness>, Undecided> {
        if pos.length.0 > ITEMS {
            return Err(Undecided::Arrays);
        }
        let least = usize::try_from(pos.length.0).unwrap_or(usize::MAX);
        if pos.unique && least > 1 {
            return self.different_items(pos, least);
        }
        let mut items: Vec<Witness> = Vec::new();
        for place in 0..least {
            self.pay(1)?;
            let Some(member) = self.member(pos.at(place))? else { return Ok(None) };
            items.push(member);
        }
        Ok(Some(Witness::array(items)))
    }

    /// An array of so many items that all differ. Scalars are told off the sets one after the other; only where they do
    /// not suffice is it asked what lies in a set and is none of the items before.
    fn different_items(&mut self, pos: &Arr, least: usize) -> Result<Option<Witness>, Undecided> {
        let mut items: Vec<Witness> = Vec::new();
        let mut taken: FxHashSet<String> = FxHashSet::default();
        let mut known: FxHashMap<Id, Scalars> = FxHashMap::default();
        let mut outside: Vec<Id> = Vec::new();
        for place in 0..least {
            self.pay(1)?;
            let item = pos.at(place);
            if let Entry::Vacant(unknown) = known.entry(item) {
                unknown.insert(self.scalars(item, least)?);
            }
            let Some(scalars) = known.get_mut(&item) else { return Err(Undecided::Arrays) };
            let mut tried = 0;
            let free = scalars.values.find(|value| {
                tried += 1;
                taken.insert(value.to_text())
            });
            let all = scalars.all;
            self.pay(tried)?;
            if let Some(value) = free {
                items.push(Witness::scalar(value));
                continue;
            }
            let member = if all { None } else { self.another(item, &items, &mut outside)? };
            let Some(member) = member else {
                // Other items before this one might have left it a value.
                let mixed = place > 0 && pos.prefix.iter().any(|id| *id != pos.rest);
                return if mixed { Err(Undecided::Arrays) } else { Ok(None) };
            };
            taken.insert(member.value().ok_or(Undecided::Arrays)?.to_text());
            items.push(member);
        }
        Ok(Some(Witness::array(items)))
    }

    /// A member of a set that is none of these items. `outside` are the complements of the first of them.
    fn another(
        &mut self,
        item: Id,
        items: &[Witness],
        outside: &mut Vec<Id>,
    ) -> Result<Option<Witness>, Undecided> {
        for taken in items.iter().skip(outside.len()) {
            let value = taken.value().ok_or(Undecided::Arrays)?;
            let constant = self.arena.constant(&value).ok_or(Undecided::Arrays)?;
            outside.push(self.arena.not(constant));
        }
        self.pay(2 * outside.len())?;
        let others: Vec<Id> = [item].into_iter().chain(outside.iter().copied()).collect();
        let item = if outside.is_empty() { item } else { self.arena.and_all(&others) };
        self.member(item)
    }

    /// Different scalars of a set, at most so many, and perhaps fewer than there are.
    fn scalars(&mut self, id: Id, most: usize) -> Result<Scalars, Undecided> {
        let set = self.normal(id)?;
        let flags = [(set.null, Value::Null), (set.fals, Value::Bool(false)), (set.tru, Value::Bool(true))];
        let mut values: Vec<Value> =
            flags.into_iter().filter_map(|(is, value)| is.then_some(value)).collect();
        let mut all = set.arr.is_empty() && set.obj.is_empty();
        let mut open: VecDeque<Num> = VecDeque::new();
        self.pay(set.num.len() + set.str.len())?;
        for part in set.num.iter().take(most) {
            match part.as_point() {
                Some(point) => values.push(Value::Number(point.to_number())),
                None => open.push_back(part.clone()),
            }
        }
        all &= open.is_empty() && set.num.len() <= most;
        // A number of an interval leaves two intervals.
        while values.len() < most
            && let Some(part) = open.pop_front()
        {
            self.pay(2 + part.off.len())?;
            let Ok(Some(number)) = part.member() else { continue };
            values.push(Value::Number(number.to_number()));
            let bound = Some(Bound { at: number, inclusive: false });
            open.push_back(Num { hi: bound, ..part.clone() });
            open.push_back(Num { lo: bound, ..part });
        }
        for part in &set.str {
            let words = self.products.some_words(part, most)?;
            all &= matches!(&part.words, Words::List(words) if words.len() <= most);
            values.extend(words.into_iter().map(Value::String));
        }
        self.pay(values.len() / 4)?;
        Ok(Scalars { values: values.into_iter(), all })
    }

    /// An array of a set with counts: place by place, every vector of counts that can be reached.
    fn counted_items(&mut self, pos: &Arr) -> Result<Option<Witness>, Undecided> {
        if pos.counts.iter().any(|count| is_empty(count.count)) {
            return Ok(None);
        }
        if pos.counts.len() > COUNTS || pos.length.0 > ITEMS {
            return Err(Undecided::Arrays);
        }
        // Past the prefix an item more is of use only for the least length or a least count.
        let needed = pos.counts.iter().fold(0u64, |sum, count| sum.saturating_add(count.count.0));
        let longest = pos.length.0.max(pos.prefix.len() as u64).saturating_add(needed);
        let longest = pos.length.1.map_or(longest, |most| most.min(longest));
        let start = (vec![0; pos.counts.len()], (Vec::new(), None));
        let mut layers: Vec<Layer> = vec![Layer::from_iter([start])];
        let mut reached = 0;
        for length in 0..=longest {
            let Some(layer) = layers.last() else { break };
            let fits =
                |counts: &&Vec<u64>| counts.iter().zip(&pos.counts).all(|(n, count)| within(*n, count.count));
            if length >= pos.length.0
                && let Some(counts) = layer.keys().filter(fits).min()
            {
                return written(pos, &layers, counts.clone());
            }
            let place = usize::try_from(length).unwrap_or(usize::MAX);
            let mut states: Vec<Vec<u64>> = layer.keys().cloned().collect();
            states.sort_unstable();
            let mut next = Layer::default();
            for (bits, member) in self.kinds_of_items(pos, place)? {
                for counts in &states {
                    let added: Vec<u64> =
                        counts.iter().enumerate().map(|(at, n)| n + u64::from(bits >> at & 1 == 1)).collect();
                    let over =
                        added.iter().zip(&pos.counts).any(|(n, count)| count.count.1.is_some_and(|m| *n > m));
                    if !over {
                        next.entry(added).or_insert_with(|| (counts.clone(), Some(member.clone())));
                    }
                }
            }
            reached += next.len();
            if reached > REACHED {
                return Err(Undecided::Arrays);
            }
            if next.is_empty() {
                return Ok(None);
            }
            layers.push(next);
        }
        Ok(None)
    }

    /// For each way in which an item may lie in the counted sets or not, an item that does.
    fn kinds_of_items(&mut self, pos: &Arr, place: usize) -> Result<Vec<(u32, Witness)>, Undecided> {
        let mut kinds = Vec::new();
        for bits in 0..1u32 << pos.counts.len() {
            let mut item = pos.at(place);
            for (at, count) in pos.counts.iter().enumerate() {
                item = if bits >> at & 1 == 1 {
                    self.arena.and(item, count.of)
                } else {
                    self.arena.diff(item, count.of)
                };
            }
            if let Some(member) = self.member(item)? {
                kinds.push((bits, member));
            }
        }
        Ok(kinds)
    }
}

/// Different scalars of one set, told one after the other.
struct Scalars {
    values: IntoIter<Value>,
    /// Whether nothing else is in the set.
    all: bool,
}

/// The counts that arrays of one length can have, each with the counts before the last item and that item.
type Layer = FxHashMap<Vec<u64>, (Vec<u64>, Option<Witness>)>;

/// The array that led to these counts.
fn written(pos: &Arr, layers: &[Layer], mut counts: Vec<u64>) -> Result<Option<Witness>, Undecided> {
    let mut items = Vec::new();
    for layer in layers.iter().rev() {
        let Some((before, item)) = layer.get(&counts) else { break };
        items.extend(item.clone());
        counts.clone_from(before);
    }
    items.reverse();
    if pos.unique {
        let values: Option<Vec<_>> = items.iter().map(Witness::value).collect();
        let values = values.ok_or(Undecided::Arrays)?;
        let twice = values.iter().enumerate().any(|(at, value)| values.iter().take(at).any(|v| v == value));
        if twice {
            return Err(Undecided::Arrays);
        }
    }
    Ok(Some(Witness::array(items)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::search::Budget;
    use crate::schema::testing::{broken, closed};
    use crate::schema::{Schema, Verdict};

    fn unique(items: &str, least: usize) -> String {
        format!(r#"{{"type": "array", "items": {items}, "uniqueItems": true, "minItems": {least}}}"#)
    }

    fn words(count: usize) -> String {
        let words: Vec<String> = (0..count).map(|n| format!("\"s{n}\"")).collect();
        format!(r#"{{"enum": [{}]}}"#, words.join(","))
    }

    /// An array of different items, and how many steps it took.
    fn different(items: &str, least: usize) -> (Vec<Value>, u32) {
        let schema = closed(&unique(items, least));
        let mut search = Search::new(schema.0.arena.clone());
        let found = search.member(schema.0.root).unwrap().unwrap().value().unwrap();
        assert_eq!(schema.accepts(&found), Ok(()), "{items} {least}");
        (found.as_array().unwrap().to_vec(), Budget::SCHEMA.steps - search.steps())
    }

    #[test]
    fn different_items_cost_what_they_are() {
        for items in [
            words(2_000),
            r#"{"type": "string"}"#.into(),
            r#"{"type": "integer"}"#.into(),
            r#"{"type": "number", "minimum": 0, "maximum": 1}"#.into(),
            r#"{"type": "string", "pattern": "^[a-z]{1,60}$"}"#.into(),
            r#"{"type": "string", "format": "uuid"}"#.into(),
            r#"{"anyOf": [{"type": "boolean"}, {"type": "integer", "multipleOf": 3}, {"const": "x"}]}"#
                .into(),
        ] {
            let (found, steps) = different(&items, 1_000);
            assert_eq!(found.len(), 1_000);
            assert!(steps < 10_000, "{steps} {items:.60}");
        }
    }

    #[test]
    fn there_are_no_more_different_items_than_values() {
        for (items, count) in [
            (words(300), 300),
            (r#"{"enum": [null, true, 1, 1.0, "1", 2e0]}"#.to_owned(), 5),
            (r#"{"type": ["boolean", "null"]}"#.to_owned(), 3),
            (r#"{"type": "integer", "minimum": 0, "maximum": 9, "not": {"multipleOf": 5}}"#.to_owned(), 8),
            (r#"{"type": "string", "pattern": "^[ab]$"}"#.to_owned(), 2),
            (r#"{"enum": [[], [1], {"a": 1}, "x", {"a": 2}]}"#.to_owned(), 5),
            (r#"{"type": "array", "items": {"type": "boolean"}, "maxItems": 1}"#.to_owned(), 3),
        ] {
            assert_eq!(different(&items, count).0.len(), count, "{items}");
            assert_eq!(broken(&unique(&items, count + 1))[0].0, "schema.unsatisfiable", "{items}");
        }
    }

    fn compare(new: &str, old: &str) -> Verdict {
        Schema::is_narrower_than(&closed(new), &closed(old))
    }

    #[test]
    fn as_many_different_items_as_there_are_are_compared() {
        let new = unique(&words(2_000), 0);
        let most = |most: usize| format!(r#"{{"type": "array", "maxItems": {most}}}"#);
        assert_eq!(compare(&new, &most(2_000)), Verdict::Narrower);
        assert!(matches!(compare(&new, &most(1_999)), Verdict::Wider { .. }));
    }
}
