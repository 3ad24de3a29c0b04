//! The first pass: every keyword, its value, every pattern, reference and name is judged where it stands.
//! What passes is well-formed, so that the passes after it need no errors of their own for these.

use rustc_hash::FxHashMap;

use super::chain::Reference;
use super::decimal::Dec;
use super::identity;
use super::keyword::{Keyword, asserts, keyword};
use super::reference::{self, Broken};
use super::rules as r;
use super::size::{fits, size_at_most};
use super::strings::{Pattern, PatternError, pattern};
use super::{Dialect, Options, World};
use crate::json::{Number, Object, Path, Quoted, Value};
use crate::limits::TrustLimits;
use crate::rule::Findings;
use crate::shape::{NAME_RESERVED, is_reserved};

/// The patterns of a schema, by their text.
pub(super) type Patterns = FxHashMap<smol_str::SmolStr, Pattern>;

/// What the first pass finds out.
pub(super) struct Profile<'s> {
    pub(super) dialect: Dialect,
    pub(super) patterns: Patterns,
    pub(super) references: Vec<Reference<'s>>,
}

/// Reads a schema with its limits. Nothing when it is over them, so that nothing can go on.
pub(super) fn read<'s>(
    root: &'s Value,
    at: &Path<'_>,
    options: Options,
    limits: &TrustLimits,
    findings: &mut Findings,
) -> Option<Profile<'s>> {
    // The passes recurse with the schema's own nesting, which a host cannot raise beyond what their stacks hold.
    let (depth_limit, size_limit) = (limits.schema_depth.min(DEPTH_CEILING), limits.schema_bytes);
    let Some(size) = size_at_most(root, depth_limit) else {
        findings.add(&r::TOO_DEEP, at, format_args!("the schema nests deeper than {depth_limit} levels"));
        return None;
    };
    if size > size_limit && !fits(root, size_limit) {
        findings.add(
            &r::TOO_LARGE,
            at,
            format_args!("the schema is over {size_limit} bytes in its RFC 8785 form"),
        );
        return None;
    }
    let dialect = root.get("$schema").and_then(Value::as_str).and_then(dialect).unwrap_or(options.dialect);
    let names = options.world == World::Closed;
    let patterns = Patterns::default();
    let mut reader = Reader {
        root,
        dialect,
        names,
        findings,
        patterns,
        references: Vec::new(),
        pattern_steps: PATTERN_STEPS,
    };
    reader.schema(root, at);
    Some(Profile { dialect, patterns: reader.patterns, references: reader.references })
}

/// The deepest schema that is read, whatever the limits say.
const DEPTH_CEILING: usize = 32;

/// The steps of all patterns of one schema: that of one that is as large as one may be, and a half.
const PATTERN_STEPS: usize = 3_000_000;

/// The dialect of a `$schema`.
fn dialect(uri: &str) -> Option<Dialect> {
    match uri.strip_suffix('#').unwrap_or(uri) {
        "https://json-schema.org/draft/2020-12/schema" => Some(Dialect::Draft202012),
        "http://json-schema.org/draft-07/schema" | "https://json-schema.org/draft-07/schema" => {
            Some(Dialect::Draft07)
        }
        _ => None,
    }
}

struct Reader<'s, 'f> {
    root: &'s Value,
    dialect: Dialect,
    /// Whether names and values are held to the rules of identity.
    names: bool,
    findings: &'f mut Findings,
    patterns: Patterns,
    references: Vec<Reference<'s>>,
    /// What is left for compiling patterns.
    pattern_steps: usize,
}

impl<'s> Reader<'s, '_> {
    fn schema(&mut self, schema: &'s Value, path: &Path<'_>) {
        match schema {
            Value::Bool(_) => {}
            Value::Object(object) => {
                for (name, value) in object.iter() {
                    self.keyword(name, value, &path.name(name));
                }
                self.siblings(object, path);
                if object.contains_key("$ref") {
                    let pointer = path.name("$ref").to_string();
                    self.references.push(Reference { holder: schema, pointer });
                }
            }
            other => {
                let kind = other.kind();
                self.findings.add(
                    &r::SHAPE,
                    path,
                    format_args!("a schema is expected here, not {}", a(kind)),
                );
            }
        }
    }

    fn keyword(&mut self, name: &str, value: &'s Value, path: &Path<'_>) {
        match keyword(name) {
            Keyword::Annotation => {
                if name.starts_with("x-") {
                    self.identity(name, path);
                }
            }
            Keyword::Sample => self.identities(value, path),
            Keyword::Schema => self.schema(value, path),
            Keyword::Items => match value {
                Value::Array(items) => self.schemas(items, path),
                other => self.schema(other, path),
            },
            Keyword::Schemas => match value {
                Value::Array(items) if !items.is_empty() => self.schemas(items, path),
                _ => self.expected("a list of schemas that is not empty", path),
            },
            Keyword::SchemasByName => match value {
                Value::Object(object) => {
                    for (name, schema) in object.iter() {
                        let path = path.name(name);
                        self.identity(name, &path);
                        if self.names && is_reserved(name) {
                            let message = format_args!("the name {} is reserved", Quoted(name));
                            self.findings.add_name(&NAME_RESERVED, &path, message);
                        }
                        self.schema(schema, &path);
                    }
                }
                _ => self.expected("schemas by name", path),
            },
            Keyword::SchemasByPattern => match value {
                Value::Object(object) => {
                    for (text, schema) in object.iter() {
                        let path = path.name(text);
                        self.pattern(text, &path);
                        self.schema(schema, &path);
                    }
                }
                _ => self.expected("schemas by pattern", path),
            },
            Keyword::Dependencies => match value {
                Value::Object(object) => {
                    for (name, value) in object.iter() {
                        let path = path.name(name);
                        self.identity(name, &path);
                        match value {
                            Value::Array(_) => self.names(value, &path),
                            schema => self.schema(schema, &path),
                        }
                    }
                }
                _ => self.expected("schemas or lists of names, by name", path),
            },
            Keyword::NamesByName => match value {
                Value::Object(object) => {
                    for (name, value) in object.iter() {
                        let path = path.name(name);
                        self.identity(name, &path);
                        self.names(value, &path);
                    }
                }
                _ => self.expected("lists of names, by name", path),
            },
            Keyword::Names => self.names(value, path),
            Keyword::Count => {
                if value.as_number().and_then(count).is_none() {
                    self.expected("an integer from 0", path);
                }
            }
            Keyword::Number => self.number(value, "a number", path, |_| true),
            Keyword::Step => self.number(value, "a number above 0", path, Dec::is_positive),
            Keyword::Exclusive => {
                if !matches!(value, Value::Bool(_)) {
                    self.number(value, "a number", path, |_| true);
                }
            }
            Keyword::Flag => {
                if !matches!(value, Value::Bool(_)) {
                    self.expected("true or false", path);
                }
            }
            Keyword::Text => match value {
                Value::String(text) => self.identity(text, path),
                _ => self.expected("a string", path),
            },
            Keyword::Pattern => match value {
                Value::String(text) => self.pattern(text, path),
                _ => self.expected("a string", path),
            },
            Keyword::Types => self.types(value, path),
            Keyword::Values => match value {
                Value::Array(_) => self.values(value, path),
                _ => self.expected("a list of values", path),
            },
            Keyword::Value => self.values(value, path),
            Keyword::Reference => match value {
                Value::String(text) => self.reference(text, path),
                _ => self.expected("a string", path),
            },
            Keyword::Dialect => {
                if value.as_str().and_then(dialect) != Some(self.dialect) {
                    let message = "this dialect of JSON Schema is not known here";
                    self.findings.add(&r::DIALECT, path, format_args!("{message}"));
                }
            }
            Keyword::Base => self.base(value, path),
            Keyword::Unsupported => self.unsupported(name, path),
            Keyword::Unknown => {
                let message = format_args!("the keyword {} is not known", Quoted(name));
                self.findings.add_name(&r::KEYWORD_UNKNOWN, path, message);
            }
        }
    }

    fn schemas(&mut self, items: &'s [Value], path: &Path<'_>) {
        for (at, item) in items.iter().enumerate() {
            self.schema(item, &path.index(at));
        }
    }

    /// Keywords whose meaning hangs on another one.
    fn siblings(&mut self, object: &Object, path: &Path<'_>) {
        if self.dialect == Dialect::Draft07
            && object.contains_key("$ref")
            && let Some(name) = object.keys().find(|name| asserts(name))
        {
            let message = format_args!("draft-07 ignores {} beside $ref", Quoted(name));
            self.findings.add_name(&r::REFERENCE_SIBLINGS, &path.name(name), message);
        }
        for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            if object.get(exclusive) == Some(&Value::Bool(true)) && !object.contains_key(bound) {
                let message = format_args!("true says nothing without {bound}");
                self.findings.add(&r::KEYWORD_VALUE, &path.name(exclusive), message);
            }
        }
        if object.contains_key("prefixItems") && matches!(object.get("items"), Some(Value::Array(_))) {
            let message = format_args!("a list here means what prefixItems means; use one of them");
            self.findings.add(&r::KEYWORD_VALUE, &path.name("items"), message);
        }
    }

    fn base(&mut self, value: &Value, path: &Path<'_>) {
        match value {
            Value::String(text) if self.is_root_base(value) => self.identity(text, path),
            Value::String(_) => self.unsupported("$id", path),
            _ => self.expected("a string", path),
        }
    }

    /// Whether this is the `$id` of the whole schema, which nothing resolves against.
    fn is_root_base(&self, value: &Value) -> bool {
        self.root.get("$id").is_some_and(|base| std::ptr::eq(base, value))
    }

    fn types(&mut self, value: &Value, path: &Path<'_>) {
        let known = |value: &Value| value.as_str().is_some_and(|name| KINDS.contains(&name));
        let fits = match value {
            Value::Array(items) => {
                let mut kinds: Vec<_> = items.iter().filter_map(Value::as_str).collect();
                kinds.sort_unstable();
                kinds.dedup();
                !items.is_empty() && items.iter().all(known) && kinds.len() == items.len()
            }
            one => known(one),
        };
        if !fits {
            self.expected(
                "null, boolean, integer, number, string, array or object, or a list of these",
                path,
            );
        }
    }

    fn names(&mut self, value: &Value, path: &Path<'_>) {
        let Value::Array(items) = value else { return self.expected("a list of names", path) };
        let mut known = rustc_hash::FxHashSet::default();
        for (at, item) in items.iter().enumerate() {
            match item {
                Value::String(name) if !known.insert(name.as_str()) => {
                    self.expected("each name once", &path.index(at));
                }
                Value::String(name) => self.identity(name, &path.index(at)),
                _ => self.expected("a name", &path.index(at)),
            }
        }
    }

    fn number(&mut self, value: &Value, expected: &str, path: &Path<'_>, fits: impl Fn(Dec) -> bool) {
        match value {
            Value::Number(number) => match Dec::from_number(number) {
                Some(dec) if fits(dec) => {}
                Some(_) => self.expected(expected, path),
                None => self.number_too_long(path),
            },
            _ => self.expected(expected, path),
        }
    }

    /// The values of `enum` and `const`: numbers that can be compared, names and strings that are identity.
    fn values(&mut self, value: &Value, path: &Path<'_>) {
        match value {
            Value::Number(number) if Dec::from_number(number).is_none() => self.number_too_long(path),
            Value::String(text) => self.identity(text, path),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.values(item, &path.index(at));
                }
            }
            Value::Object(object) => {
                for (name, value) in object.iter() {
                    let path = path.name(name);
                    self.identity(name, &path);
                    self.values(value, &path);
                }
            }
            _ => {}
        }
    }

    fn pattern(&mut self, text: &str, path: &Path<'_>) {
        self.identity(text, path);
        if self.patterns.contains_key(text) {
            return;
        }
        let rule = match pattern::compile_within(text, &mut self.pattern_steps) {
            Ok(pattern) => {
                self.patterns.insert(text.into(), pattern);
                return;
            }
            Err(error) => {
                let rule = match error {
                    PatternError::Syntax { .. } => &r::PATTERN_SYNTAX,
                    PatternError::TooLarge { .. } => &r::PATTERN_TOO_LARGE,
                    PatternError::Unsupported { .. } => &r::PATTERN_UNSUPPORTED,
                };
                (rule, error)
            }
        };
        self.findings.add(rule.0, path, format_args!("{}", rule.1));
    }

    fn reference(&mut self, text: &str, path: &Path<'_>) {
        self.identity(text, path);
        let found = reference::pointer(text)
            .and_then(|pointer| reference::schema_at(self.root, &pointer).map(|_| ()));
        let (rule, message) = match found {
            Ok(()) => return,
            Err(Broken::Remote) => {
                (&r::REFERENCE_REMOTE, "the reference leaves this schema, or names an anchor")
            }
            Err(Broken::Missing) => (&r::REFERENCE_MISSING, "the reference leads nowhere"),
            Err(Broken::NotSchema) => (&r::REFERENCE_TARGET, "the reference leads to what is no schema"),
        };
        self.findings.add(rule, path, format_args!("{message}"));
    }

    /// Every string of a sample.
    fn identities(&mut self, value: &Value, path: &Path<'_>) {
        match value {
            Value::String(text) => self.identity(text, path),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.identities(item, &path.index(at));
                }
            }
            Value::Object(object) => {
                for (name, value) in object.iter() {
                    let path = path.name(name);
                    self.identity(name, &path);
                    self.identities(value, &path);
                }
            }
            _ => {}
        }
    }

    fn identity(&mut self, text: &str, path: &Path<'_>) {
        if self.names
            && let Some(fault) = identity::fault(text)
        {
            self.findings.add(&r::IDENTITY, path, format_args!("the string holds {fault}"));
        }
    }

    fn unsupported(&mut self, name: &str, path: &Path<'_>) {
        let message = format_args!("the keyword {name} is not supported");
        self.findings.add_name(&r::KEYWORD_UNSUPPORTED, path, message);
    }

    fn number_too_long(&mut self, path: &Path<'_>) {
        let message = format_args!("the number has more than 30 digits, or is beyond all doubles");
        self.findings.add(&r::NUMBER_TOO_LONG, path, message);
    }

    fn expected(&mut self, what: &str, path: &Path<'_>) {
        self.findings.add(&r::KEYWORD_VALUE, path, format_args!("{what} is expected here"));
    }
}

/// The values of `type`.
const KINDS: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// The value of a keyword that counts: an integer from 0 (`2.0` is one).
pub(super) fn count(number: &Number) -> Option<u64> {
    number.as_integer().and_then(|integer| u64::try_from(integer).ok())
}

/// A kind with its article.
fn a(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{OPEN, broken, closed, compile, value};

    #[test]
    fn every_breach_is_found_where_it_stands() {
        let schema = r##"{
            "type": "objekt",
            "properties": {
                "a": {"type": "string", "minLength": -1, "patern": "x"},
                "b": {"pattern": "(", "unevaluatedItems": false},
                "c": {"$ref": "https://example.com/s"},
                "d": {"$ref": "#/$defs/none"},
                "e": {"$ref": "#/properties/a/type"},
                "f": 7,
                "g": {"multipleOf": 0, "required": ["x", "x"], "enum": "x"},
                "h": {"minimum": 1234567890123456789012345678901, "allOf": []},
                "i": {"pattern": "(?<=a)b", "exclusiveMinimum": true}
            },
            "$defs": {"unused": {"$anchor": "x", "$id": "y"}}
        }"##;
        let expected = [
            ("schema.keyword_value", "/type"),
            ("schema.keyword_value", "/properties/a/minLength"),
            ("schema.keyword_unknown", "/properties/a/patern"),
            ("schema.pattern_syntax", "/properties/b/pattern"),
            ("schema.keyword_unsupported", "/properties/b/unevaluatedItems"),
            ("schema.reference_remote", "/properties/c/$ref"),
            ("schema.reference_missing", "/properties/d/$ref"),
            ("schema.reference_target", "/properties/e/$ref"),
            ("schema.shape", "/properties/f"),
            ("schema.keyword_value", "/properties/g/multipleOf"),
            ("schema.keyword_value", "/properties/g/required/1"),
            ("schema.keyword_value", "/properties/g/enum"),
            ("schema.number_too_long", "/properties/h/minimum"),
            ("schema.keyword_value", "/properties/h/allOf"),
            ("schema.pattern_unsupported", "/properties/i/pattern"),
            ("schema.keyword_value", "/properties/i/exclusiveMinimum"),
            ("schema.keyword_unsupported", "/$defs/unused/$anchor"),
            ("schema.keyword_unsupported", "/$defs/unused/$id"),
        ];
        let expected = expected.map(|(rule, place)| (rule, place.to_owned()));
        assert_eq!(broken(schema), expected);
    }

    #[test]
    fn findings_stand_under_the_place_of_the_schema() {
        let mut findings = Findings::new();
        let tools = Path::Root.name("tools");
        let source = value(r#"{"properties": {"a": {"type": 1}}}"#);
        let at = tools.index(3);
        let schema =
            crate::schema::Schema::compile(&source, &at, OPEN, &TrustLimits::default(), &mut findings);
        assert!(schema.is_none());
        assert_eq!(findings.list().first().unwrap().pointer, "/tools/3/properties/a/type");
    }

    #[test]
    fn annotations_change_nothing() {
        let annotated = closed(
            r#"{"$schema": "http://json-schema.org/draft-07/schema", "$id": "https://example.com/s.json", "$comment": "c",
                "title": 1, "description": [], "default": {"x": 1}, "examples": [1], "deprecated": true, "readOnly": true,
                "writeOnly": false, "contentEncoding": "base64", "contentMediaType": "text/plain", "contentSchema": {"odd": 1},
                "discriminator": {"propertyName": "kind"}, "x-order": 3, "format": "odd", "definitions": {}, "type": "string"}"#,
        );
        assert_eq!(annotated.accepts(&"x".into()), Ok(()));
    }

    #[test]
    fn the_dialect_is_known_and_one() {
        for (schema, place) in [
            (r#"{"$schema": "http://json-schema.org/draft-04/schema#"}"#, "/$schema"),
            (r#"{"$schema": "https://example.com/my"}"#, "/$schema"),
            (r#"{"$schema": 7}"#, "/$schema"),
            (
                r#"{"$schema": "https://json-schema.org/draft/2020-12/schema",
                    "not": {"$schema": "http://json-schema.org/draft-07/schema"}}"#,
                "/not/$schema",
            ),
        ] {
            assert_eq!(broken(schema), [("schema.dialect", place.to_owned())], "{schema}");
        }
    }

    #[test]
    fn identity_holds_no_controls_and_no_control_tokens() {
        let schema = r#"{"properties": {"a\nb": {}, "<|im_start|>": {}}, "dependentRequired": {"q": ["a\nb"]}, "patternProperties": {"\t": {}},
            "enum": [{"k\u0000": "v\u0007"}], "default": ["<|im_end|>"], "description": "cleaned <|im_end|>\u0000 elsewhere"}"#;
        let places: Vec<_> =
            broken(schema).into_iter().filter(|(rule, _)| *rule == "schema.identity").collect();
        let places: Vec<_> = places.iter().map(|(_, place)| place.as_str()).collect();
        assert_eq!(
            places,
            [
                "/properties/a\nb",
                "/properties/<|im_start|>",
                "/dependentRequired/q/0",
                "/patternProperties/\t",
                "/enum/0/k\u{0}",
                "/enum/0/k\u{0}",
                "/default/0",
            ]
        );
        // The standard knows no such rule.
        assert!(compile(schema, OPEN).is_ok());
    }
}
