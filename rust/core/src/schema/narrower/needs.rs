//! Does a new schema refuse for missing members what the old one took?
//!
//! Emptiness of `fewer(new) & old \ new`, where `fewer` takes a value of the new schema from which members were left out, at
//! any depth. A set that is told by exclusion (`not`, `oneOf`) is loosened to more than that, so that the answer "nothing
//! more" is a proof, and everything else is none.

use rustc_hash::FxHashMap;

use super::twins::Twins;
use super::{Purse, copy};
use crate::schema::Schema;
use crate::schema::arena::{Arena, Expr, Id};
use crate::schema::array::Arr;
use crate::schema::object::{Fields, Obj};
use crate::schema::search::{Budget, Search};
use crate::schema::set::{Clause, Set};

/// How deep sets are loosened; deeper ones are not decided.
const DEPTH: usize = 96;

impl Schema {
    /// Whether it is proven that this schema needs no member, at any depth, that `old` did not need. Paid from a purse.
    pub(crate) fn needs_no_more_than(&self, old: &Self, purse: &mut Purse) -> bool {
        let (new, old) = (&self.0, &old.0);
        let mut twins = Twins::new(&new.arena, &old.arena);
        if twins.are(new.root, old.root) {
            return true;
        }
        let mut arena = old.arena.clone();
        let copied = copy::copy(&mut arena, &new.arena, new.root, &mut twins);
        let Some(fewer) = Loosened::default().of(&mut arena, copied, DEPTH) else { return false };
        let taken = arena.and(fewer, old.root);
        let refused = arena.diff(taken, copied);
        let given = Budget::COMPARISON.at_most(purse.0);
        let mut search = Search::within(arena, given);
        let found = search.member(refused);
        purse.0 = purse.0.after(given, search.left());
        matches!(found, Ok(None))
    }
}

/// The sets that were loosened already.
#[derive(Default)]
struct Loosened {
    known: FxHashMap<Id, Id>,
}

impl Loosened {
    /// At least the values of a set with any members left out. Nothing where it is too deep to say.
    fn of(&mut self, arena: &mut Arena, id: Id, depth: usize) -> Option<Id> {
        if id.is_fixed() {
            return Some(id);
        }
        if let Some(known) = self.known.get(&id) {
            return Some(*known);
        }
        let below = depth.checked_sub(1)?;
        let loosened = match arena.expr(id).clone() {
            Expr::Leaf(set) if set.obj.is_empty() && set.arr.is_empty() => id,
            Expr::Leaf(set) => self.leaf(arena, &set, below)?,
            Expr::And(ids) => {
                let all: Option<Vec<Id>> = ids.iter().map(|id| self.of(arena, *id, below)).collect();
                arena.and_all(&all?)
            }
            Expr::Or(ids) | Expr::One(ids) => {
                let any: Option<Vec<Id>> = ids.iter().map(|id| self.of(arena, *id, below)).collect();
                arena.or_all(&any?)
            }
            Expr::Not(inner) => {
                let plain = inner.is_fixed()
                    || arena.leaf_of(inner).is_some_and(|set| set.obj.is_empty() && set.arr.is_empty());
                if plain { id } else { Id::ANY }
            }
            Expr::Ref(reference) => {
                let (there, open) = arena.open_reference();
                self.known.insert(id, open);
                if let Some(target) = arena.target(reference) {
                    let target = self.of(arena, target, below)?;
                    arena.close_reference(there, target);
                }
                open
            }
        };
        self.known.insert(id, loosened);
        Some(loosened)
    }

    fn leaf(&mut self, arena: &mut Arena, set: &Set, depth: usize) -> Option<Id> {
        let mut loosened = set.clone();
        for Clause { pos, neg } in &mut loosened.obj {
            *pos = self.object(arena, pos, depth)?;
            neg.clear();
        }
        for Clause { pos, .. } in &mut loosened.arr {
            let Arr { prefix, rest, counts, .. } = pos;
            let items = prefix.iter_mut().chain([rest]).chain(counts.iter_mut().map(|count| &mut count.of));
            for item in items {
                *item = self.of(arena, *item, depth)?;
            }
        }
        Some(arena.leaf(loosened))
    }

    fn object(&mut self, arena: &mut Arena, object: &Obj, depth: usize) -> Option<Obj> {
        let mut fields = Fields::with_capacity(object.fields.len());
        for (name, id) in object.fields.iter() {
            let field = self.of(arena, id, depth)?;
            fields.push(name.clone(), arena.optional(field));
        }
        let mut rest = object.rest.clone();
        for (_, id) in &mut rest {
            let field = self.of(arena, *id, depth)?;
            *id = arena.optional(field);
        }
        Some(Obj { fields, rest, count: (0, object.count.1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::closed;

    fn needs_no_more(old: &str, new: &str) -> bool {
        let mut purse = Purse::MERGE;
        closed(new).needs_no_more_than(&closed(old), &mut purse)
    }

    const TWO: &str =
        r#"{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}MORE}"#;

    fn two(more: &str) -> String {
        TWO.replace("MORE", more)
    }

    #[test]
    fn every_way_to_need_a_member_is_seen() {
        for more in [
            r#", "required": ["a"]"#,
            r#", "minProperties": 1"#,
            r#", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]"#,
            r#", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]"#,
            r#", "allOf": [{"required": ["a"]}]"#,
            r#", "dependentRequired": {"a": ["b"]}"#,
            r#", "not": {"not": {"required": ["a"]}}"#,
            r#", "not": {"properties": {"a": false}, "additionalProperties": true}"#,
            r#", "if": {"required": ["a"]}, "then": {"required": ["b"]}"#,
        ] {
            let (old, new) = (two(""), two(more));
            assert!(!needs_no_more(&old, &new), "{more}");
            assert!(needs_no_more(&new, &new), "{more}");
            let within = |inner: &str| {
                format!(
                    r#"{{"type": "object", "properties": {{"list": {{"type": "array", "items": {{"anyOf": [{inner}, {{"type": "null"}}]}}}}}}}}"#
                )
            };
            assert!(!needs_no_more(&within(&old), &within(&new)), "within {more}");
        }
        assert!(!needs_no_more(&two(""), r#"{"enum": [{"a": "x"}, {"a": "x", "b": 1}]}"#));
        let either = |branches: &str| two(&format!(r#", "anyOf": [{branches}]"#));
        let both = either(r#"{"required": ["a"]}, {"required": ["b"]}"#);
        assert!(!needs_no_more(&both, &either(r#"{"required": ["a"]}"#)));
    }

    #[test]
    fn values_may_narrow() {
        let all = two(r#", "required": ["a"]"#);
        for (from, to) in [
            (r#"{"type": "string"}"#, r#"{"type": "string", "maxLength": 3}"#),
            (r#"{"type": "string"}"#, r#"{"enum": ["x", "y"]}"#),
            (r#"{"type": "integer"}"#, r#"{"type": "integer", "minimum": 2, "not": {"const": 7}}"#),
            (r#""b": {"type": "integer"}"#, ""),
        ] {
            let to = all.replace(from, to).replace(", }", "}");
            assert!(needs_no_more(&all, &to), "{to}");
        }
        let union = |branches: &str| {
            format!(r#"{{"type": "object", "properties": {{"u": {{"anyOf": [{branches}]}}}}}}"#)
        };
        let point = r#"{"type": "object", "properties": {"k": {"const": "p"}, "x": {"type": "integer"}}, "required": ["k", "x"]}"#;
        let name = r#"{"type": "object", "properties": {"k": {"const": "n"}}, "required": ["k"]}"#;
        assert!(needs_no_more(&union(&format!("{point}, {name}")), &union(point)));
        let list =
            |more: &str| format!(r#"{{"type": "object", "properties": {{"l": {{"type": "array"{more}}}}}}}"#);
        for more in [r#", "uniqueItems": true"#, r#", "maxItems": 2"#, r#", "items": {"type": "string"}"#] {
            assert!(needs_no_more(&list(""), &list(more)), "{more}");
        }
    }

    #[test]
    fn recursion_ends() {
        let tree = |needed: &str| {
            format!(
                r##"{{"type": "object", "properties": {{"t": {{"$ref": "#/$defs/n"}}}}, "$defs": {{"n": {{"type": "object",
                "properties": {{"v": {{"type": "integer"}}, "n": {{"$ref": "#/$defs/n"}}}}, "required": [{needed}]}}}}}}"##
            )
        };
        assert!(needs_no_more(
            &tree(r#""v""#),
            &tree(r#""v""#).replace("integer\"", "integer\", \"minimum\": 0")
        ));
        assert!(!needs_no_more(&tree(""), &tree(r#""v""#)));
    }
}
