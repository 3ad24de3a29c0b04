//! `properties`, `required`, `additionalProperties`, `patternProperties`, `propertyNames`, counts, and the keys
//! that a closed conjunction takes.

use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::closing::Names;
use super::keywords::{Keywords, members, strings};
use super::scalar::counts;
use super::{Compiler, Reading};
use crate::json::{Object, Path, Quoted, Value};
use crate::schema::arena::{Expr, Id};
use crate::schema::object::{Fields, Obj};
use crate::schema::rules as r;
use crate::schema::set::{Clause, Set};
use crate::schema::string::{Str, all};
use crate::schema::strings::Dfa;
use crate::schema::undecided::Undecided;

/// Classes of keys with what a field of such a key may be; nothing yet for those that no pattern speaks of.
type Classes = SmallVec<[(Arc<Dfa>, Option<Id>); 1]>;
/// The most classes that patterns may cut the keys into.
const CLASSES: usize = 64;

/// Which other keys an object takes.
#[derive(Clone, Copy)]
pub(super) enum Extra<'n, 's> {
    /// As the schema says, and all where it says nothing.
    AsSaid,
    /// Only those that it lists itself.
    Closed,
    /// Only those that its whole conjunction lists.
    ClosedOver(&'n Names<'s>),
}

impl<'s> Compiler<'s, '_> {
    /// What objects are let through.
    pub(super) fn objects(
        &mut self,
        keywords: &Keywords<'s>,
        extra: Extra<'_, 's>,
        reading: Reading,
        path: &Path<'_>,
    ) -> Vec<Clause<Obj>> {
        let mut classes: Classes = SmallVec::from_iter([(all(), None)]);
        let patterns = path.name("patternProperties");
        for (text, schema) in members(keywords.pattern_properties) {
            let id = self.root(schema, &patterns.name(text), reading);
            let id = self.arena.optional(id);
            self.cut(&mut classes, text, id, path);
        }
        let other = match (keywords.additional_properties, extra) {
            (Some(schema), _) => {
                let id = self.root(schema, &path.name("additionalProperties"), reading);
                self.arena.optional(id)
            }
            (None, Extra::AsSaid) => Id::ANY,
            (None, Extra::Closed | Extra::ClosedOver(_)) => Id::ABSENT,
        };
        let mut fields =
            Fields::with_capacity(keywords.properties.and_then(Value::as_object).map_or(0, Object::len));
        let properties = path.name("properties");
        for (name, schema) in members(keywords.properties) {
            let id = self.root(schema, &properties.name(name), reading);
            let mut id = self.arena.optional(id);
            if let Some(also) = matching(&classes, name) {
                id = self.arena.and(id, also);
            }
            fields.push(SmolStr::new(name), id);
        }
        if let Extra::ClosedOver(names) = extra {
            for name in names.list() {
                if fields.get(name).is_none() && matching(&classes, name).is_none() {
                    fields.push(SmolStr::new(name), Id::ANY);
                }
            }
            for text in names.patterns() {
                self.cut(&mut classes, text, Id::ANY, path);
            }
        }
        let rest = classes.into_iter().map(|(keys, id)| (keys, id.unwrap_or(other))).collect();
        let Some(count) = counts(keywords.min_properties, keywords.max_properties) else { return Vec::new() };
        let mut object = Obj { fields, rest, count };
        for (at, name) in strings(keywords.required).enumerate() {
            let id = object.field(name);
            if id == Id::ABSENT && reading == Reading::Closed && object.fields.get(name).is_none() {
                self.undeclared(name, at, path);
            }
            let id = self.arena.and(id, Id::PRESENT);
            object.fields.set(name, id);
        }
        vec![object.into()]
    }

    /// `required` names what the closed object cannot have.
    pub(super) fn undeclared(&mut self, name: &str, at: usize, path: &Path<'_>) {
        let message = format_args!("{} is required and not declared", Quoted(name));
        self.report(&r::REQUIRED_UNDECLARED, &path.name("required").index(at), message);
    }

    /// Cuts the classes with a pattern; keys that match it have to lie in `id` too.
    fn cut(&mut self, classes: &mut Classes, text: &str, id: Id, path: &Path<'_>) {
        let Some(pattern) = self.patterns.get(text) else { return };
        let cut = match pattern.to_dfa() {
            Ok(keys) => self.cut_with(classes, &keys, id),
            Err(too_large) => Err(too_large.into()),
        };
        match cut {
            Ok(cut) => *classes = cut,
            Err(undecided) => self.too_costly(path, undecided),
        }
    }

    fn cut_with(&mut self, classes: &Classes, keys: &Arc<Dfa>, id: Id) -> Result<Classes, Undecided> {
        let mut cut = Classes::new();
        for (class, known) in classes {
            let inside = self.products.and(class, keys)?;
            let outside = self.products.minus(class, keys)?;
            if !inside.is_none() {
                cut.push((inside, Some(known.map_or(id, |known| self.arena.and(known, id)))));
            }
            if !outside.is_none() {
                cut.push((outside, *known));
            }
        }
        if cut.len() > CLASSES { Err(Undecided::Clauses) } else { Ok(cut) }
    }

    /// The values that are no object, or one whose keys `propertyNames` lets through: at once where its strings
    /// are known, else when all references are.
    pub(super) fn named(&mut self, schema: &'s Value, reading: Reading, path: &Path<'_>) -> Id {
        let path = path.name("propertyNames");
        let id = self.root(schema, &path, reading);
        if let Expr::Leaf(set) = self.arena.expr(id) {
            let set = Arc::clone(set);
            return self.with_keys(&set.str).unwrap_or_else(|undecided| {
                self.too_costly(&path, undecided);
                Id::PRESENT
            });
        }
        let (reference, pending) = self.arena.open_reference();
        self.pending_names.push(super::PendingNames { reference, names: id, pointer: path.to_string() });
        pending
    }

    /// Takes every key out of the object that is not in the language.
    fn only_keys(&mut self, object: &mut Obj, keys: &Arc<Dfa>) -> Result<(), Undecided> {
        let refused: Vec<_> = object
            .fields
            .iter()
            .filter(|(name, _)| !keys.matches(name))
            .map(|(n, id)| (n.clone(), id))
            .collect();
        for (name, id) in refused {
            let id = self.arena.and(id, Id::ABSENT);
            object.fields.set(&name, id);
        }
        let mut rest = SmallVec::new();
        for (class, id) in &object.rest {
            let inside = self.products.and(class, keys)?;
            let outside = self.products.minus(class, keys)?;
            if !inside.is_none() {
                rest.push((inside, *id));
            }
            if !outside.is_none() {
                rest.push((outside, Id::ABSENT));
            }
        }
        object.rest = rest;
        Ok(())
    }

    /// The values that are no object, or an object whose keys all lie in a union of strings.
    pub(super) fn with_keys(&mut self, strings: &[Str]) -> Result<Id, Undecided> {
        let keys = self.products.language(strings)?;
        let mut object = Obj::any();
        self.only_keys(&mut object, &keys)?;
        Ok(self.arena.leaf(Set { obj: vec![object.into()], ..Set::values() }))
    }

    /// The values that are no object, or an object with these fields.
    pub(super) fn with_fields<'n>(&mut self, fields: impl IntoIterator<Item = (&'n str, Id)>) -> Id {
        let mut object = Obj::any();
        for (name, id) in fields {
            object.fields.set(name, id);
        }
        self.arena.leaf(Set { obj: vec![object.into()], ..Set::values() })
    }
}

/// What patterns say of a key.
fn matching(classes: &Classes, name: &str) -> Option<Id> {
    match classes.as_slice() {
        [(_, id)] => *id,
        classes => classes.iter().find(|(keys, _)| keys.matches(name)).and_then(|(_, id)| *id),
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::testing::{broken, check, closed, open};

    #[test]
    fn properties_and_required() {
        let schema = open(r#"{"properties": {"a": {"type": "string"}, "b": false}, "required": ["a"]}"#);
        check(
            &schema,
            &["{\"a\":\"x\"}", "{\"a\":\"x\",\"c\":1}", "7"],
            &["{}", "{\"a\":1}", "{\"a\":\"x\",\"b\":1}"],
        );
    }

    #[test]
    fn other_members_by_pattern_and_for_the_rest() {
        let schema = open(
            r#"{"properties": {"id": {}}, "patternProperties": {"^x-": {"type": "string"}, "y$": {"maxLength": 1}},
                "additionalProperties": {"type": "integer"}}"#,
        );
        check(
            &schema,
            &["{\"id\":[],\"x-a\":\"long\",\"other\":3}", "{\"x-y\":\"a\"}"],
            &["{\"x-a\":1}", "{\"x-y\":\"ab\"}", "{\"other\":\"a\"}"],
        );
        // A pattern speaks of declared names too.
        check(
            &open(r#"{"properties": {"ab": {"minimum": 1}}, "patternProperties": {"^a": {"maximum": 3}}}"#),
            &["{\"ab\":2}"],
            &["{\"ab\":0}", "{\"ab\":4}"],
        );
    }

    #[test]
    fn names_and_counts() {
        let schema =
            open(r#"{"propertyNames": {"pattern": "^[a-z]+$", "maxLength": 3}, "maxProperties": 2}"#);
        check(&schema, &["{}", "{\"ab\":1}"], &["{\"A\":1}", "{\"abcd\":1}", "{\"a\":1,\"b\":1,\"c\":1}"]);
        check(&open(r#"{"propertyNames": {"enum": ["a", 1]}}"#), &["{\"a\":1}"], &["{\"b\":1}"]);
        check(
            &open(
                r##"{"propertyNames": {"$ref": "#/$defs/n"}, "$defs": {"n": {"anyOf": [{"maxLength": 1}, {"const": "long"}]}}}"##,
            ),
            &["{\"a\":1,\"long\":2}"],
            &["{\"lon\":1}"],
        );
        check(&open(r#"{"propertyNames": false}"#), &["{}", "0"], &["{\"a\":1}"]);
        check(&open(r#"{"minProperties": 1}"#), &["{\"a\":1}"], &["{}"]);
    }

    #[test]
    fn an_object_that_lists_properties_takes_no_others() {
        let schema = closed(r#"{"type": "object", "properties": {"a": {}}}"#);
        check(&schema, &["{}", "{\"a\":1}"], &["{\"b\":1}"]);
        check(&closed(r#"{"properties": {}}"#), &["{}"], &["{\"a\":1}"]);
        check(&closed(r#"{"type": "object"}"#), &["{\"a\":1}"], &[]);
        check(&closed(r#"{"properties": {"a": {}}, "additionalProperties": true}"#), &["{\"b\":1}"], &[]);
        let patterns =
            closed(r#"{"properties": {"a": {}}, "patternProperties": {"^x-": {"type": "string"}}}"#);
        check(&patterns, &["{\"x-b\":\"\"}"], &["{\"x-b\":1}", "{\"b\":1}"]);
        // Everywhere, not only at the top.
        let nested = closed(r#"{"items": {"properties": {"a": {"properties": {"b": {}}}}}}"#);
        check(&nested, &["[{\"a\":{\"b\":1}}]"], &["[{\"c\":1}]", "[{\"a\":{\"c\":1}}]"]);
    }

    #[test]
    fn what_is_required_is_declared() {
        let schema = r#"{"type": "object", "properties": {"a": {}}, "required": ["a", "b", "c"]}"#;
        assert_eq!(
            broken(schema),
            [
                ("schema.required_undeclared", "/required/1".to_owned()),
                ("schema.required_undeclared", "/required/2".to_owned()),
            ]
        );
        assert_eq!(
            broken(r#"{"additionalProperties": false, "required": ["a"]}"#),
            [("schema.required_undeclared", "/required/0".to_owned())]
        );
        for taken in [
            r#"{"required": ["a"]}"#,
            r#"{"properties": {"b": {}}, "additionalProperties": {}, "required": ["a"]}"#,
            r#"{"properties": {"b": {}}, "patternProperties": {"^a": {}}, "required": ["a"]}"#,
        ] {
            check(&closed(taken), &["{\"a\":1}"], &["{}"]);
        }
    }

    #[test]
    fn what_no_object_can_be_is_refused() {
        for (schema, place) in [
            (r#"{"type": "object", "minProperties": 2, "maxProperties": 1}"#, ""),
            (r#"{"type": "object", "properties": {"a": {}}, "minProperties": 2}"#, ""),
            (r#"{"type": "object", "properties": {"a": false}, "required": ["a"]}"#, "/properties/a"),
            (
                r#"{"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"], "maxProperties": 1}"#,
                "",
            ),
            (r#"{"type": "object", "propertyNames": {"maxLength": 1}, "required": ["ab"]}"#, ""),
            (
                r#"{"type": "object", "properties": {"a": {"properties": {"b": {"type": "string", "minLength": 2,
                    "maxLength": 1}}, "type": "object", "required": ["b"]}}, "required": ["a"]}"#,
                "/properties/a/properties/b",
            ),
        ] {
            assert_eq!(broken(schema), [("schema.unsatisfiable", place.to_owned())], "{schema}");
        }
    }
}
