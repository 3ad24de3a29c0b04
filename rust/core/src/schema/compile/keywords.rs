//! The keywords of one schema object, found in one walk over its members.

use crate::json::{Object, Value};

macro_rules! keywords {
    ($($field:ident $name:literal;)*) => {
        /// The keywords of one schema object that change what it accepts.
        #[derive(Default)]
        pub(crate) struct Keywords<'s> {
            $(pub(crate) $field: Option<&'s Value>,)*
        }

        impl<'s> Keywords<'s> {
            /// The keywords of an object.
            pub(crate) fn of(object: &'s Object) -> Self {
                let mut keywords = Self::default();
                for (name, value) in object.iter() {
                    match name.as_str() {
                        $($name => keywords.$field = Some(value),)*
                        _ => {}
                    }
                }
                keywords
            }
        }
    };
}

keywords! {
    kinds "type";
    values "enum";
    constant "const";
    minimum "minimum";
    maximum "maximum";
    exclusive_minimum "exclusiveMinimum";
    exclusive_maximum "exclusiveMaximum";
    multiple_of "multipleOf";
    min_length "minLength";
    max_length "maxLength";
    pattern "pattern";
    format "format";
    prefix_items "prefixItems";
    items "items";
    additional_items "additionalItems";
    min_items "minItems";
    max_items "maxItems";
    unique_items "uniqueItems";
    contains "contains";
    min_contains "minContains";
    max_contains "maxContains";
    properties "properties";
    required "required";
    additional_properties "additionalProperties";
    pattern_properties "patternProperties";
    property_names "propertyNames";
    min_properties "minProperties";
    max_properties "maxProperties";
    dependent_required "dependentRequired";
    dependent_schemas "dependentSchemas";
    dependencies "dependencies";
    all_of "allOf";
    any_of "anyOf";
    one_of "oneOf";
    not "not";
    condition "if";
    then "then";
    otherwise "else";
    reference "$ref";
    nullable "nullable";
}

impl<'s> Keywords<'s> {
    /// Whether other schemas speak about the same value, so that closing is a matter of all of them.
    pub(crate) fn combines(&self) -> bool {
        self.all_of.is_some()
            || self.any_of.is_some()
            || self.one_of.is_some()
            || self.condition.is_some()
            || self.reference.is_some()
            || self.dependent_schemas.is_some()
            || self.dependencies.is_some()
    }

    /// Whether the object has keywords about single kinds of values.
    pub(crate) fn constrains(&self) -> bool {
        self.kinds.is_some()
            || self.constrains_scalars()
            || self.constrains_arrays()
            || self.constrains_objects()
    }

    /// Whether there are keywords about numbers or strings.
    pub(crate) fn constrains_scalars(&self) -> bool {
        self.constrains_numbers() || self.constrains_strings()
    }

    /// Whether there are keywords about numbers.
    pub(crate) fn constrains_numbers(&self) -> bool {
        self.minimum.is_some()
            || self.maximum.is_some()
            || self.exclusive_minimum.is_some()
            || self.exclusive_maximum.is_some()
            || self.multiple_of.is_some()
    }

    /// Whether there are keywords about strings.
    pub(crate) fn constrains_strings(&self) -> bool {
        self.min_length.is_some()
            || self.max_length.is_some()
            || self.pattern.is_some()
            || self.format.is_some()
    }

    /// Whether there are keywords about arrays.
    pub(crate) fn constrains_arrays(&self) -> bool {
        self.prefix_items.is_some()
            || self.items.is_some()
            || self.min_items.is_some()
            || self.max_items.is_some()
            || self.unique_items.is_some()
            || self.contains.is_some()
    }

    /// Whether there are keywords about objects.
    pub(crate) fn constrains_objects(&self) -> bool {
        self.properties.is_some()
            || self.required.is_some()
            || self.additional_properties.is_some()
            || self.pattern_properties.is_some()
            || self.property_names.is_some()
            || self.min_properties.is_some()
            || self.max_properties.is_some()
    }

    /// The items that stand by place, and what the rest may be: `prefixItems` and `items`, or in the older
    /// spelling a list of `items` and `additionalItems`.
    pub(crate) fn item_schemas(&self) -> (&'s [Value], Option<&'s Value>) {
        match (self.prefix_items, self.items) {
            (None, Some(Value::Array(places))) => (places, self.additional_items),
            (prefix, rest) => (prefix.and_then(Value::as_array).unwrap_or_default(), rest),
        }
    }

    /// What the value has to match where a key is there: `dependentSchemas` and the schemas of `dependencies`.
    pub(crate) fn conditional_schemas(
        &self,
    ) -> impl Iterator<Item = (&'static str, &'s str, &'s Value)> + use<'s> {
        let newer = self.dependent_schemas.map(|value| ("dependentSchemas", value));
        let older = self.dependencies.map(|value| ("dependencies", value));
        let members = newer.into_iter().chain(older).flat_map(|(keyword, value)| {
            let object = value.as_object().into_iter().flat_map(Object::iter);
            object.map(move |(name, schema)| (keyword, name.as_str(), schema))
        });
        members.filter(|(_, _, schema)| schema.as_array().is_none())
    }

    /// Which names have to be there where a key is there: `dependentRequired` and the lists of `dependencies`.
    pub(crate) fn conditional_names(
        &self,
    ) -> impl Iterator<Item = (&'static str, &'s str, &'s [Value])> + use<'s> {
        let newer = self.dependent_required.map(|value| ("dependentRequired", value));
        let older = self.dependencies.map(|value| ("dependencies", value));
        newer.into_iter().chain(older).flat_map(|(keyword, value)| {
            let object = value.as_object().into_iter().flat_map(Object::iter);
            object.filter_map(move |(name, names)| Some((keyword, name.as_str(), names.as_array()?)))
        })
    }
}

/// The strings of a list.
pub(crate) fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str)
}

/// The members of an object.
pub(crate) fn members(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    value
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Object::iter)
        .map(|(name, value)| (name.as_str(), value))
}

/// A keyword that counts.
pub(crate) fn count(value: Option<&Value>) -> Option<u64> {
    value.and_then(Value::as_number).and_then(super::super::read::count)
}
