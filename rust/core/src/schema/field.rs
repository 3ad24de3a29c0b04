//! What a property of the arguments can be, judged on the compiled set.

use super::arena::{Arena, Expr, Id};
use super::array::Arr;
use super::object::Obj;
use super::search::Search;
use super::set::{Clause, Set};

/// What a top-level property can be in any value that the schema accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// It may be left out.
    pub absent: bool,
    /// The kinds of value it may be.
    pub kinds: Kinds,
    /// What is known of it where it is an array.
    pub array: Option<ArrayField>,
}

/// What an array can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayField {
    /// No shorter array is accepted.
    pub min_items: u64,
    /// The kinds of value an item may be.
    pub items: Kinds,
}

/// Kinds of JSON values. Where that could not be decided a kind counts as possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Kinds {
    /// `null`.
    pub null: bool,
    /// `true` or `false`.
    pub boolean: bool,
    /// A number.
    pub number: bool,
    /// Every number that it may be is an integer (`1.0` is one); false where it may be no number.
    pub integer_only: bool,
    /// A string.
    pub string: bool,
    /// An array.
    pub array: bool,
    /// An object.
    pub object: bool,
}

impl Kinds {
    /// Whether nothing is possible but what `other` names.
    pub fn only(self, other: Self) -> bool {
        let number = !self.number || (other.number && (self.integer_only || !other.integer_only));
        let outside = (self.null && !other.null)
            || (self.boolean && !other.boolean)
            || (self.string && !other.string)
            || (self.array && !other.array)
            || (self.object && !other.object);
        number && !outside
    }

    fn join(self, other: Self) -> Self {
        let integers = |kinds: Self| !kinds.number || kinds.integer_only;
        Self {
            null: self.null || other.null,
            boolean: self.boolean || other.boolean,
            number: self.number || other.number,
            integer_only: (self.number || other.number) && integers(self) && integers(other),
            string: self.string || other.string,
            array: self.array || other.array,
            object: self.object || other.object,
        }
    }
}

impl Field {
    const NOTHING: Self = Self {
        absent: false,
        kinds: Kinds {
            null: false,
            boolean: false,
            number: false,
            integer_only: false,
            string: false,
            array: false,
            object: false,
        },
        array: None,
    };

    fn join(self, other: Self) -> Self {
        let array = match (self.array, other.array) {
            (Some(a), Some(b)) => {
                Some(ArrayField { min_items: a.min_items.min(b.min_items), items: a.items.join(b.items) })
            }
            (a, b) => a.or(b),
        };
        Self { absent: self.absent || other.absent, kinds: self.kinds.join(other.kinds), array }
    }
}

/// What a property of this name can be in the objects of a set.
pub(crate) fn field(arena: &Arena, root: Id, name: &str) -> Field {
    // A plain object answers at once, unless its members are counted: then one may hang on another.
    if let Some(set) = plain(arena, root)
        && let [Clause { pos, neg }] = set.obj.as_slice()
        && neg.is_empty()
        && pos.count == (0, None)
    {
        return look(arena, pos.field(name), 0).unwrap_or_else(|| searched(arena, root, name));
    }
    searched(arena, root, name)
}

/// The set of a leaf, also behind references.
fn plain(arena: &Arena, id: Id) -> Option<&Set> {
    match arena.expr(id) {
        Expr::Leaf(set) => Some(set),
        Expr::Ref(reference) => arena.leaf_of(arena.target(*reference)?).map(AsRef::as_ref),
        _ => None,
    }
}

/// What a set can be, where that needs no search.
fn look(arena: &Arena, id: Id, depth: u32) -> Option<Field> {
    if depth > 16 {
        return None;
    }
    match arena.expr(id) {
        Expr::Leaf(set) => look_at(arena, set, depth),
        Expr::Or(ids) => {
            ids.iter().try_fold(Field::NOTHING, |field, id| Some(field.join(look(arena, *id, depth + 1)?)))
        }
        Expr::Ref(reference) => look(arena, arena.target(*reference)?, depth + 1),
        Expr::And(_) | Expr::One(_) | Expr::Not(_) => None,
    }
}

fn look_at(arena: &Arena, set: &Set, depth: u32) -> Option<Field> {
    let mut array = None;
    for clause in &set.arr {
        let items = clause.pos.prefix.iter().chain([&clause.pos.rest]);
        let mut kinds = Kinds::default();
        for item in items {
            kinds = kinds.join(look(arena, *item, depth + 1)?.kinds);
        }
        let field =
            Field { array: Some(ArrayField { min_items: least(clause), items: kinds }), ..Field::NOTHING };
        array = Some(array.unwrap_or(Field::NOTHING).join(field));
    }
    let kinds = Kinds {
        null: set.null,
        boolean: set.fals || set.tru,
        number: !set.num.is_empty(),
        integer_only: !set.num.is_empty() && set.num.iter().all(super::number::Num::is_integral),
        string: !set.str.is_empty(),
        array: !set.arr.is_empty(),
        object: !set.obj.is_empty(),
    };
    Some(Field { absent: set.absent, kinds, array: array.and_then(|field| field.array) })
}

/// A length below which no array of a clause is. `contains` excludes the empty array.
fn least(clause: &Clause<Arr>) -> u64 {
    let counted = clause.pos.counts.iter().map(|count| count.count.0).max().unwrap_or(0);
    let excluded = clause.neg.iter().any(Arr::has_empty);
    clause.pos.length.0.max(counted).max(u64::from(excluded))
}

/// Asks for each kind whether a member of the set has the property of that kind.
fn searched(arena: &Arena, root: Id, name: &str) -> Field {
    let mut search = Search::new(arena.clone());
    let fraction = search.arena.diff(Id::NUMBER, Id::INTEGER);
    let mut possible = |field: Id| is_possible(&mut search, root, name, field);
    let (absent, number) = (possible(Id::ABSENT), possible(Id::NUMBER));
    let kinds = Kinds {
        null: possible(Id::NULL),
        boolean: possible(Id::BOOLEAN),
        number,
        integer_only: number && !possible(fraction),
        string: possible(Id::STRING),
        array: possible(Id::ARRAY),
        object: possible(Id::OBJECT),
    };
    let array = kinds.array.then(|| searched_array(&mut search, root, name));
    Field { absent, kinds, array }
}

/// Whether a member of the set may have a property that lies in `field`.
fn is_possible(search: &mut Search, root: Id, name: &str, field: Id) -> bool {
    let object = Obj::any().with(name, field);
    let object = search.arena.leaf(Set { obj: vec![object.into()], ..Set::default() });
    let both = search.arena.and(root, object);
    !matches!(search.is_empty(both), Ok(true))
}

fn searched_array(search: &mut Search, root: Id, name: &str) -> ArrayField {
    let mut possible = |array: Arr| {
        let field = search.arena.leaf(Set { arr: vec![array.into()], ..Set::default() });
        is_possible(search, root, name, field)
    };
    // Whether it may be empty is all that anybody asks of an array that takes a search.
    let min_items = u64::from(!possible(Arr { length: (0, Some(0)), ..Arr::ANY }));
    let items = item_kinds(search, root, name);
    ArrayField { min_items, items }
}

/// Asks for each kind whether an array may hold an item of it.
fn item_kinds(search: &mut Search, root: Id, name: &str) -> Kinds {
    let fraction = search.arena.diff(Id::NUMBER, Id::INTEGER);
    let mut possible = |kind: Id| {
        let others = search.arena.diff(Id::PRESENT, kind);
        let without = Arr { rest: others, ..Arr::ANY };
        let set = Set { arr: vec![Clause { pos: Arr::ANY, neg: vec![without] }], ..Set::default() };
        let field = search.arena.leaf(set);
        is_possible(search, root, name, field)
    };
    let number = possible(Id::NUMBER);
    Kinds {
        null: possible(Id::NULL),
        boolean: possible(Id::BOOLEAN),
        number,
        integer_only: number && !possible(fraction),
        string: possible(Id::STRING),
        array: possible(Id::ARRAY),
        object: possible(Id::OBJECT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::closed;

    fn names(schema: &str) -> Vec<String> {
        closed(schema).properties().iter().map(ToString::to_string).collect()
    }

    fn kinds(kinds: &str) -> Kinds {
        Kinds {
            null: kinds.contains("null"),
            boolean: kinds.contains("boolean"),
            number: kinds.contains("number") || kinds.contains("integer"),
            integer_only: kinds.contains("integer"),
            string: kinds.contains("string"),
            array: kinds.contains("array"),
            object: kinds.contains("object"),
        }
    }

    /// The field `p`, as `kinds` in words and whether it may be absent.
    fn is(schema: &str, expected: &str, absent: bool) {
        let field = closed(schema).field("p").unwrap();
        assert_eq!((field.kinds, field.absent), (kinds(expected), absent), "{schema}");
    }

    #[test]
    fn a_plain_property_is_what_it_says() {
        is(r#"{"properties": {"p": {"type": "string"}}, "required": ["p"]}"#, "string", false);
        is(r#"{"properties": {"p": {"type": ["integer", "null"]}}}"#, "integer null", true);
        is(r#"{"properties": {"p": {"type": ["integer", "number"]}}}"#, "number", true);
        is(r#"{"properties": {"p": {"enum": [1, 2.0, "x"]}}}"#, "integer string", true);
        is(r#"{"properties": {"p": {"enum": [1, 1.5]}}}"#, "number", true);
        is(r#"{"properties": {"p": {"multipleOf": 0.5, "type": "number"}}}"#, "number", true);
        is(r#"{"properties": {"p": {}}}"#, "null boolean number string array object", true);
        is(
            r#"{"properties": {"p": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}}"#,
            "boolean null",
            true,
        );
        is(
            r##"{"properties": {"p": {"$ref": "#/$defs/p"}}, "$defs": {"p": {"type": "integer", "nullable": true}}}"##,
            "integer null",
            true,
        );
    }

    #[test]
    fn a_property_is_judged_on_the_whole_set() {
        is(
            r#"{"type": "object", "properties": {"p": {"type": ["string", "null"]}}, "allOf": [{"properties": {"p": {"minLength": 1, "type": ["string", "integer"]}}}]}"#,
            "string",
            true,
        );
        is(
            r#"{"type": "object", "properties": {"p": {"type": ["string", "null"]}}, "anyOf": [{"required": ["p"]}]}"#,
            "string null",
            false,
        );
        is(
            r#"{"type": "object", "oneOf": [{"properties": {"p": {"type": "integer"}}, "required": ["p"]}, {"properties": {"q": {}, "p": {"type": "boolean"}}, "required": ["p"]}]}"#,
            "integer boolean",
            false,
        );
        is(
            r#"{"type": "object", "properties": {"p": {"type": "number"}}, "not": {"properties": {"p": {"not": {"type": "integer"}}}, "required": ["p"]}}"#,
            "integer",
            true,
        );
        is(
            r#"{"type": "object", "properties": {"k": {}}, "required": ["k"], "dependentSchemas": {"k": {"properties": {"p": {"type": "string"}}}}}"#,
            "string",
            true,
        );
    }

    #[test]
    fn arrays_tell_their_items_and_whether_they_may_be_empty() {
        for (schema, least, items) in [
            (r#"{"type": "array", "items": {"type": "string"}}"#, 0, "string"),
            (
                r#"{"type": "array", "items": {"type": ["integer", "null"]}, "minItems": 2}"#,
                2,
                "integer null",
            ),
            (
                r#"{"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}}"#,
                0,
                "string boolean",
            ),
            (r#"{"type": "array", "items": {"type": "string"}, "contains": {"minLength": 1}}"#, 1, "string"),
            (r#"{"allOf": [{"type": "array", "minItems": 1}, {"items": {"type": "number"}}]}"#, 1, "number"),
            (
                r#"{"type": "array", "items": {"allOf": [{"type": ["string", "null"]}, {"minLength": 1, "type": "string"}]}}"#,
                0,
                "string",
            ),
        ] {
            let field = closed(&format!(r#"{{"type": "object", "properties": {{"p": {schema}}}}}"#))
                .field("p")
                .unwrap();
            let array = field.array.unwrap();
            assert_eq!((array.min_items, array.items), (least, kinds(items)), "{schema}");
        }
        assert_eq!(closed(r#"{"properties": {"p": {"type": "string"}}}"#).field("p").unwrap().array, None);
    }

    #[test]
    fn names_are_those_of_all_schemas_about_the_arguments() {
        assert_eq!(names(r#"{"properties": {"b": {}, "a": {}}}"#), ["b", "a"]);
        let all = names(
            r##"{"properties": {"a": {"properties": {"inner": {}}}}, "$ref": "#/$defs/r", "allOf": [{"properties": {"b": {}}}],
                "anyOf": [{"properties": {"c": {}}}, {"properties": {"d": {}}}], "dependentSchemas": {"a": {"properties": {"e": {}}}},
                "if": {"properties": {"f": {}}}, "then": {"properties": {"g": {}}}, "not": {"properties": {"no": {}}, "required": ["no"]},
                "$defs": {"r": {"properties": {"h": {}}}, "unused": {"properties": {"no": {}}}}}"##,
        );
        assert_eq!(all, ["a", "h", "b", "c", "d", "e", "f", "g"]);
        assert_eq!(closed(r#"{"properties": {"a": {}}}"#).field("b"), None);
    }
}
