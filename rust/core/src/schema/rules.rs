//! The rules of parameter schemas.

use crate::rules;

rules! {
    TOO_LARGE: Error "schema.too_large", "A schema is at most 65,536 bytes in its RFC 8785 form.",
        "Shorten descriptions, or split the tool.";
    TOO_DEEP: Error "schema.too_deep", "A schema nests at most 16 levels, a scalar being 0.",
        "Move nested schemas into $defs and refer to them.";
    SHAPE: Error "schema.shape", "A schema is an object, or true or false.",
        "Write an object with keywords; {} takes anything.";
    KEYWORD_UNKNOWN: Error "schema.keyword_unknown", "A keyword is one of the profile, or starts with `x-`.",
        "A keyword that would be ignored could not be enforced: remove it, correct its spelling, or say it in the description.";
    KEYWORD_UNSUPPORTED: Error "schema.keyword_unsupported", "A keyword that cannot be enforced exactly is not used.",
        "Declare the properties where they are used with `properties` and `additionalProperties`, and refer with `$ref` to `#/$defs/...`.";
    KEYWORD_VALUE: Error "schema.keyword_value", "A keyword has a value of the kind that JSON Schema gives it.",
        "Correct the value; a keyword with a wrong value would be ignored.";
    DIALECT: Error "schema.dialect", "`$schema` is JSON Schema 2020-12 or draft-07, the same everywhere in a schema.",
        "Write https://json-schema.org/draft/2020-12/schema, or leave `$schema` out.";
    REFERENCE_REMOTE: Error "schema.reference_remote", "A `$ref` points into its own schema: `#` or `#/...`.",
        "Copy the schema that is meant into $defs and refer to it there; nothing is ever fetched.";
    REFERENCE_MISSING: Error "schema.reference_missing", "A `$ref` leads to a place that exists.",
        "Correct the pointer, or add the definition.";
    REFERENCE_TARGET: Error "schema.reference_target", "A `$ref` leads to a schema.",
        "Move what is meant into $defs; an annotation or a value is no schema.";
    REFERENCE_VACUOUS: Error "schema.reference_vacuous", "A `$ref` does not lead back to itself without going into a value.",
        "Remove the reference, or put it under a property or an item.";
    REFERENCE_SIBLINGS: Error "schema.reference_siblings", "Under draft-07 nothing but annotations stands beside `$ref`, since it would be ignored.",
        "Wrap the reference: `allOf: [{\"$ref\": ...}]`, or use JSON Schema 2020-12.";
    REQUIRED_UNDECLARED: Error "schema.required_undeclared", "What `required` names is declared where no other properties are taken.",
        "Add the property, correct its name, or set `additionalProperties`: an object schema that lists `properties` takes no others.";
    UNSATISFIABLE: Error "schema.unsatisfiable", "Some value is valid.",
        "The constraints here contradict each other; no call could ever be made.";
    NOT_OBJECT: Error "schema.not_object", "The parameters of a tool are an object.",
        "Write `\"type\": \"object\"` at the top and name each parameter under `properties`.";
    PATTERN_SYNTAX: Error "schema.pattern_syntax", "A pattern is a regular expression of ECMA-262 with the `u` flag.",
        "Correct the pattern; in JSON a backslash is written twice.";
    PATTERN_UNSUPPORTED: Error "schema.pattern_unsupported", "A pattern has no look-around but right after a leading `^`, no back-reference and no `\\p`.",
        "Write the pattern without it, or use `enum`, lengths or a second pattern under `allOf`.";
    PATTERN_TOO_LARGE: Error "schema.pattern_too_large", "A pattern needs at most 4,096 states.",
        "Use `minLength` and `maxLength` instead of large counts, or a simpler pattern.";
    NUMBER_TOO_LONG: Error "schema.number_too_long", "A number in a schema has at most 30 significant digits.",
        "Round it.";
    TOO_COSTLY: Error "schema.too_costly", "Deciding about a schema takes few steps.",
        "Write fewer alternatives over the same properties, or simpler patterns.";
    IDENTITY: Error "schema.identity", "Names, values, patterns, defaults and examples hold no control character and no control token of a model.",
        "Remove it. In a pattern write an escape such as \\\\n instead of the character.";
}
