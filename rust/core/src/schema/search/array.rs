//! Members of sets of arrays.

use rustc_hash::FxHashMap;

use super::{FirstFound, Search, Witness};
use crate::schema::arena::Id;
use crate::schema::array::{Arr, Count};
use crate::schema::string::{is_empty, meet, outside, within};
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
                let both = self.arena.and(pos.at(place), pos.at(second));
                let member = self.member(both);
                let Some(member) = first.note(member)? else { continue };
                let value = member.value().ok_or(Undecided::Arrays)?;
                let item = self.arena.constant(&value).ok_or(Undecided::Arrays)?;
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
        let mut items: Vec<Witness> = Vec::new();
        let mut taken = Vec::new();
        for place in 0..usize::try_from(pos.length.0).unwrap_or(usize::MAX) {
            self.pay(1 + taken.len())?;
            let mut item = pos.at(place);
            if !taken.is_empty() {
                let others: Vec<Id> = [item].into_iter().chain(taken.iter().copied()).collect();
                item = self.arena.and_all(&others);
            }
            let Some(member) = self.member(item)? else {
                // Other items before this one might have left it a value.
                let mixed = !taken.is_empty() && pos.prefix.iter().any(|id| *id != pos.rest);
                return if mixed { Err(Undecided::Arrays) } else { Ok(None) };
            };
            if pos.unique {
                let value = member.value().ok_or(Undecided::Arrays)?;
                let constant = self.arena.constant(&value).ok_or(Undecided::Arrays)?;
                taken.push(self.arena.not(constant));
            }
            items.push(member);
        }
        Ok(Some(Witness::array(items)))
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
