//! JSON Pointer (RFC 6901).

use std::fmt;

use super::value::Value;

/// Where a walk through a document stands; costs nothing until it is printed as an RFC 6901 pointer.
#[derive(Debug, Clone, Copy)]
pub enum Path<'a> {
    /// The whole document, `""`.
    Root,
    /// Below the first path, a pointer that was printed before.
    Tail(&'a Path<'a>, &'a str),
    /// A member of the object at the first path.
    Name(&'a Path<'a>, &'a str),
    /// An item of the array at the first path.
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    /// The path of a member.
    pub fn name(&'a self, name: &'a str) -> Path<'a> {
        Path::Name(self, name)
    }

    /// The path of an item.
    pub fn index(&'a self, index: usize) -> Path<'a> {
        Path::Index(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Tail(parent, text) => write!(f, "{parent}{text}"),
            Path::Name(parent, name) => {
                write!(f, "{parent}/")?;
                for part in name.split_inclusive(['~', '/']) {
                    match part.as_bytes().last() {
                        Some(b'~') => write!(f, "{}~0", part.strip_suffix('~').unwrap_or(part))?,
                        Some(b'/') => write!(f, "{}~1", part.strip_suffix('/').unwrap_or(part))?,
                        _ => f.write_str(part)?,
                    }
                }
                Ok(())
            }
            Path::Index(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

/// The value at a pointer, or nothing when the pointer is ill-formed or leads nowhere (RFC 6901 section 4:
/// an array index has no leading zero; `-` names no existing item).
pub fn resolve<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    if pointer.is_empty() {
        return Some(value);
    }
    let mut value = value;
    for token in pointer.strip_prefix('/')?.split('/') {
        value = match value {
            Value::Object(object) if token.contains('~') => object.get(&unescape(token)?)?,
            Value::Object(object) => object.get(token)?,
            Value::Array(items) => items.get(index(token)?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// One reference token without its escapes; nothing when a `~` is not followed by `0` or `1`.
pub(super) fn unescape(token: &str) -> Option<String> {
    let mut out = String::with_capacity(token.len());
    let mut rest = token.chars();
    while let Some(c) = rest.next() {
        out.push(if c == '~' {
            match rest.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            }
        } else {
            c
        });
    }
    Some(out)
}

fn index(token: &str) -> Option<usize> {
    let plain = token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    plain.then(|| token.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_text;

    /// RFC 6901 section 5.
    #[test]
    fn the_examples_of_the_rfc_resolve() {
        let text =
            r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
        let document = read_text(text).unwrap();
        for (pointer, expected) in [
            ("", text),
            ("/foo", r#"["bar","baz"]"#),
            ("/foo/0", r#""bar""#),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ] {
            assert_eq!(
                resolve(&document, pointer).map(Value::to_text).as_deref(),
                Some(expected),
                "{pointer}"
            );
        }
        for nowhere in ["foo", "/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/m~n", "/m~2n", "/foo/0/x"] {
            assert_eq!(resolve(&document, nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn a_path_prints_as_the_pointer_that_resolves() {
        let (root, list) = (Path::Root, "m~/n");
        let member = root.name(list);
        assert_eq!(member.index(3).to_string(), "/m~0~1n/3");
        assert_eq!(unescape("m~0~1n").as_deref(), Some(list));
    }
}
