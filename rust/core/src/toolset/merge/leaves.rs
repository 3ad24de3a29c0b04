//! Where two JSON documents differ.

use crate::json::{Object, Path, Value};

/// A place where two documents differ, as deep as it can be named.
pub(super) struct Leaf {
    pub(super) pointer: String,
    pub(super) before: Option<Value>,
    pub(super) after: Option<Value>,
}

/// Every difference. Where order can be seen on the wire or by the model, another order is one.
pub(super) fn leaves(before: &Value, after: &Value) -> Vec<Leaf> {
    let mut found = Vec::new();
    walk(Some(before), Some(after), &Path::Root, 0, Order::Free, &mut found);
    found
}

/// Whether the order of members counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Not here, and perhaps further down.
    Free,
    Seen,
}

fn walk(
    before: Option<&Value>,
    after: Option<&Value>,
    at: &Path<'_>,
    depth: usize,
    order: Order,
    found: &mut Vec<Leaf>,
) {
    match (before, after) {
        (Some(Value::Object(x)), Some(Value::Object(y))) => {
            let more = y.keys().filter(|name| !x.contains_key(name));
            for name in x.keys().chain(more) {
                // tool -> response; tool -> request -> query, headers, body
                let seen = match depth {
                    1 => name == "response",
                    2 => matches!(name.as_str(), "query" | "headers" | "body"),
                    _ => false,
                };
                let order = if seen { Order::Seen } else { order };
                walk(x.get(name), y.get(name), &at.name(name), depth + 1, order, found);
            }
            let common = |object: &Object, other: &Object| {
                object.keys().filter(|name| other.contains_key(name)).cloned().collect::<Vec<_>>()
            };
            let (x, y) = (common(x, y), common(y, x));
            if order == Order::Seen && x != y {
                let names = |names: Vec<smol_str::SmolStr>| {
                    Some(Value::Array(names.into_iter().map(Value::String).collect()))
                };
                found.push(Leaf { pointer: at.to_string(), before: names(x), after: names(y) });
            }
        }
        (Some(Value::Array(x)), Some(Value::Array(y))) if x.len() == y.len() => {
            for (index, (x, y)) in x.iter().zip(y).enumerate() {
                walk(Some(x), Some(y), &at.index(index), depth + 1, order, found);
            }
        }
        _ if before == after => {}
        _ => {
            let (before, after) = (before.cloned(), after.cloned());
            found.push(Leaf { pointer: at.to_string(), before, after });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_text;

    fn pointers(before: &str, after: &str) -> Vec<String> {
        let (before, after) = (read_text(before).unwrap(), read_text(after).unwrap());
        leaves(&before, &after).into_iter().map(|leaf| leaf.pointer).collect()
    }

    #[test]
    fn differences_are_named_as_deep_as_they_can_be() {
        assert_eq!(pointers(r#"{"a":{"b":1,"c":[1,2]}}"#, r#"{"a":{"b":2,"c":[1,3]}}"#), ["/a/b", "/a/c/1"]);
        assert_eq!(pointers(r#"{"a":[1],"b":1}"#, r#"{"a":[1,2],"c":1}"#), ["/a", "/b", "/c"]);
        assert_eq!(pointers(r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":1}"#), Vec::<String>::new());
    }

    #[test]
    fn another_order_is_a_difference_where_it_can_be_seen() {
        let with = |query: &str| format!(r#"{{"tool":{{"request":{{"query":{query},"method":"GET"}}}}}}"#);
        let (before, after) = (with(r#"{"a":1,"b":2}"#), with(r#"{"b":2,"a":1}"#));
        assert_eq!(pointers(&before, &after), ["/tool/request/query"]);
        // One more in between is told as such, and the rest keep their order.
        assert_eq!(pointers(&before, &with(r#"{"a":1,"c":3,"b":2}"#)), ["/tool/request/query/c"]);
    }
}
