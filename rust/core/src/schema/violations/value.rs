//! The keywords about single kinds of values.

use std::cmp::Ordering;

use super::{Extra, Place, Walk, required_names};
use crate::json::{Number, Object, Path, Quoted, Value};
use crate::schema::Formats;
use crate::schema::accepts::all_differ;
use crate::schema::compile::Reading;
use crate::schema::compile::keywords::{Keywords, count, members};
use crate::schema::compile::scalar::Kinds;
use crate::schema::decimal::{Dec, Real};
use crate::schema::strings::formats;

impl<'s> Walk<'s> {
    /// What a schema object says itself.
    pub(super) fn own(
        &mut self,
        keywords: &Keywords<'s>,
        extra: &Extra<'s>,
        reading: Reading,
        value: &Value,
        at: Place<'_>,
    ) {
        if let Some(kinds) = keywords.kinds
            && !Kinds::of(Some(kinds)).has(value)
        {
            let names = kinds.as_array().unwrap_or(std::slice::from_ref(kinds)).iter();
            let names: Vec<_> = names.filter_map(Value::as_str).collect();
            self.report(at, "type", format_args!("the value is not of type {}", names.join(" or ")));
        }
        if let Some(values) = keywords.values.and_then(Value::as_array)
            && !values.contains(value)
        {
            self.report(
                at,
                "enum",
                format_args!("the value is none of the {} that are listed", values.len()),
            );
        }
        if let Some(constant) = keywords.constant
            && constant != value
        {
            self.report(at, "const", format_args!("the value is not the one that is given"));
        }
        match value {
            Value::Number(number) => self.number(keywords, number, at),
            Value::String(text) => self.string(keywords, text, at),
            Value::Array(items) => self.array(keywords, items, reading, at),
            Value::Object(object) => self.object(keywords, extra, object, reading, at),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn number(&mut self, keywords: &Keywords<'s>, number: &Number, at: Place<'_>) {
        if !keywords.constrains_numbers() {
            return;
        }
        let real = Real::of(number);
        let bounds = [
            (
                "minimum",
                keywords.minimum,
                keywords.exclusive_minimum,
                "exclusiveMinimum",
                Ordering::Less,
                "below",
            ),
            (
                "maximum",
                keywords.maximum,
                keywords.exclusive_maximum,
                "exclusiveMaximum",
                Ordering::Greater,
                "above",
            ),
        ];
        for (name, bound, exclusive, exclusive_name, beyond, word) in bounds {
            let strict = exclusive == Some(&Value::Bool(true));
            if let Some((written, dec)) = dec(bound) {
                let order = real.compare(dec);
                if order == beyond {
                    self.report(at, name, format_args!("the number is {word} {written}"));
                } else if strict && order == Ordering::Equal {
                    self.report(at, exclusive_name, format_args!("the number is not beyond {written}"));
                }
            }
            if let Some((written, dec)) = dec(exclusive)
                && real.compare(dec) != beyond.reverse()
            {
                self.report(at, exclusive_name, format_args!("the number is {word} or equal to {written}"));
            }
        }
        if let Some((written, step)) = dec(keywords.multiple_of)
            && !real.is_multiple_of(step)
        {
            self.report(at, "multipleOf", format_args!("the number is no multiple of {written}"));
        }
    }

    fn string(&mut self, keywords: &Keywords<'s>, text: &str, at: Place<'_>) {
        if !keywords.constrains_strings() {
            return;
        }
        let length = text.chars().count() as u64;
        if let Some(least) = count(keywords.min_length).filter(|least| length < *least) {
            self.report(at, "minLength", format_args!("the string is shorter than {least} characters"));
        }
        if let Some(most) = count(keywords.max_length).filter(|most| length > *most) {
            self.report(at, "maxLength", format_args!("the string is longer than {most} characters"));
        }
        if let Some(pattern) = keywords.pattern.and_then(Value::as_str)
            && self.schema.patterns.get(pattern).is_some_and(|compiled| !compiled.matches(text))
        {
            self.report(
                at,
                "pattern",
                format_args!("the string does not match the pattern {}", Quoted(pattern)),
            );
        }
        if let Some(name) = keywords.format.and_then(Value::as_str)
            && self.schema.options.formats == Formats::Assert
            && let Some(formats::Format::Exact(dfa)) = formats::lookup(name)
            && !dfa.matches(text)
        {
            self.report(at, "format", format_args!("the string does not have the format {name}"));
        }
    }

    fn array(&mut self, keywords: &Keywords<'s>, items: &[Value], reading: Reading, at: Place<'_>) {
        if !keywords.constrains_arrays() {
            return;
        }
        let length = items.len() as u64;
        if let Some(least) = count(keywords.min_items).filter(|least| length < *least) {
            self.report(at, "minItems", format_args!("the array has fewer than {least} items"));
        }
        if let Some(most) = count(keywords.max_items).filter(|most| length > *most) {
            self.report(at, "maxItems", format_args!("the array has more than {most} items"));
        }
        if keywords.unique_items == Some(&Value::Bool(true)) && !all_differ(items) {
            self.report(at, "uniqueItems", format_args!("two items of the array are equal"));
        }
        let (places, rest) = keywords.item_schemas();
        for (place, item) in items.iter().enumerate() {
            if self.is_done() {
                return;
            }
            if let Some(schema) = places.get(place).or(rest) {
                let path = at.index(place);
                self.root(schema, item, reading, Place { path: &path, ..at });
            }
        }
        if let Some(schema) = keywords.contains {
            let least = count(keywords.min_contains).unwrap_or(1);
            let fitting =
                items.iter().filter(|item| !self.fails(|walk| walk.root(schema, item, Reading::Open, at)));
            let fitting = fitting.count() as u64;
            if fitting < least {
                let keyword = if keywords.min_contains.is_some() { "minContains" } else { "contains" };
                self.report(
                    at,
                    keyword,
                    format_args!("fewer than {least} items are of the kind that is asked for"),
                );
            }
            if let Some(most) = count(keywords.max_contains).filter(|most| fitting > *most) {
                let message = format_args!("more than {most} items are of the kind that is counted");
                self.report(at, "maxContains", message);
            }
        }
    }

    fn object(
        &mut self,
        keywords: &Keywords<'s>,
        extra: &Extra<'s>,
        object: &Object,
        reading: Reading,
        at: Place<'_>,
    ) {
        if !keywords.constrains_objects() && matches!(extra, Extra::AsSaid) {
            return;
        }
        let length = object.len() as u64;
        if let Some(least) = count(keywords.min_properties).filter(|least| length < *least) {
            self.report(at, "minProperties", format_args!("the object has fewer than {least} members"));
        }
        if let Some(most) = count(keywords.max_properties).filter(|most| length > *most) {
            self.report(at, "maxProperties", format_args!("the object has more than {most} members"));
        }
        self.required(required_names(keywords), "required", object, at);
        for (name, schema) in members(keywords.properties) {
            if let Some(value) = object.get(name) {
                let path = at.name(name);
                self.root(schema, value, reading, Place { path: &path, ..at });
            }
        }
        let declared = keywords.properties.and_then(Value::as_object);
        for (key, value) in object.iter() {
            if self.is_done() {
                return;
            }
            self.key(keywords, extra, (key, value), declared, reading, at);
        }
    }

    /// What is said of a member by its key, other than by name.
    fn key(
        &mut self,
        keywords: &Keywords<'s>,
        extra: &Extra<'s>,
        (key, value): (&str, &Value),
        declared: Option<&Object>,
        reading: Reading,
        at: Place<'_>,
    ) {
        let named = declared.is_some_and(|declared| declared.contains_key(key));
        let path: Path<'_> = if named { at.name(key) } else { *at.path };
        let below = Place { path: &path, hidden: at.hidden || !named };
        let matches = |pattern: &str| self.schema.patterns.get(pattern).is_some_and(|p| p.matches(key));
        let matching: Vec<&'s Value> = members(keywords.pattern_properties)
            .filter(|(p, _)| matches(p))
            .map(|(_, schema)| schema)
            .collect();
        let elsewhere = match extra {
            Extra::ClosedOver(names) => names.contains(key) || names.patterns().iter().any(|p| matches(p)),
            Extra::AsSaid | Extra::Closed => false,
        };
        for schema in &matching {
            self.root(schema, value, reading, below);
        }
        if let Some(schema) = keywords.property_names {
            let name = Value::from(key);
            if self.fails(|walk| walk.root(schema, &name, reading, at)) {
                self.report(at, "propertyNames", format_args!("the object has a key that is not allowed"));
            }
        }
        if named || !matching.is_empty() {
            return;
        }
        match (keywords.additional_properties, extra) {
            (Some(Value::Bool(true)), _) | (None, Extra::AsSaid) => {}
            (Some(Value::Bool(false)), _) => self.undeclared(at),
            (Some(schema), _) => self.root(schema, value, reading, below),
            (None, Extra::Closed | Extra::ClosedOver(_)) if elsewhere => {}
            (None, Extra::Closed | Extra::ClosedOver(_)) => self.undeclared(at),
        }
    }

    fn undeclared(&mut self, at: Place<'_>) {
        self.report(at, "additionalProperties", format_args!("the object has a member that is not declared"));
    }
}

/// A bound, as it is written and as it is compared.
fn dec(value: Option<&Value>) -> Option<(&Number, Dec)> {
    let number = value?.as_number()?;
    Some((number, Dec::from_number(number)?))
}
