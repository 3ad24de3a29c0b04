//! The response map of a tool, as it stands in a manifest.

use super::mapping::{Give, Mapping};
use super::pointer::Pointer;
use super::reader::Reader;
use super::rules::{
    RESPONSE_ERROR_EMPTY, RESPONSE_MAX_CHARS, RESPONSE_NESTING, RESPONSE_READERS, RESPONSE_TEXT_FORMAT,
};
use crate::json::{Number, Object, Path, Value};
use crate::shape::{Definitions, Reading, Shape, known_members, member, object};
use crate::{record, words};

/// What of an answer reaches the model: a mapping of the body, how the body is read, and what an error is.
///
/// The default, which an absent `response` has, gives the whole body.
#[derive(Debug, Clone, Default)]
pub struct ResponseMap {
    /// What is selected. Its `max_chars` is that of the whole result; see [`ResponseMap::DEFAULT_MAX_CHARS`].
    pub mapping: Mapping,
    /// How the body is read, whatever its media type says.
    pub format: Option<Format>,
    /// What an error is, and where its message stands.
    pub error: ErrorMap,
}

words! {
    /// How a body is read.
    pub enum Format {
        /// As JSON.
        Json = "json",
        /// As text.
        Text = "text",
    }
}

record! {
    /// Errors of an API: where their message stands, and how an error is told from success where the status does not tell.
    #[derive(Default)]
    pub struct ErrorMap {
        /// Where the message of an error answer stands.
        pub message: Option<Reader> = "message",
        /// An error when present and not null, false or empty.
        pub when: Option<Pointer> = "if",
        /// An error unless true.
        pub unless: Option<Pointer> = "unless",
    }
}

impl ResponseMap {
    /// The most characters of a result unless the manifest says otherwise.
    pub const DEFAULT_MAX_CHARS: usize = 4_000;
    /// With fewer characters most results are nothing but their frame.
    const ROOM_CHARS: usize = 256;

    /// Whether a success can only be read from JSON.
    pub(super) fn reads_json(&self) -> bool {
        let mapping = &self.mapping;
        self.format == Some(Format::Json)
            || !mapping.from.as_str().is_empty()
            || mapping.each.is_some()
            || !matches!(mapping.give, Give::Item)
            || self.error.when.is_some()
            || self.error.unless.is_some()
    }
}

impl Shape for ResponseMap {
    const REQUIRED: bool = false;

    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let object = object(value, at, reading)?;
        let names: Vec<_> = Mapping::MEMBERS.into_iter().chain(["format", "error"]).collect();
        known_members(object, &names, at, reading);
        let mapping = Mapping::read_members(object, at, reading);
        let format = member::<Option<Format>>(object, "format", at, reading);
        let error = member::<Option<ErrorMap>>(object, "error", at, reading);
        check(object, at, reading);
        Some(Self { mapping: mapping?, format: format?, error: error?.unwrap_or_default() })
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let text = "What of an answer reaches the model: a mapping of the body, how the body is read, and what an error is.";
        definitions.record("Response", text, |definitions| {
            let mut members = Mapping::describe_members(definitions);
            if let Some(max_chars) = members.iter_mut().find(|member| member.0 == "maxChars") {
                max_chars.2 = "The most characters of the whole result for the model; 4,000 by default.";
            }
            members.push((
                "format",
                false,
                "How the body is read, whatever its media type says.",
                Format::describe(definitions),
            ));
            members.push((
                "error",
                false,
                "What an error is, and where its message stands.",
                ErrorMap::describe(definitions),
            ));
            members
        })
    }
}

/// The rules that span several members; judged on what is there, so that no other finding hides one.
fn check(response: &Object, at: &Path<'_>, reading: &mut Reading<'_>) {
    let findings = &mut *reading.findings;
    let error = response.get("error").and_then(Value::as_object);
    if error.is_some_and(Object::is_empty) {
        findings.add(&RESPONSE_ERROR_EMPTY, &at.name("error"), format_args!("`error` says nothing"));
    }
    let max_chars = response.get("maxChars").and_then(Value::as_number).and_then(Number::as_integer);
    let room = i128::try_from(ResponseMap::ROOM_CHARS).unwrap_or_default();
    if max_chars.is_some_and(|chars| (1..room).contains(&chars)) {
        let message = format_args!("a result of so few characters is little more than its frame");
        findings.add(&RESPONSE_MAX_CHARS, &at.name("maxChars"), message);
    }
    if response.get("format").and_then(Value::as_str) == Some(Format::Text.as_str()) {
        for name in ["from", "each", "fields", "value"].into_iter().filter(|name| response.contains_key(name))
        {
            let message = format_args!("`{name}` reads JSON, and the format is text");
            findings.add_name(&RESPONSE_TEXT_FORMAT, &at.name(name), message);
        }
        let error_at = at.name("error");
        let there = |name: &&str| error.is_some_and(|error| error.contains_key(name));
        for name in ["if", "unless"].into_iter().filter(there) {
            let message = format_args!("`{name}` reads JSON, and the format is text");
            findings.add_name(&RESPONSE_TEXT_FORMAT, &error_at.name(name), message);
        }
    }
    let mut survey = Survey { count: 0, reading };
    survey.mapping(response, at, 1);
    if let Some(message) = error.and_then(|error| error.get("message")) {
        survey.reader(message, &at.name("error").name("message"), 1);
    }
    let count = survey.count;
    if count > Reader::MAX_COUNT {
        let message =
            format_args!("the response has {count} readers, over the limit of {}", Reader::MAX_COUNT);
        reading.findings.add(&RESPONSE_READERS, at, message);
    }
}

/// A walk over the readers of a response, well-formed or not.
struct Survey<'s, 'r> {
    count: usize,
    reading: &'s mut Reading<'r>,
}

impl Survey<'_, '_> {
    /// A mapping at this level, the response being level 1.
    fn mapping(&mut self, mapping: &Object, at: &Path<'_>, level: usize) {
        if let Some(fields) = mapping.get("fields").and_then(Value::as_object) {
            let at = at.name("fields");
            for (name, reader) in fields.iter() {
                self.reader(reader, &at.name(name), level);
            }
        }
        if let Some(reader) = mapping.get("value") {
            self.reader(reader, &at.name("value"), level);
        }
    }

    /// A reader of a mapping at this level.
    fn reader(&mut self, reader: &Value, at: &Path<'_>, level: usize) {
        self.count += 1;
        match reader {
            Value::Object(mapping) if self.may_nest(at, level) => self.mapping(mapping, at, level + 1),
            Value::Array(readers) => {
                for (index, reader) in readers.iter().enumerate() {
                    let at = at.index(index);
                    match reader {
                        Value::Array(_) if !self.may_nest(&at, level) => self.count += 1,
                        Value::Array(_) => self.reader(reader, &at, level + 1),
                        _ => self.reader(reader, &at, level),
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether one more level may follow; reports the first that may not, and nothing below it.
    fn may_nest(&mut self, at: &Path<'_>, level: usize) -> bool {
        let fits = level < Reader::MAX_NESTING;
        if !fits {
            let most = Reader::MAX_NESTING;
            self.reading.findings.add(&RESPONSE_NESTING, at, format_args!("this nests deeper than {most}"));
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::super::mapping::{Over, Take};
    use super::*;
    use crate::json::read_text;
    use crate::limits::TrustLimits;
    use crate::rule::Findings;

    fn read_with(limits: &TrustLimits, text: &str) -> (Option<ResponseMap>, Vec<(&'static str, String)>) {
        let mut findings = Findings::new();
        let value = read_text(text).unwrap();
        let root = Path::Root;
        let map = ResponseMap::read(
            &value,
            &root.name("response"),
            &mut Reading { limits, findings: &mut findings },
        );
        (map, findings.into_list().into_iter().map(|finding| (finding.rule.id, finding.pointer)).collect())
    }

    fn found(text: &str) -> Vec<(&'static str, String)> {
        read_with(&TrustLimits::default(), text).1
    }

    fn one(text: &str, id: &str, pointer: &str) {
        assert_eq!(
            found(text),
            [(id, pointer.to_owned())].map(|(id, p)| (id.to_owned().leak() as &str, p)),
            "{text}"
        );
    }

    #[test]
    fn every_member_of_the_format_is_read() {
        let (map, findings) = read_with(
            &TrustLimits::default(),
            r#"{"from": "/results", "each": true, "limit": 64, "take": "last", "maxChars": 262144, "format": "json",
                "fields": {"id": "/id", "owner name": ["/a", {"from": "/b", "value": "/c"}, [["/d"]]],
                           "labels": {"from": "/labels", "each": "values", "value": "/name", "join": ", ", "maxChars": 1},
                           "states": {"each": "values", "as": "object", "value": "/state"}},
                "error": {"message": ["/detail", "/error"], "if": "/errors", "unless": "/ok"}}"#,
        );
        assert_eq!(findings, []);
        let map = map.unwrap();
        let each = map.mapping.each.unwrap();
        assert_eq!((each.limit, each.take, each.over), (Some(64), Take::Last, Over::Items));
        assert_eq!((map.format, map.mapping.max_chars), (Some(Format::Json), Some(262_144)));
        assert_eq!(map.error.unless.unwrap().as_str(), "/ok");
        let Give::Fields(fields) = map.mapping.give else { panic!("fields were given") };
        assert_eq!(fields.len(), 4);
    }

    #[test]
    fn an_absent_response_is_the_whole_body() {
        let map = ResponseMap::absent().unwrap();
        assert!(!map.reads_json());
        assert!(matches!(map.mapping.give, Give::Item));
        assert_eq!(found("{}"), []);
    }

    #[test]
    fn each_sentence_that_forbids_is_a_rule() {
        for pointer in ["a", "#/a", "$.a", "/a~", "/a~2"] {
            one(&format!(r#"{{"from": "{pointer}"}}"#), "response.pointer", "/response/from");
        }
        one(r#"{"fields": {"a": "x"}}"#, "response.pointer", "/response/fields/a");
        one(r#"{"error": {"if": "x"}}"#, "response.pointer", "/response/error/if");
        one(r#"{"value": "/a", "fields": {"a": "/a"}}"#, "response.fields_and_value", "/response/value");
        for (member, value) in
            [("limit", "3"), ("take", r#""first""#), ("as", r#""object""#), ("join", r#""""#)]
        {
            let text = format!(r#"{{"{member}": {value}}}"#);
            one(&text, "response.needs_each", &format!("/response/{member}"));
        }
        one(r#"{"each": true, "as": "object"}"#, "response.as_object", "/response/as");
        one(r#"{"each": true, "fields": {"a": "/a"}, "join": ","}"#, "response.join", "/response/join");
        one(r#"{"each": "values", "as": "object", "join": ","}"#, "response.join", "/response/join");
        one(r#"{"each": true, "join": "\u0007"}"#, "response.join_text", "/response/join");
        one(
            &format!(r#"{{"each": true, "join": "{}"}}"#, "-".repeat(65)),
            "response.join_text",
            "/response/join",
        );
        one(r#"{"error": {}}"#, "response.error_empty", "/response/error");
        one(r#"{"maxChars": 255}"#, "response.max_chars", "/response/maxChars");
    }

    #[test]
    fn words_and_numbers_are_those_of_the_format() {
        for (text, id, at) in [
            (r#"{"each": false}"#, "shape.word", "each"),
            (r#"{"each": "items"}"#, "shape.word", "each"),
            (r#"{"each": true, "take": "middle"}"#, "shape.word", "take"),
            (r#"{"each": "values", "as": "array"}"#, "shape.word", "as"),
            (r#"{"format": "xml"}"#, "shape.word", "format"),
            (r#"{"each": true, "limit": 0}"#, "shape.range", "limit"),
            (r#"{"each": true, "limit": 65}"#, "shape.range", "limit"),
            (r#"{"each": true, "limit": "9"}"#, "shape.type", "limit"),
            (r#"{"maxChars": 262145}"#, "shape.range", "maxChars"),
            (r#"{"maxChars": 0}"#, "shape.range", "maxChars"),
            (r#"{"value": 7}"#, "shape.type", "value"),
            (r#"{"value": []}"#, "shape.count", "value"),
            (r#"{"fields": {}}"#, "shape.count", "fields"),
            (r#"{"filter": "/a"}"#, "shape.unknown_member", "filter"),
            (r#"{"error": {"path": "/a"}}"#, "shape.unknown_member", "error/path"),
        ] {
            one(text, id, &format!("/response/{at}"));
        }
        for nested in ["format", "error", "if"] {
            let text = format!(r#"{{"fields": {{"a": {{"{nested}": "json"}}}}}}"#);
            one(&text, "shape.unknown_member", &format!("/response/fields/a/{nested}"));
        }
    }

    #[test]
    fn a_host_may_move_the_limits() {
        let limits = TrustLimits { result_parts: 2, result_chars: 300, ..TrustLimits::default() };
        let (_, found) = read_with(&limits, r#"{"each": true, "limit": 3, "maxChars": 301}"#);
        assert_eq!(found.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["shape.range", "shape.range"]);
    }

    #[test]
    fn field_names_can_be_shown_as_they_are() {
        let long = "é".repeat(129);
        for name in ["", "a\\nb", "\\u0000", "__proto__", "constructor", &long] {
            let text = format!(r#"{{"fields": {{"{name}": "/a"}}}}"#);
            let ids: Vec<_> = found(&text).into_iter().map(|(id, _)| id).collect();
            assert_eq!(ids, ["response.field_name"], "{name}");
        }
        for name in ["id", "Due date", "größe (m²)", &"é".repeat(128)] {
            assert_eq!(found(&format!(r#"{{"fields": {{"{name}": "/a"}}}}"#)), [], "{name}");
        }
    }

    #[test]
    fn a_text_is_not_read_with_pointers() {
        let text = r#"{"format": "text", "from": "/a", "each": true, "value": "/b",
                       "error": {"message": "/m", "if": "/e", "unless": "/o"}}"#;
        let found = found(text);
        assert!(found.iter().all(|(id, _)| *id == "response.text_format"), "{found:?}");
        let places: Vec<_> = found.iter().map(|(_, pointer)| pointer.as_str()).collect();
        assert_eq!(
            places,
            [
                "/response/from",
                "/response/each",
                "/response/value",
                "/response/error/if",
                "/response/error/unless"
            ]
        );
    }

    #[test]
    fn mappings_nest_to_four() {
        let nested = |levels: usize, inner: &str| {
            format!("{}{inner}{}", r#"{"value": "#.repeat(levels), "}".repeat(levels))
        };
        assert_eq!(found(&nested(4, r#""/a""#)), []);
        assert_eq!(found(&nested(4, r#"["/a", "/b"]"#)), []);
        one(&nested(5, r#""/a""#), "response.nesting", "/response/value/value/value/value");
        one(&nested(4, r#"["/a", {}]"#), "response.nesting", "/response/value/value/value/value/1");
        assert_eq!(found(r#"{"value": [[[["/a"]]]]}"#), []);
        one(r#"{"value": [[[[["/a"]]]]]}"#, "response.nesting", "/response/value/0/0/0/0");
        one(
            &format!(r#"{{"error": {{"message": {}}}}}"#, nested(4, r#""/a""#)),
            "response.nesting",
            "/response/error/message/value/value/value",
        );
    }

    #[test]
    fn a_tool_has_at_most_128_readers() {
        let fields = |count: usize| {
            let fields: Vec<_> = (0..count).map(|at| format!(r#""f{at}": "/{at}""#)).collect();
            format!(r#"{{"fields": {{{}}}}}"#, fields.join(","))
        };
        assert_eq!(found(&fields(128)), []);
        one(&fields(129), "response.readers", "/response");
        let many =
            format!(r#"{{"value": [{}], "error": {{"message": "/m"}}}}"#, vec![r#""/a""#; 126].join(","));
        assert_eq!(found(&many), []);
        one(&many.replace(r#""/m""#, r#"["/m", "/n"]"#), "response.readers", "/response");
    }

    #[test]
    fn the_schema_knows_each_member_once() {
        let mut definitions = Definitions::default();
        assert_eq!(ResponseMap::describe(&mut definitions).to_text(), r##"{"$ref":"#/$defs/Response"}"##);
        let schema = definitions.into_object();
        let names: Vec<_> = schema.keys().map(smol_str::SmolStr::as_str).collect();
        assert_eq!(names, ["Response", "Pointer", "Reader", "Mapping", "ErrorMap"]);
        let members = schema.get("Response").unwrap().get("properties").unwrap().as_object().unwrap();
        let names: Vec<_> = members.keys().map(smol_str::SmolStr::as_str).collect();
        let expected: Vec<_> = Mapping::MEMBERS.into_iter().chain(["format", "error"]).collect();
        assert_eq!(names, expected);
        let wanted: smol_str::SmolStr = "#/$defs/Response".into();
        let root = crate::shape::fragment([("$defs", schema.into()), ("$ref", wanted.into())]);
        let judge = jsonschema::validator_for(&serde_json::from_str(&root.to_text()).unwrap()).unwrap();
        for (text, right) in [
            (
                r#"{"from": "/a~1", "each": "values", "as": "object", "fields": {"a": ["/b", {"join": "x", "each": true}]}}"#,
                true,
            ),
            (r#"{"from": "a"}"#, false),
            (r#"{"each": false}"#, false),
            (r#"{"fields": {"a": []}}"#, false),
            (r#"{"fields": {"a": {"format": "json"}}}"#, false),
            (r#"{"limit": 65}"#, false),
        ] {
            assert_eq!(judge.is_valid(&serde_json::from_str(text).unwrap()), right, "{text}");
        }
    }
}
