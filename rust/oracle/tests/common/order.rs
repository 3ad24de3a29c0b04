//! Values in the order in which llama.rn's grammars take the members of an object.

use serde_json::{Map, Value};

/// The most spellings of one value that are tried.
const MOST: usize = 64;

/// The value as the converter's grammar of a schema may take it: required members first, then the others, both as
/// declared. Several where alternatives order them differently.
pub fn ordered(value: &Value, schema: &Value, root: &Value) -> Vec<Value> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null);
        return ordered(value, target, root);
    }
    if let Some(list) = schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array) {
        let mut all: Vec<Value> = list.iter().flat_map(|one| ordered(value, one, root)).collect();
        // Two of other orders are equal as values.
        let mut known = std::collections::BTreeSet::new();
        all.retain(|one| known.insert(one.to_string()));
        all.truncate(MOST);
        return all;
    }
    match value {
        Value::Array(items) => {
            let mut lists = vec![Vec::new()];
            for (place, item) in items.iter().enumerate() {
                let prefix = schema.get("prefixItems").and_then(|prefix| prefix.get(place));
                let below = prefix.or(schema.get("items")).unwrap_or(&Value::Null);
                lists = product(&lists, &ordered(item, below, root));
            }
            lists.into_iter().map(Value::Array).collect()
        }
        Value::Object(members) => {
            let none = Map::new();
            let declared = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
            let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            let is_required = |name: &&String| required.iter().any(|known| known == name.as_str());
            let others = schema.get("additionalProperties").unwrap_or(&Value::Null);
            let mut names: Vec<&String> = declared.keys().filter(is_required).collect();
            names.extend(declared.keys().filter(|name| !is_required(name)));
            names.extend(members.keys().filter(|name| !declared.contains_key(*name)));
            names.retain(|name| members.contains_key(*name));
            let mut lists = vec![Vec::new()];
            for name in &names {
                let below = declared.get(*name).unwrap_or(others);
                lists = product(&lists, &ordered(&members[*name], below, root));
            }
            let object = |values: Vec<Value>| names.iter().map(|name| (*name).clone()).zip(values).collect();
            lists.into_iter().map(|values| Value::Object(object(values))).collect()
        }
        other => vec![other.clone()],
    }
}

fn product(lists: &[Vec<Value>], ends: &[Value]) -> Vec<Vec<Value>> {
    let longer = |list: &Vec<Value>| {
        let list = list.clone();
        ends.iter().map(move |end| [list.clone(), vec![end.clone()]].concat())
    };
    lists.iter().flat_map(longer).take(MOST).collect()
}
