//! What all the values of a set have in common: whether they are objects, and whether these are closed.

use super::arena::{Arena, Expr, Id};
use super::object::Obj;
use super::search::Search;
use super::set::{Clause, Set};

/// Whether the objects of a set may have a member of another name.
pub(crate) fn takes_others<'n>(
    arena: &Arena,
    root: Id,
    names: impl Iterator<Item = &'n str> + Clone,
) -> bool {
    if let Some(closed) = closed_at_sight(arena, root, &names, 0) {
        return !closed;
    }
    let mut known = Obj::any();
    known.rest = smallvec::SmallVec::from_iter([(super::string::all(), Id::ABSENT)]);
    for name in names {
        known.fields.set(name, Id::ANY);
    }
    let mut search = Search::new(arena.clone());
    let others =
        search.arena.leaf(Set { obj: vec![Clause { pos: Obj::any(), neg: vec![known] }], ..Set::default() });
    let both = search.arena.and(root, others);
    !matches!(search.is_empty(both), Ok(true))
}

/// Whether no object of the set has another member, where that needs no search.
fn closed_at_sight<'n>(
    arena: &Arena,
    id: Id,
    names: &(impl Iterator<Item = &'n str> + Clone),
    depth: u32,
) -> Option<bool> {
    if depth > 16 {
        return None;
    }
    match arena.expr(id) {
        Expr::Leaf(set) => {
            let known =
                |object: &Obj| object.fields.iter().all(|(name, _)| names.clone().any(|known| known == name));
            if set.obj.iter().all(|clause| clause.pos.is_closed() && known(&clause.pos)) {
                return Some(true);
            }
            let [Clause { pos, neg }] = set.obj.as_slice() else { return None };
            let open = matches!(pos.rest.as_slice(), [(keys, Id::ANY)] if keys.is_all());
            (open && neg.is_empty() && pos.count == (0, None) && arena.facts(id).inhabited).then_some(false)
        }
        Expr::And(ids) => {
            ids.iter().any(|id| closed_at_sight(arena, *id, names, depth + 1) == Some(true)).then_some(true)
        }
        Expr::Or(ids) | Expr::One(ids) => {
            ids.iter().all(|id| closed_at_sight(arena, *id, names, depth + 1) == Some(true)).then_some(true)
        }
        Expr::Ref(reference) => closed_at_sight(arena, arena.target(*reference)?, names, depth + 1),
        Expr::Not(_) => None,
    }
}

/// Whether no value of a set is anything but an object.
pub(crate) fn only_objects(arena: &Arena, root: Id) -> bool {
    if objects_at_sight(arena, root, 0) {
        return true;
    }
    let mut search = Search::new(arena.clone());
    let others = search.arena.diff(Id::PRESENT, Id::OBJECT);
    let both = search.arena.and(root, others);
    search.is_empty(both) == Ok(true)
}

fn objects_at_sight(arena: &Arena, id: Id, depth: u32) -> bool {
    let below = |id: &Id| objects_at_sight(arena, *id, depth + 1);
    depth <= 16
        && match arena.expr(id) {
            Expr::Leaf(set) => Set { obj: Vec::new(), ..set.as_ref().clone() }.has_no_value(),
            Expr::And(ids) => ids.iter().any(below),
            Expr::Or(ids) | Expr::One(ids) => ids.iter().all(below),
            Expr::Ref(reference) => arena.target(*reference).is_some_and(|id| below(&id)),
            Expr::Not(_) => false,
        }
}

#[cfg(test)]
mod tests {
    use crate::schema::testing::closed;

    #[test]
    fn undeclared_members_are_seen_through_every_combination() {
        for (schema, takes) in [
            (r#"{"type": "object", "properties": {"a": {}}}"#, false),
            (r#"{"type": "object", "properties": {}}"#, false),
            (r#"{"type": "object"}"#, true),
            (
                r#"{"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}}"#,
                true,
            ),
            (r#"{"type": "object", "properties": {"a": {}}, "patternProperties": {"^x-": {}}}"#, true),
            (r#"{"type": "object", "properties": {"x-": {}}, "patternProperties": {"^x-$": {}}}"#, false),
            (r#"{"type": "object", "properties": {"a": {}}, "patternProperties": {"^x-": false}}"#, false),
            (
                r#"{"type": "object", "additionalProperties": true, "properties": {"a": {}}, "maxProperties": 1, "required": ["a"]}"#,
                false,
            ),
            (r#"{"type": "object", "allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}"#, false),
            (
                r#"{"type": "object", "oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "additionalProperties": true, "required": ["b"]}]}"#,
                true,
            ),
            (
                r#"{"type": "object", "additionalProperties": {"type": "string"}, "allOf": [{"additionalProperties": {"type": "integer"}}]}"#,
                false,
            ),
            (
                r#"{"type": "object", "propertyNames": {"enum": ["a"]}, "properties": {"a": {}}, "additionalProperties": true}"#,
                false,
            ),
        ] {
            assert_eq!(closed(schema).takes_undeclared(), takes, "{schema}");
        }
    }

    #[test]
    fn parameters_are_an_object() {
        for (schema, object) in [
            (r#"{"type": "object"}"#, true),
            (r#"{"properties": {}}"#, false),
            (r#"{"type": ["object", "null"]}"#, false),
            (r#"{"anyOf": [{"type": "object"}, {"type": "object", "minProperties": 1}]}"#, true),
            (r##"{"$ref": "#/$defs/o", "$defs": {"o": {"type": "object"}}}"##, true),
            (r#"{"type": ["object", "string"], "not": {"type": "string"}}"#, true),
            ("true", false),
        ] {
            assert_eq!(closed(schema).takes_only_objects(), object, "{schema}");
        }
    }
}
