//! Slots against the parameters: what each can be, and that nothing is dropped.

use rustc_hash::FxHashMap;

use super::{
    PARAMETER_ABSENT, PARAMETER_ABSENT_DESTRUCTIVE, PARAMETER_MIN_ITEMS, PARAMETER_NULLABLE,
    PARAMETER_OMIT_NEEDLESS, PARAMETER_REQUIRED, PARAMETER_TYPE, PARAMETER_UNDECLARED, PARAMETER_UNKNOWN,
    PARAMETER_UNUSED,
};
use crate::json::{Path, Quoted, Value};
use crate::manifest::document::{Effect, ToolDraft};
use crate::manifest::parameters::{Kinds, Parameters, Property};
use crate::request::{AnySlot, Position, Slot, Source};
use crate::rule::Rule;
use crate::shape::Reading;

/// Judges the slots of one tool against its parameters; `source` is the tool as it is written.
pub(in crate::manifest) fn check_slots(
    tool: &ToolDraft,
    source: &Value,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) {
    let Some(parameters) = &tool.parameters else { return };
    check_closed(parameters, source, at, reading);
    let Some(request) = &tool.request else { return };
    let mut properties: FxHashMap<&str, (Property, bool)> =
        parameters.properties().map(|(name, property)| (name.as_str(), (property, false))).collect();
    let destructive = tool.effect == Some(Effect::Destructive);
    request.each_slot(&at.name("request"), &mut |at, position, slot| {
        let AnySlot::Slot(slot) = slot else { return };
        if slot.source != Source::Param {
            return;
        }
        let Some((property, used)) = properties.get_mut(slot.name.as_str()) else {
            let message = format_args!("the parameters have no property `{}`", slot.name);
            reading.findings.add(&PARAMETER_UNKNOWN, at, message);
            return;
        };
        *used = true;
        check_slot(slot, position, *property, destructive, at, reading);
    });
    if !request.is_complete() {
        // What could not be read may use a property all the same.
        let written = source.get("request").unwrap_or(&Value::Null);
        super::uses::each_name(written, &mut |kind, name| {
            if let ("$param", Some((_, used))) = (kind, properties.get_mut(name)) {
                *used = true;
            }
        });
    }
    let at = at.name("parameters");
    let at = at.name("properties");
    for (name, _) in parameters.properties() {
        if properties.get(name.as_str()).is_some_and(|(_, used)| !used) {
            let message = format_args!("no slot of the request uses the property {}", Quoted(name));
            reading.findings.add_name(&PARAMETER_UNUSED, &at.name(name), message);
        }
    }
}

/// Whether every member that the schema accepts is declared.
fn check_closed(parameters: &Parameters, source: &Value, at: &Path<'_>, reading: &mut Reading<'_>) {
    let additional = source.get("parameters").and_then(|schema| schema.get("additionalProperties"));
    let open = additional.is_some_and(|schema| schema.as_bool() != Some(false));
    if open || parameters.takes_undeclared() {
        let at = at.name("parameters");
        let place = at.name("additionalProperties");
        let message = format_args!("the parameters take members that no property declares");
        reading.findings.add(&PARAMETER_UNDECLARED, if open { &place } else { &at }, message);
    }
}

fn check_slot(
    slot: &Slot,
    position: Position,
    property: Property,
    destructive: bool,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) {
    let name = &slot.name;
    let mut report =
        |rule: &'static Rule, message: std::fmt::Arguments<'_>| reading.findings.add(rule, at, message);
    let nullable = property.kinds.meets(Kinds::NULL);
    check_kinds(slot, position, property, &mut report);
    match position {
        Position::Path | Position::Joined => {
            if property.optional {
                report(&PARAMETER_REQUIRED, format_args!("the property `{name}` may be missing"));
            }
            if nullable {
                report(&PARAMETER_NULLABLE, format_args!("the property `{name}` may be null"));
            }
        }
        Position::Json => {
            if property.optional && !slot.options.omit_absent {
                report(&PARAMETER_ABSENT, format_args!("the property `{name}` may be missing"));
            }
            if slot.options.omit_absent && !property.optional {
                report(&PARAMETER_OMIT_NEEDLESS, format_args!("the property `{name}` is never missing"));
            }
            if slot.options.omit_null && !nullable {
                report(&PARAMETER_OMIT_NEEDLESS, format_args!("the property `{name}` is never null"));
            }
        }
        Position::Query | Position::Header | Position::Form | Position::Text => {
            let missing = property.optional || nullable;
            if missing && !slot.options.omit_absent {
                let how = if property.optional { "missing" } else { "null" };
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
    property: Property,
    report: &mut dyn FnMut(&'static Rule, std::fmt::Arguments<'_>),
) {
    let name = &slot.name;
    let options = slot.options;
    let fitting = match position {
        Position::Json => return,
        _ if options.array.is_some() => Kinds::ARRAY,
        _ if options.flag => Kinds::BOOLEAN,
        _ => Kinds::SCALAR,
    };
    let wrong = property.kinds.without(fitting).without(Kinds::NULL);
    let place = position.as_str();
    if !wrong.is_empty() {
        let how = match (options.array, options.flag) {
            (Some(_), _) => " with `array`",
            (None, true) => " with `flag`",
            (None, false) => "",
        };
        report(
            &PARAMETER_TYPE,
            format_args!("the property `{name}` may be {wrong}, which no {place} slot{how} takes"),
        );
    }
    if options.array.is_some() && property.kinds.meets(Kinds::ARRAY) {
        let wrong = property.items.without(Kinds::SCALAR);
        if !wrong.is_empty() {
            report(
                &PARAMETER_TYPE,
                format_args!("an item of `{name}` may be {wrong}, which no {place} slot takes"),
            );
        }
        if property.min_items < 1 {
            report(&PARAMETER_MIN_ITEMS, format_args!("the array `{name}` may be empty"));
        }
    }
}
