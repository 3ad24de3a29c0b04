//! `allOf`, `anyOf`, `oneOf`, `not`, `if`, the dependent keywords and `$ref`.

use std::rc::Rc;

use super::closing::{Part, Under, address};
use super::keywords::Keywords;
use super::{Compiler, Context, Job, Reading, Scope, Use};
use crate::json::{Path, Value};
use crate::schema::arena::{Id, Ids};
use crate::schema::reference;

impl<'s> Compiler<'s, '_> {
    /// Meets what a schema object says itself with what its combining keywords say.
    pub(super) fn combine(
        &mut self,
        own: Id,
        keywords: &Keywords<'s>,
        scope: Scope<'_, 's>,
        path: &Path<'_>,
    ) -> Id {
        let mut id = own;
        for (_, key, names) in keywords.conditional_names() {
            let without = self.with_fields([(key, Id::ABSENT)]);
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != key);
            let with = self.with_fields(names.map(|name| (name, Id::PRESENT)));
            let either = self.arena.or(without, with);
            id = self.arena.and(id, either);
        }
        if let Some(schema) = keywords.property_names {
            let named = self.named(schema, scope.reading, path);
            id = self.arena.and(id, named);
        }
        if let Some(schema) = keywords.not {
            let excluded = self.root(schema, &path.name("not"), Reading::Open);
            id = self.arena.diff(id, excluded);
        }
        if !keywords.combines() {
            return id;
        }
        if let Some(target) = super::closing::target(self.document, keywords.reference) {
            let part = |part: &Part<'s>| part.keyword == "$ref";
            let used = self.part_use(keywords, scope, target, part);
            if let Some(target) = self.reference(keywords, used) {
                id = self.arena.and(id, target);
            }
        }
        let all_of = path.name("allOf");
        for (at, schema) in list(keywords.all_of).iter().enumerate() {
            let here = Under::Index(at);
            let skip = |part: &Part<'s>| part.keyword == "allOf" && part.under == here;
            let member = self.member(keywords, scope, schema, skip, &all_of.index(at));
            id = self.arena.and(id, member);
        }
        for (keyword, key, schema) in keywords.conditional_schemas() {
            let under = path.name(keyword);
            let skip = |part: &Part<'s>| part.keyword == keyword && part.under == Under::Name(key);
            let member = self.member(keywords, scope, schema, skip, &under.name(key));
            let without = self.with_fields([(key, Id::ABSENT)]);
            let either = self.arena.or(without, member);
            id = self.arena.and(id, either);
        }
        if let Some(condition) = keywords.condition {
            let condition = self.root(condition, &path.name("if"), Reading::Open);
            let mut branch = |keyword: &'static str, schema: Option<&'s Value>| {
                let skip = |part: &Part<'s>| part.keyword == keyword;
                schema.map_or(Id::PRESENT, |schema| {
                    self.member(keywords, scope, schema, skip, &path.name(keyword))
                })
            };
            let (then, otherwise) = (branch("then", keywords.then), branch("else", keywords.otherwise));
            let then = self.arena.and(condition, then);
            let otherwise = self.arena.diff(otherwise, condition);
            let either = self.arena.or(then, otherwise);
            id = self.arena.and(id, either);
        }
        for (keyword, branches) in [("anyOf", keywords.any_of), ("oneOf", keywords.one_of)] {
            let Some(branches) = branches.and_then(Value::as_array) else { continue };
            let ids = self.branches(keyword, branches, keywords, scope, path);
            let union = if keyword == "anyOf" { self.arena.or_all(&ids) } else { self.arena.one(ids) };
            id = self.arena.and(id, union);
        }
        id
    }

    /// A schema that closes together with those around it.
    fn member(
        &mut self,
        keywords: &Keywords<'s>,
        scope: Scope<'_, 's>,
        schema: &'s Value,
        skip: impl Fn(&Part<'s>) -> bool,
        path: &Path<'_>,
    ) -> Id {
        if scope.reading == Reading::Open {
            return self.root(schema, path, Reading::Open);
        }
        let around = self
            .closings
            .names(schema)
            .alternatives
            .then(|| self.closings.around(scope.outer, keywords, skip));
        self.part(schema, Scope { outer: around.as_ref(), ..scope }, path)
    }

    /// The branches of an `anyOf` or `oneOf`, each closed with what stands around the group.
    fn branches(
        &mut self,
        keyword: &'static str,
        branches: &'s [Value],
        keywords: &Keywords<'s>,
        scope: Scope<'_, 's>,
        path: &Path<'_>,
    ) -> Ids {
        let path = path.name(keyword);
        if scope.reading == Reading::Open {
            let each = branches.iter().enumerate();
            return each.map(|(at, schema)| self.root(schema, &path.index(at), Reading::Open)).collect();
        }
        let around = self.closings.around(scope.outer, keywords, |part| part.keyword == keyword);
        let alone =
            around.list().is_empty() && around.patterns().is_empty() && !around.lists && !around.speaks;
        let outer = (!alone).then_some(&around);
        let scope = Scope { outer, closure: scope.closure, ..scope };
        let each = branches.iter().enumerate();
        each.map(|(at, schema)| self.branch(schema, scope, &path.index(at))).collect()
    }

    fn branch(&mut self, schema: &'s Value, scope: Scope<'_, 's>, path: &Path<'_>) -> Id {
        match schema {
            Value::Bool(false) => Id::NEVER,
            Value::Object(object) => {
                let keywords = Keywords::of(object);
                if keywords.is_reference() && scope.outer.is_some() {
                    let used = Use::Branch(self.context(scope));
                    return self.reference(&keywords, used).unwrap_or(Id::PRESENT);
                }
                self.conjunction(schema, &keywords, scope, path)
            }
            // True takes what the schemas around it take, closed with them.
            _ => match scope.outer {
                Some(outer)
                    if outer.closes() && !scope.closure.is_some_and(|known| known.as_wide_as(outer)) =>
                {
                    let keywords = Keywords::default();
                    self.assemble(&keywords, super::Extra::ClosedOver(outer), scope, path)
                }
                _ => Id::PRESENT,
            },
        }
    }

    /// How a `$ref` beside other keywords uses its target.
    fn part_use(
        &mut self,
        keywords: &Keywords<'s>,
        scope: Scope<'_, 's>,
        target: &'s Value,
        skip: impl Fn(&Part<'s>) -> bool,
    ) -> Use {
        if scope.reading == Reading::Open {
            return Use::Open;
        }
        if !self.closings.names(target).alternatives {
            return Use::Part(self.context(Scope { outer: None, closure: None, ..scope }));
        }
        let around = self.closings.around(scope.outer, keywords, skip);
        Use::Part(self.context(Scope { outer: Some(&around), ..scope }))
    }

    /// The number of what stands around, the same for the same names.
    fn context(&mut self, scope: Scope<'_, 's>) -> usize {
        let key = (scope.outer.map(super::Names::key), scope.closure.map(super::Names::key));
        if let Some(known) = self.context_ids.get(&key) {
            return *known;
        }
        let next = self.contexts.len();
        self.contexts.push(Rc::new(Context { outer: scope.outer.cloned(), closure: scope.closure.cloned() }));
        self.context_ids.insert(key, next);
        next
    }

    /// The set behind a `$ref`, compiled later and once for each use.
    pub(super) fn reference(&mut self, keywords: &Keywords<'s>, used: Use) -> Option<Id> {
        let text = keywords.reference?.as_str()?;
        let pointer = reference::pointer(text).ok()?;
        let schema = reference::schema_at(self.document, &pointer).ok()?;
        let key = (address(schema), used);
        if let Some(known) = self.references.get(&key) {
            return Some(*known);
        }
        let (reference, id) = self.arena.open_reference();
        self.references.insert(key, id);
        self.jobs.push(Job { reference, schema, pointer: pointer.into_owned(), used });
        Some(id)
    }

    /// Compiles the target of a reference in the way in which it is used.
    pub(super) fn target(&mut self, job: &Job<'s>) -> Id {
        let path = Path::Tail(self.at, &job.pointer);
        let context = match job.used {
            Use::Whole => return self.root(job.schema, &path, Reading::Closed),
            Use::Open => return self.root(job.schema, &path, Reading::Open),
            Use::Part(context) | Use::Branch(context) => self.contexts.get(context).cloned(),
        };
        let Some(context) = context else { return Id::PRESENT };
        let (outer, closure) = (context.outer.as_ref(), context.closure.as_ref());
        let scope = Scope { reading: Reading::Closed, outer, closure };
        match job.used {
            Use::Branch(_) => self.branch(job.schema, scope, &path),
            _ => self.part(job.schema, scope, &path),
        }
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).unwrap_or_default()
}

impl Keywords<'_> {
    /// Whether this is a reference and nothing else.
    pub(crate) fn is_reference(&self) -> bool {
        self.reference.is_some()
            && !self.constrains()
            && [self.values, self.constant, self.all_of, self.any_of, self.one_of, self.not, self.condition]
                .iter()
                .all(Option::is_none)
            && [self.dependent_required, self.dependent_schemas, self.dependencies, self.nullable]
                .iter()
                .all(Option::is_none)
    }

    /// Whether there is more about single kinds than `type`.
    pub(crate) fn constrains_more(&self) -> bool {
        self.constrains_scalars() || self.constrains_arrays() || self.constrains_objects()
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::testing::{broken, check, closed, compile, open, value};
    use crate::schema::{Dialect, Options};

    #[test]
    fn all_any_one_and_not() {
        check(&open(r#"{"allOf": [{"minimum": 1}, {"maximum": 3}]}"#), &["2", "\"x\""], &["0", "4"]);
        check(&open(r#"{"anyOf": [{"type": "string"}, {"minimum": 3}]}"#), &["\"x\"", "3", "null"], &["2"]);
        check(
            &open(r#"{"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}"#),
            &["2", "9"],
            &["6", "1", "null"],
        );
        check(&open(r#"{"oneOf": [{"const": 1}, {"const": 1}, {"const": 2}]}"#), &["2"], &["1", "3"]);
        check(&open(r#"{"not": {"type": "string"}}"#), &["1", "null"], &["\"x\""]);
        check(
            &open(r#"{"not": {"properties": {"a": {"const": 1}}, "required": ["a"]}}"#),
            &["{\"a\":2}", "{}"],
            &["{\"a\":1}"],
        );
    }

    #[test]
    fn conditions_choose_a_branch() {
        let schema =
            open(r#"{"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "null"}}"#);
        check(&schema, &["\"ab\"", "null"], &["\"a\"", "1"]);
        check(&open(r#"{"then": false, "else": false}"#), &["1"], &[]);
        check(&open(r#"{"if": {"const": 1}, "else": {"const": 2}}"#), &["1", "2"], &["3"]);
    }

    #[test]
    fn dependent_keywords_act_where_their_key_is() {
        for schema in [
            r#"{"dependentRequired": {"a": ["b", "c"]}}"#,
            r#"{"dependencies": {"a": ["b", "c"]}}"#,
            r#"{"dependentSchemas": {"a": {"required": ["b", "c"]}}}"#,
            r#"{"dependencies": {"a": {"required": ["b", "c"]}}}"#,
        ] {
            check(
                &open(schema),
                &["{}", "{\"b\":1}", "{\"a\":1,\"b\":1,\"c\":1}", "7"],
                &["{\"a\":1}", "{\"a\":1,\"b\":1}"],
            );
        }
    }

    #[test]
    fn references_are_followed_and_may_be_recursive() {
        let tree = open(
            r##"{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"v": {"type": "integer"},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["v"], "additionalProperties": false}}}"##,
        );
        check(
            &tree,
            &["{\"v\":1,\"kids\":[{\"v\":2,\"kids\":[]},{\"v\":3}]}"],
            &["{\"v\":1,\"kids\":[{\"v\":\"x\"}]}", "{}"],
        );
        check(
            &open(r##"{"properties": {"a": {"$ref": "#"}}, "additionalProperties": false}"##),
            &["{\"a\":{\"a\":{}}}"],
            &["{\"a\":{\"b\":1}}"],
        );
        check(
            &open(r##"{"$defs": {"p%q": {"type": "null"}}, "$ref": "#/%24defs/p%25q"}"##),
            &["null"],
            &["1"],
        );
        check(
            &open(
                r##"{"properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a", "maximum": 3}}}"##,
            ),
            &["{\"b\":3}"],
            &["{\"b\":4}", "{\"b\":\"x\"}"],
        );
    }

    #[test]
    fn a_reference_that_only_leads_back_is_refused_where_it_stands() {
        for (schema, place) in [
            (r##"{"$ref": "#"}"##, "/$ref"),
            (
                r##"{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]}}}"##,
                "/$defs/a/anyOf/1/$ref",
            ),
            (r##"{"properties": {"x": {"not": {"$ref": "#/properties/x"}}}}"##, "/properties/x/not/$ref"),
        ] {
            assert_eq!(broken(schema), [("schema.reference_vacuous", place.to_owned())], "{schema}");
        }
    }

    #[test]
    fn recursion_without_an_end_has_no_member() {
        let endless = r##"{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}"##;
        assert_eq!(broken(endless), [("schema.unsatisfiable", String::new())]);
        let ending = r##"{"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["next"]}"##;
        check(&closed(ending), &["{\"next\":{\"next\":null}}"], &["{\"next\":{}}"]);
    }

    #[test]
    fn under_draft_07_nothing_hides_beside_a_reference() {
        let options = Options { dialect: Dialect::Draft07, ..Options::default() };
        let hidden = r##"{"properties": {"a": {"$ref": "#/definitions/s", "maxLength": 3, "title": "A"}}, "definitions": {"s": {"type": "string"}}}"##;
        assert_eq!(
            compile(hidden, options).unwrap_err(),
            [("schema.reference_siblings", "/properties/a/maxLength".to_owned())]
        );
        let annotated = hidden.replace("\"maxLength\": 3, ", "");
        check(&compile(&annotated, options).unwrap(), &["{\"a\":\"x\"}"], &["{\"a\":1}"]);
        // `$schema` says it louder than the options.
        let newer =
            hidden.replacen('{', r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "#, 1);
        check(&compile(&newer, options).unwrap(), &["{\"a\":\"x\"}"], &["{\"a\":\"long\"}"]);
    }

    #[test]
    fn a_dozen_choices_meet_without_multiplying() {
        let pairs: Vec<_> = (0..12)
            .map(|n| format!(r#"{{"anyOf": [{{"properties": {{"f{n}": {{"const": 1}}}}}}, {{"properties": {{"f{n}": {{"const": 2}}}}}}]}}"#))
            .collect();
        let schema =
            open(&format!(r#"{{"type": "object", "minProperties": 1, "allOf": [{}]}}"#, pairs.join(",")));
        check(&schema, &["{\"f0\":1,\"f11\":2}"], &["{\"f3\":3}", "{}"]);
    }

    #[test]
    fn exponential_questions_about_a_value_end() {
        // Each level asks both branches, which ask the next level.
        let schema = open(
            r##"{"anyOf": [{"properties": {"a": {"$ref": "#"}}, "required": ["z"]}, {"properties": {"a": {"$ref": "#"}}, "required": ["y"]}, {"type": "null"}]}"##,
        );
        let deep = format!("{}null{}", "{\"a\":".repeat(60), "}".repeat(60));
        assert!(schema.accepts(&value(&deep)).is_err());
        let every = open(
            r##"{"oneOf": [{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
                {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["b"]}, {"type": "null"}]}"##,
        );
        assert_eq!(every.accepts(&value(&deep)), Ok(()));
        let wrong = deep.replace("null", "1");
        assert!(every.accepts(&value(&wrong)).is_err());
    }
}
