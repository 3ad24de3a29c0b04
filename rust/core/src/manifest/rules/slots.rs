//! Slots against the parameters: what each can be, and that nothing is dropped.

use rustc_hash::FxHashMap;

use super::{
    PARAMETER_ABSENT, PARAMETER_ABSENT_DESTRUCTIVE, PARAMETER_MIN_ITEMS, PARAMETER_NULLABLE,
    PARAMETER_OMIT_NEEDLESS, PARAMETER_REQUIRED, PARAMETER_TYPE, PARAMETER_UNDECLARED, PARAMETER_UNKNOWN,
    PARAMETER_UNUSED,
};
use crate::json::{Path, Quoted, Value};
use crate::manifest::document::{Effect, ToolDraft};
use crate::request::{AnySlot, Position, Slot, Source};
use crate::rule::Rule;
use crate::schema::{ArrayField, Field, Kinds, Schema};
use crate::shape::Reading;

/// Judges the slots of one tool against its parameters; `source` is the tool as it is written.
pub(in crate::manifest) fn check_slots(
    tool: &ToolDraft,
    source: &Value,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) {
    let Some(parameters) = &tool.parameters else { return };
    let schema = parameters.schema();
    check_closed(schema, source, at, reading);
    let Some(request) = &tool.request else { return };
    let mut properties: FxHashMap<&str, Use> =
        schema.properties().iter().map(|name| (name.as_str(), Use::default())).collect();
    let destructive = tool.effect == Some(Effect::Destructive);
    request.each_slot(&at.name("request"), &mut |at, position, slot| {
        let AnySlot::Slot(slot) = slot else { return };
        if slot.source != Source::Param {
            return;
        }
        let Some(used) = properties.get_mut(slot.name.as_str()) else {
            let message = format_args!("the parameters have no property `{}`", slot.name);
            reading.findings.add(&PARAMETER_UNKNOWN, at, message);
            return;
        };
        used.seen = true;
        // What a property can be is asked for once, however many slots it fills.
        if used.field.is_none() {
            used.field = schema.field(slot.name.as_str());
        }
        if let Some(field) = used.field {
            check_slot(slot, position, field, destructive, at, reading);
        }
    });
    if !request.is_complete() {
        // What could not be read may use a property all the same.
        let written = source.get("request").unwrap_or(&Value::Null);
        super::uses::each_name(written, &mut |kind, name| {
            if let ("$param", Some(used)) = (kind, properties.get_mut(name)) {
                used.seen = true;
            }
        });
    }
    let at = at.name("parameters");
    let written = source.get("parameters").unwrap_or(&Value::Null);
    for name in schema.properties() {
        if properties.get(name.as_str()).is_some_and(|used| !used.seen) {
            let message = format_args!("no slot of the request uses the property {}", Quoted(name));
            let place = place_of_property(written, name);
            reading.findings.add_name(&PARAMETER_UNUSED, &Path::Tail(&at, &place), message);
        }
    }
}

/// Where in a schema a top-level property is declared first: a pointer.
pub(super) fn place_of_property(schema: &Value, name: &str) -> String {
    find_property(schema, name, &Path::Root)
        .unwrap_or_else(|| Path::Root.name("properties").name(name).to_string())
}

fn find_property(schema: &Value, name: &str, at: &Path<'_>) -> Option<String> {
    let schema = schema.as_object()?;
    if schema.get("properties").and_then(|properties| properties.get(name)).is_some() {
        return Some(at.name("properties").name(name).to_string());
    }
    [
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "then",
        "else",
        "dependentSchemas",
        "dependencies",
        "$defs",
        "definitions",
    ]
    .into_iter()
    .find_map(|keyword| {
        let at = at.name(keyword);
        match schema.get(keyword)? {
            Value::Array(schemas) => {
                let mut schemas = schemas.iter().enumerate();
                schemas.find_map(|(index, schema)| find_property(schema, name, &at.index(index)))
            }
            Value::Object(schemas) if !matches!(keyword, "if" | "then" | "else") => {
                schemas.iter().find_map(|(key, schema)| find_property(schema, name, &at.name(key)))
            }
            schema => find_property(schema, name, &at),
        }
    })
}

/// What is known of a property while the slots are judged.
#[derive(Default)]
struct Use {
    field: Option<Field>,
    seen: bool,
}

/// Whether every member that the schema accepts is declared.
fn check_closed(schema: &Schema, source: &Value, at: &Path<'_>, reading: &mut Reading<'_>) {
    let additional = source.get("parameters").and_then(|schema| schema.get("additionalProperties"));
    let open = additional.is_some_and(|schema| schema.as_bool() != Some(false));
    if open || schema.takes_undeclared() {
        let at = at.name("parameters");
        let place = at.name("additionalProperties");
        let message = format_args!("the parameters take members that no property declares");
        reading.findings.add(&PARAMETER_UNDECLARED, if open { &place } else { &at }, message);
    }
}

fn check_slot(
    slot: &Slot,
    position: Position,
    field: Field,
    destructive: bool,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) {
    let name = &slot.name;
    let mut report =
        |rule: &'static Rule, message: std::fmt::Arguments<'_>| reading.findings.add(rule, at, message);
    let nullable = field.kinds.null;
    check_kinds(slot, position, field, &mut report);
    match position {
        Position::Path | Position::Joined => {
            if field.absent {
                report(&PARAMETER_REQUIRED, format_args!("the property `{name}` may be missing"));
            }
            if nullable {
                report(&PARAMETER_NULLABLE, format_args!("the property `{name}` may be null"));
            }
        }
        Position::Json => {
            if field.absent && !slot.options.omit_absent {
                report(&PARAMETER_ABSENT, format_args!("the property `{name}` may be missing"));
            }
            if slot.options.omit_absent && !field.absent {
                report(&PARAMETER_OMIT_NEEDLESS, format_args!("the property `{name}` is never missing"));
            }
            if slot.options.omit_null && !nullable {
                report(&PARAMETER_OMIT_NEEDLESS, format_args!("the property `{name}` is never null"));
            }
        }
        Position::Query | Position::Header | Position::Form | Position::Text => {
            let missing = field.absent || nullable;
            if missing && !slot.options.omit_absent {
                let how = if field.absent { "missing" } else { "null" };
                report(&PARAMETER_ABSENT, format_args!("the property `{name}` may be {how}"));
            }
            if slot.options.omit_absent && !missing {
                report(
                    &PARAMETER_OMIT_NEEDLESS,
                    format_args!("the property `{name}` is never missing or null"),
                );
            }
        }
    }
    if destructive && position == Position::Query && slot.options.omit_absent {
        report(&PARAMETER_ABSENT_DESTRUCTIVE, format_args!("a query slot of a destructive tool is left out"));
    }
}

fn check_kinds(
    slot: &Slot,
    position: Position,
    field: Field,
    report: &mut dyn FnMut(&'static Rule, std::fmt::Arguments<'_>),
) {
    let name = &slot.name;
    let options = slot.options;
    let fitting = match position {
        Position::Json => return,
        _ if options.array.is_some() => Kinds { array: true, ..Kinds::default() },
        _ if options.flag => Kinds { boolean: true, ..Kinds::default() },
        _ => scalars(),
    };
    let place = position.as_str();
    // Null is not placed but left out, or refused by a rule of its own.
    if !field.kinds.only(Kinds { null: true, ..fitting }) {
        let how = match (options.array, options.flag) {
            (Some(_), _) => " with `array`",
            (None, true) => " with `flag`",
            (None, false) => "",
        };
        let wrong = Wrong { kinds: field.kinds, fitting: Kinds { null: true, ..fitting } };
        report(
            &PARAMETER_TYPE,
            format_args!("the property `{name}` may be {wrong}, which no {place} slot{how} takes"),
        );
    }
    if let (Some(_), Some(ArrayField { min_items, items, .. })) = (options.array, field.array) {
        if !items.only(scalars()) {
            let wrong = Wrong { kinds: items, fitting: scalars() };
            report(
                &PARAMETER_TYPE,
                format_args!("an item of `{name}` may be {wrong}, which no {place} slot takes"),
            );
        }
        if min_items < 1 {
            report(&PARAMETER_MIN_ITEMS, format_args!("the array `{name}` may be empty"));
        }
    }
}

/// What stands as one text.
fn scalars() -> Kinds {
    Kinds { string: true, number: true, boolean: true, ..Kinds::default() }
}

/// The kinds that do not fit, in words.
struct Wrong {
    kinds: Kinds,
    fitting: Kinds,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kinds, fitting } = self;
        let all = [
            ("null", kinds.null && !fitting.null),
            ("a boolean", kinds.boolean && !fitting.boolean),
            ("a number", kinds.number && !fitting.number),
            ("a string", kinds.string && !fitting.string),
            ("an array", kinds.array && !fitting.array),
            ("an object", kinds.object && !fitting.object),
        ];
        let wrong: Vec<_> = all.iter().filter(|(_, wrong)| *wrong).map(|(word, _)| *word).collect();
        f.write_str(&wrong.join(" or "))
    }
}
