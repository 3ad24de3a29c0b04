//! The keywords of the profile, and what the value of each must be.

/// What a keyword is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    /// Changes nothing, whatever its value.
    Annotation,
    /// Changes nothing; its strings are samples of values (`default`, `examples`).
    Sample,
    /// A schema.
    Schema,
    /// A schema, or under draft-07 a list of schemas (`items`).
    Items,
    /// A list of schemas, not empty.
    Schemas,
    /// Schemas by name (`properties`, `$defs`).
    SchemasByName,
    /// Schemas by pattern.
    SchemasByPattern,
    /// Schemas or lists of names, by name (`dependencies`).
    Dependencies,
    /// Lists of names, by name.
    NamesByName,
    /// A list of names.
    Names,
    /// An integer from 0.
    Count,
    /// A number.
    Number,
    /// A number above 0.
    Step,
    /// A number, or in the older spelling a truth value.
    Exclusive,
    /// A truth value.
    Flag,
    /// A string that is not compared with values.
    Text,
    /// A regular expression.
    Pattern,
    /// One kind of value or a list of kinds.
    Types,
    /// A list of values.
    Values,
    /// Any value (`const`).
    Value,
    /// `$ref`.
    Reference,
    /// `$schema`.
    Dialect,
    /// `$id`, which is an annotation at the top and a new base below.
    Base,
    /// Known to JSON Schema and not enforced here.
    Unsupported,
    /// Not known.
    Unknown,
}

/// What the keyword of this name is.
pub(super) fn keyword(name: &str) -> Keyword {
    use Keyword as K;
    match name {
        "type" => K::Types,
        "description" | "title" | "$comment" | "deprecated" | "readOnly" | "writeOnly" | "contentSchema"
        | "discriminator" | "externalDocs" | "xml" => K::Annotation,
        "default" | "examples" | "example" => K::Sample,
        "properties" | "$defs" | "definitions" | "dependentSchemas" => K::SchemasByName,
        "patternProperties" => K::SchemasByPattern,
        "required" => K::Names,
        "enum" => K::Values,
        "const" => K::Value,
        "items" => K::Items,
        "additionalProperties"
        | "additionalItems"
        | "propertyNames"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else" => K::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => K::Schemas,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => K::Count,
        "minimum" | "maximum" => K::Number,
        "exclusiveMinimum" | "exclusiveMaximum" => K::Exclusive,
        "multipleOf" => K::Step,
        "uniqueItems" | "nullable" => K::Flag,
        "pattern" => K::Pattern,
        "format" | "contentEncoding" | "contentMediaType" => K::Text,
        "dependentRequired" => K::NamesByName,
        "dependencies" => K::Dependencies,
        "$ref" => K::Reference,
        "$schema" => K::Dialect,
        "$id" => K::Base,
        "unevaluatedProperties"
        | "unevaluatedItems"
        | "$dynamicRef"
        | "$dynamicAnchor"
        | "$recursiveRef"
        | "$recursiveAnchor"
        | "$anchor"
        | "$vocabulary" => K::Unsupported,
        _ if name.starts_with("x-") => K::Annotation,
        _ => K::Unknown,
    }
}

/// Whether a keyword changes what a schema accepts, or holds schemas that do; `$ref` hides these under draft-07.
pub(super) fn asserts(name: &str) -> bool {
    !matches!(
        keyword(name),
        Keyword::Annotation | Keyword::Sample | Keyword::Dialect | Keyword::Base | Keyword::Reference
    ) && !matches!(name, "$defs" | "definitions" | "contentEncoding" | "contentMediaType")
}
