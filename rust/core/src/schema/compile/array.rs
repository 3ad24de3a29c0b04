//! `items`, `prefixItems`, `additionalItems`, `minItems`, `maxItems`, `uniqueItems`, `contains`.

use super::keywords::{Keywords, count};
use super::scalar::counts;
use super::{Compiler, Reading};
use crate::json::{Path, Value};
use crate::schema::arena::Id;
use crate::schema::array::{Arr, Count};
use crate::schema::set::Clause;
use crate::schema::string::is_empty;

impl<'s> Compiler<'s, '_> {
    /// What arrays are let through.
    pub(super) fn arrays(
        &mut self,
        keywords: &Keywords<'s>,
        reading: Reading,
        path: &Path<'_>,
    ) -> Vec<Clause<Arr>> {
        if !keywords.constrains_arrays() {
            return vec![Arr::ANY.into()];
        }
        let (places, rest) = keywords.item_schemas();
        let older = keywords.prefix_items.is_none();
        let (prefix_name, rest_name) =
            if older && !places.is_empty() { ("items", "additionalItems") } else { ("prefixItems", "items") };
        let prefix_path = path.name(prefix_name);
        let mut array = Arr::ANY;
        for (at, schema) in places.iter().enumerate() {
            let item = self.root(schema, &prefix_path.index(at), reading);
            array.prefix.push(item);
        }
        if let Some(schema) = rest {
            array.rest = self.root(schema, &path.name(rest_name), reading);
        }
        let Some(length) = counts(keywords.min_items, keywords.max_items) else { return Vec::new() };
        array.length = length;
        array.unique = keywords.unique_items == Some(&Value::Bool(true));
        let excluded = self.contained(keywords, &mut array, path);
        // No item fits where nothing does: the array ends before.
        let items = array.prefix.iter().chain([&array.rest]);
        if let Some(most) = items.into_iter().position(|item| *item == Id::NEVER) {
            array.length.1 = Some(array.length.1.map_or(most as u64, |known| known.min(most as u64)));
        }
        if is_empty(array.length) || array.counts.iter().any(|count| is_empty(count.count)) {
            return Vec::new();
        }
        vec![Clause { pos: array, neg: excluded.into_iter().collect() }]
    }

    /// `contains` with its counts. "At least one" is every array but those without; "none" is said of each item.
    fn contained(&mut self, keywords: &Keywords<'s>, array: &mut Arr, path: &Path<'_>) -> Option<Arr> {
        let schema = keywords.contains?;
        let of = self.root(schema, &path.name("contains"), Reading::Open);
        let range = (count(keywords.min_contains).unwrap_or(1), count(keywords.max_contains));
        match range {
            (0, None) => None,
            (1, None) => {
                let rest = self.arena.diff(Id::PRESENT, of);
                Some(Arr { rest, ..Arr::ANY })
            }
            (0, Some(0)) => {
                for item in array.prefix.iter_mut().chain([&mut array.rest]) {
                    *item = self.arena.diff(*item, of);
                }
                None
            }
            count => {
                array.counts.push(Count { of, count });
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::testing::{broken, check, open};

    #[test]
    fn items_by_place_and_for_the_rest() {
        let schema =
            open(r#"{"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": {"type": "null"}}"#);
        check(
            &schema,
            &["[]", "[\"a\"]", "[\"a\",1,null,null]", "7"],
            &["[1]", "[\"a\",\"b\"]", "[\"a\",1,2]"],
        );
        let older = open(r#"{"items": [{"type": "string"}], "additionalItems": false}"#);
        check(&older, &["[]", "[\"a\"]"], &["[1]", "[\"a\",1]"]);
        check(
            &open(r#"{"items": {"type": "string"}, "additionalItems": false}"#),
            &["[\"a\",\"b\"]"],
            &["[1]"],
        );
        check(&open(r#"{"items": false}"#), &["[]", "{}"], &["[0]"]);
    }

    #[test]
    fn lengths_and_differing_items() {
        check(&open(r#"{"minItems": 1, "maxItems": 2}"#), &["[0]", "[0,0]"], &["[]", "[0,0,0]"]);
        check(
            &open(r#"{"uniqueItems": true}"#),
            &["[]", "[1,true]"],
            &["[1,1.0]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]"],
        );
    }

    #[test]
    fn contains_counts_the_items_of_a_kind() {
        check(&open(r#"{"contains": {"minimum": 5}}"#), &["[1,5]", "7"], &["[]", "[1,2]"]);
        let counted = open(r#"{"contains": {"const": 1}, "minContains": 2, "maxContains": 3}"#);
        check(&counted, &["[1,1]", "[1,2,1,1]"], &["[1]", "[1,1,1,1]", "[]"]);
        check(&open(r#"{"contains": {"const": 1}, "minContains": 0}"#), &["[]", "[2]"], &[]);
        check(&open(r#"{"contains": {"const": 1}, "minContains": 0, "maxContains": 0}"#), &["[2]"], &["[1]"]);
        check(&open(r#"{"minContains": 2}"#), &["[]"], &[]);
    }

    #[test]
    fn what_no_array_can_be_is_refused() {
        for schema in [
            r#"{"type": "array", "minItems": 2, "maxItems": 1}"#,
            r#"{"type": "array", "minItems": 1, "items": false}"#,
            r#"{"type": "array", "minItems": 2, "prefixItems": [{}, false]}"#,
            r#"{"type": "array", "minItems": 3, "uniqueItems": true, "items": {"type": "boolean"}}"#,
            r#"{"type": "array", "contains": {"type": "string"}, "items": {"type": "integer"}}"#,
            r#"{"type": "array", "contains": {"type": "null"}, "minContains": 2, "maxItems": 1}"#,
            r#"{"type": "array", "contains": {"const": 1}, "minContains": 3, "maxContains": 2}"#,
            r#"{"type": "array", "items": {"const": 1}, "minItems": 3, "contains": {"const": 1}, "maxContains": 2}"#,
        ] {
            assert_eq!(
                broken(schema).first().map(|(rule, _)| *rule),
                Some("schema.unsatisfiable"),
                "{schema}"
            );
        }
    }
}
