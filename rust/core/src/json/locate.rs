//! Line and column of a finding, looked up only when there is one.

use rustc_hash::FxHashMap;

use super::pointer::unescape;
use crate::rule::{At, Finding};

/// A place in a text, for a person: both count from 1, columns in Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The places of findings in the text that they speak of, found in one walk.
#[derive(Debug)]
pub struct Locator {
    /// Starts of the lines, as byte offsets.
    lines: Vec<usize>,
    offsets: Vec<usize>,
}

impl Locator {
    /// Locates `findings` in `text`, the bytes that were read. A pointer that leads nowhere is located at its
    /// last ancestor that is there.
    pub fn new(text: &[u8], findings: &[Finding]) -> Self {
        let mut root = Node::default();
        for (at, finding) in findings.iter().enumerate() {
            if !matches!(finding.at, At::Offset(_)) {
                let node = finding.pointer.split('/').skip(1).fold(&mut root, |node, token| {
                    node.children.entry(unescape(token).unwrap_or_default()).or_default()
                });
                node.wanted.push(at);
            }
        }
        let mut walk = Walk { text, at: 0, findings, offsets: vec![0; findings.len()] };
        walk.space();
        let start = walk.at;
        walk.value(&root, start, start, MAX_DEPTH);
        for (offset, finding) in walk.offsets.iter_mut().zip(findings) {
            if let At::Offset(at) = finding.at {
                *offset = at;
            }
        }
        let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        Self { lines: std::iter::once(0).chain(breaks).collect(), offsets: walk.offsets }
    }

    /// The place of the finding at this index of the list that was given.
    pub fn position(&self, text: &[u8], index: usize) -> Position {
        let offset = self.offsets.get(index).copied().unwrap_or(0).min(text.len());
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or(0);
        let before = text.get(start..offset).unwrap_or_default();
        // Continuation bytes of UTF-8 do not start a character.
        Position { line, column: before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() + 1 }
    }
}

/// No reader of the core goes deeper.
const MAX_DEPTH: usize = 160;

#[derive(Default)]
struct Node {
    children: FxHashMap<String, Node>,
    wanted: Vec<usize>,
}

impl Node {
    /// Everything wanted here and below.
    fn all(&self, visit: &mut impl FnMut(usize)) {
        self.wanted.iter().for_each(|at| visit(*at));
        self.children.values().for_each(|child| child.all(visit));
    }
}

/// A walk over text that the reader took (anything else ends it early, and the rest stays at its ancestor).
struct Walk<'t> {
    text: &'t [u8],
    at: usize,
    findings: &'t [Finding],
    offsets: Vec<usize>,
}

impl Walk<'_> {
    /// Over one value; sets the offsets of what is wanted at or below it. `name` is where its member name stands.
    fn value(&mut self, node: &Node, name: usize, value: usize, depth: usize) {
        let (findings, offsets) = (self.findings, &mut self.offsets);
        node.all(&mut |at| {
            if let (Some(offset), Some(finding)) = (offsets.get_mut(at), findings.get(at)) {
                let here = node.wanted.contains(&at);
                *offset = if here && finding.at == At::Name { name } else { value };
            }
        });
        let open = self.peek();
        if node.children.is_empty() || depth == 0 || !matches!(open, Some(b'{' | b'[')) {
            return self.skip();
        }
        self.at += 1;
        let nothing = Node::default();
        let mut index = 0;
        loop {
            self.space();
            let start = self.at;
            let child = match (open, self.peek()) {
                (_, None | Some(b'}' | b']')) => break,
                (_, Some(b',')) => {
                    self.at += 1;
                    continue;
                }
                (Some(b'{'), _) => {
                    self.skip();
                    let key = self.text.get(start..self.at).unwrap_or_default();
                    self.space();
                    self.at += 1;
                    self.space();
                    let key: Option<String> = serde_json::from_slice(key).ok();
                    key.and_then(|key| node.children.get(&key))
                }
                _ => {
                    index += 1;
                    node.children.get((index - 1).to_string().as_str())
                }
            };
            let value = self.at;
            match child {
                Some(child) => self.value(child, start, value, depth - 1),
                None => self.value(&nothing, start, value, depth - 1),
            }
            if self.at == start {
                break;
            }
        }
        self.at += 1;
    }

    /// Over one value or string without looking inside.
    fn skip(&mut self) {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    while let Some(byte) = self.peek().filter(|byte| *byte != b'"') {
                        self.at += if byte == b'\\' { 2 } else { 1 };
                    }
                    self.at += 1;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                b',' | b':' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r' => return,
                _ => {
                    let scalar =
                        |byte: &u8| !matches!(byte, b',' | b':' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                    self.at +=
                        self.text.get(self.at..).unwrap_or_default().iter().take_while(|b| scalar(b)).count();
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read::JSON_SYNTAX;

    const TEXT: &str =
        "{\n  \"a\": [1, {\"é\": \"x\", \"b/c\": [true]}],\n  \"z\": \"q\\\"]\",\n  \"last\": {}\n}";

    fn place(pointer: &str, at: At) -> (usize, usize) {
        let findings = [Finding { at, ..Finding::new(&JSON_SYNTAX, pointer, "") }];
        let Position { line, column } = Locator::new(TEXT.as_bytes(), &findings).position(TEXT.as_bytes(), 0);
        (line, column)
    }

    #[test]
    fn pointers_lead_to_line_and_column() {
        assert_eq!(place("", At::Value), (1, 1));
        assert_eq!(place("/a", At::Value), (2, 8));
        assert_eq!(place("/a", At::Name), (2, 3));
        assert_eq!(place("/a/0", At::Value), (2, 9));
        assert_eq!(place("/a/1/é", At::Value), (2, 18));
        assert_eq!(place("/a/1/b~1c", At::Name), (2, 23));
        assert_eq!(place("/a/1/b~1c/0", At::Value), (2, 31));
        assert_eq!(place("/last", At::Value), (4, 11));
        assert_eq!(place("", At::Offset(4)), (2, 3));
    }

    #[test]
    fn what_is_not_there_is_located_at_its_nearest_ancestor() {
        assert_eq!(place("/last/request/path", At::Name), (4, 11));
        assert_eq!(place("/a/7", At::Value), (2, 8));
    }

    #[test]
    fn no_text_makes_the_walk_go_on_for_ever() {
        for text in
            ["", "{", "{\"a\"", "{\"a\":", "[", "[,", "{]", "\"\\", "}{", "{\"a\":}", "[1 2 3", "::::", "{:}"]
        {
            let findings = [Finding::new(&JSON_SYNTAX, "/a/0/b", ""), Finding::new(&JSON_SYNTAX, "/0", "")];
            let locator = Locator::new(text.as_bytes(), &findings);
            assert!(locator.position(text.as_bytes(), 0).line == 1);
        }
    }
}
