//! The rules of response maps.

use crate::rules;

rules! {
    RESPONSE_POINTER: Error "response.pointer", "A pointer of a response map is a JSON Pointer (RFC 6901) of at most 1,024 characters.",
        "Write `\"\"` for the whole, or `/name/0/name`; `~` stands as `~0` and `/` in a name as `~1`. Nothing is evaluated: no `$.a`, no `*`.";
    RESPONSE_NESTING: Error "response.nesting", "The mappings of a response nest to 4, the response itself being the first; a list directly in a list counts as one.",
        "Give deeper places by a longer pointer instead of a mapping in a mapping.";
    RESPONSE_READERS: Error "response.readers", "The response of a tool has at most 128 readers; each pointer, mapping and list below it is one.",
        "Select fewer fields, or split the tool.";
    RESPONSE_FIELDS_AND_VALUE: Error "response.fields_and_value", "A mapping has `fields` or `value`, not both.",
        "Use `fields` for an object of named readers, `value` for a single one.";
    RESPONSE_FIELD_NAME: Error "response.field_name", "The name of a field is one line of 1 to 128 characters that the text cleaner would leave as it is, and none of `__proto__`, `constructor`, `prototype`.",
        "Use plain words: the model reads the name beside the value. Names are refused, never repaired.";
    RESPONSE_NEEDS_EACH: Error "response.needs_each", "`limit`, `take`, `as` and `join` stand only beside `each`.",
        "Add `\"each\": true` for the items of an array or `\"each\": \"values\"` for the members of an object, or remove the member.";
    RESPONSE_AS_OBJECT: Error "response.as_object", "`as` stands only beside `\"each\": \"values\"`.",
        "The items of an array have no keys to keep: remove `as`.";
    RESPONSE_JOIN: Error "response.join", "`join` makes one text of single values: it stands beside neither `fields` nor `as`.",
        "Give the one value of each item with `value`, or leave `join` out to get a list.";
    RESPONSE_JOIN_TEXT: Error "response.join_text", "The text of `join` is at most 64 characters that the text cleaner would leave as they are.",
        "Use a short separator such as `, ` or a line feed.";
    RESPONSE_TEXT_FORMAT: Error "response.text_format", "Under `\"format\": \"text\"` nothing reads JSON: no `from`, `each`, `fields`, `value`, `error.if` or `error.unless`.",
        "Remove the readers, or remove `format`. `error.message` may stay: it is read from error answers that are JSON.";
    RESPONSE_ERROR_EMPTY: Error "response.error_empty", "`error` has at least one of `message`, `if` and `unless`.",
        "Remove `error`, or say where the message stands: `{\"message\": \"/detail\"}`.";
    RESPONSE_MAX_CHARS: Warning "response.max_chars", "A whole result has room for its frame: `maxChars` of a response is 256 or more.",
        "The tool's name, the status and the count of what was left out take part of it; with less, little or nothing of the answer is shown.";
}
