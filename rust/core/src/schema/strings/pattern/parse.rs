//! The grammar of ECMA-262 patterns (section 22.2.1), by recursive descent with bounded nesting.

use super::super::chars::{CharSet, scalar_range};
use super::{GROUP_DEPTH, PatternError};

/// A parsed pattern. Groups leave no trace: which part matched is not asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// The empty string.
    Empty,
    /// One character of the set.
    Set(CharSet),
    /// One after the other; never directly in another `Then`.
    Then(Vec<Node>),
    /// One of them.
    Or(Vec<Node>),
    /// So many times.
    Repeat { body: Box<Node>, min: u64, max: Option<u64> },
    /// `^`
    Start,
    /// `$`
    End,
    /// `\b`, or `\B`
    Boundary(bool),
    /// `(?=..)`, or negative `(?!..)`, at this byte.
    Look { negative: bool, body: Box<Node>, at: usize },
}

/// Parses a whole pattern.
pub(super) fn parse(pattern: &str) -> Result<Node, PatternError> {
    let mut parser = Parser { pattern, at: 0, names: Vec::new() };
    let node = parser.disjunction(0)?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => parser.syntax("a `)` without its `(`"),
    }
}

struct Parser<'a> {
    pattern: &'a str,
    /// Bytes read.
    at: usize,
    /// Names of groups that may take part in the same match as the next one.
    names: Vec<&'a str>,
}

/// What stands in a class: one code point, which may begin or end a range, or a set.
enum Item {
    Point(u32),
    Set(CharSet),
}

type Parsed<T> = Result<T, PatternError>;

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// The characters before this byte.
    fn position(&self, byte: usize) -> usize {
        self.pattern.get(..byte).map_or(0, |before| before.chars().count())
    }

    fn syntax<T>(&self, what: &'static str) -> Parsed<T> {
        self.syntax_at(self.at, what)
    }

    fn syntax_at<T>(&self, byte: usize, what: &'static str) -> Parsed<T> {
        Err(PatternError::Syntax { at: self.position(byte), what })
    }

    fn unsupported<T>(&self, byte: usize, feature: &'static str) -> Parsed<T> {
        Err(PatternError::Unsupported { at: self.position(byte), feature })
    }

    fn disjunction(&mut self, depth: u32) -> Parsed<Node> {
        if depth > GROUP_DEPTH {
            return Err(PatternError::TooLarge { what: "its groups are nested too deeply" });
        }
        let outer = self.names.len();
        let mut siblings = Vec::new();
        let mut nodes = Vec::new();
        loop {
            nodes.push(self.alternative(depth)?);
            // A name may come again in another alternative, which cannot take part in the same match.
            siblings.extend(self.names.drain(outer..));
            if !self.eat("|") {
                break;
            }
        }
        self.names.append(&mut siblings);
        Ok(either(nodes))
    }

    fn alternative(&mut self, depth: u32) -> Parsed<Node> {
        let mut items = Vec::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            match self.term(depth)? {
                Node::Empty => {}
                Node::Then(mut inner) => items.append(&mut inner),
                node => items.push(node),
            }
        }
        Ok(match items.pop() {
            None => Node::Empty,
            Some(only) if items.is_empty() => only,
            Some(last) => {
                items.push(last);
                Node::Then(items)
            }
        })
    }

    /// An assertion, or an atom with its quantifier.
    fn term(&mut self, depth: u32) -> Parsed<Node> {
        let start = self.at;
        let atom = self.atom(depth)?;
        let before_quantifier = self.at;
        let Some((min, max)) = self.quantifier()? else { return Ok(atom) };
        if matches!(atom, Node::Start | Node::End | Node::Boundary(_) | Node::Look { .. })
            && !self.is_group(start)
        {
            return self.syntax_at(before_quantifier, "nothing to repeat");
        }
        Ok(repeat(atom, min, max))
    }

    /// Whether a group that may be repeated begins at this byte, rather than an assertion itself.
    fn is_group(&self, byte: usize) -> bool {
        let text = self.pattern.get(byte..).unwrap_or_default();
        text.starts_with('(') && !text.starts_with("(?=") && !text.starts_with("(?!")
    }

    fn atom(&mut self, depth: u32) -> Parsed<Node> {
        let start = self.at;
        let Some(c) = self.bump() else { return Ok(Node::Empty) };
        match c {
            '^' => Ok(Node::Start),
            '$' => Ok(Node::End),
            '.' => Ok(Node::Set(line_ends().complement())),
            '(' => self.group(start, depth),
            '[' => self.class(start),
            '\\' => self.escape(start),
            '*' | '+' | '?' => self.syntax_at(start, "nothing to repeat"),
            '{' => {
                self.at = start;
                if self.quantifier()?.is_some() {
                    return self.syntax_at(start, "nothing to repeat");
                }
                self.at = start + 1;
                Ok(Node::Set(CharSet::of('{')))
            }
            c => Ok(Node::Set(CharSet::of(c))),
        }
    }

    /// A quantifier, its lazy mark included: `*`, `+`, `?`, `{m}`, `{m,}`, `{m,n}`.
    fn quantifier(&mut self) -> Parsed<Option<(u64, Option<u64>)>> {
        let start = self.at;
        let counts = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.at += 1;
                // Readings of `{,5}` and `{ 5}` differ between dialects; of `{x}` they do not.
                if !self.peek().is_some_and(|c| c.is_ascii_digit() || c == ',' || c == ' ') {
                    self.at = start;
                    return Ok(None);
                }
                let Some(counts) = self.counts() else {
                    return self
                        .syntax_at(start, "a `{` that begins no count; write `\\{` for the character");
                };
                if counts.1.is_some_and(|max| max < counts.0) {
                    return self.syntax_at(start, "a count whose numbers are out of order");
                }
                self.at -= 1;
                counts
            }
            _ => return Ok(None),
        };
        self.at += 1;
        self.eat("?");
        Ok(Some(counts))
    }

    fn counts(&mut self) -> Option<(u64, Option<u64>)> {
        let min = self.number()?;
        let max = if !self.eat(",") {
            Some(min)
        } else if self.peek() == Some('}') {
            None
        } else {
            Some(self.number()?)
        };
        self.eat("}").then_some((min, max))
    }

    /// A decimal number; beyond 64 bits the greatest of them, since no string is that long.
    fn number(&mut self) -> Option<u64> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let text = self.rest().get(..digits).filter(|text| !text.is_empty())?;
        self.at += digits;
        Some(text.bytes().fold(0u64, |n, digit| n.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
    }

    fn group(&mut self, start: usize, depth: u32) -> Parsed<Node> {
        let look = if self.eat("?=") {
            Some(false)
        } else if self.eat("?!") {
            Some(true)
        } else {
            None
        };
        if look.is_none() && self.eat("?") {
            self.group_kind(start)?;
        }
        let body = self.disjunction(depth + 1)?;
        if !self.eat(")") {
            return self.syntax_at(start, "a `(` without its `)`");
        }
        Ok(match look {
            Some(negative) => Node::Look { negative, body: Box::new(body), at: start },
            None => body,
        })
    }

    /// What follows `(?` of a group that is not a look-ahead.
    fn group_kind(&mut self, start: usize) -> Parsed<()> {
        if self.eat(":") {
            return Ok(());
        }
        if self.rest().starts_with("<=") || self.rest().starts_with("<!") {
            return self.unsupported(start, "look-behind");
        }
        if self.eat("<") {
            return self.name();
        }
        let flags = self.rest().trim_start_matches(['i', 'm', 's', '-']);
        if flags.starts_with(':') && flags.len() < self.rest().len() {
            return self.unsupported(start, "inline flags");
        }
        self.syntax_at(start, "a `(?` that begins no group of ECMA-262")
    }

    fn name(&mut self) -> Parsed<()> {
        let start = self.at;
        let Some((name, _)) = self.rest().split_once('>') else {
            return self.syntax("a group name without its `>`");
        };
        let begins = |c: char| c.is_alphabetic() || c == '$' || c == '_';
        let goes_on = |c: char| begins(c) || c.is_alphanumeric() || c == '\u{200C}' || c == '\u{200D}';
        if !name.chars().next().is_some_and(begins) || !name.chars().all(goes_on) {
            return self.syntax("a group name that is not an identifier");
        }
        self.at += name.len() + 1;
        if self.names.contains(&name) {
            return self.syntax_at(start, "two groups with the same name");
        }
        self.names.push(name);
        Ok(())
    }

    /// An escape outside a class, the backslash being read.
    fn escape(&mut self, start: usize) -> Parsed<Node> {
        if self.eat("b") {
            return Ok(Node::Boundary(true));
        }
        if self.eat("B") {
            return Ok(Node::Boundary(false));
        }
        if matches!(self.peek(), Some('k' | '1'..='9')) {
            return self.unsupported(start, "a back-reference");
        }
        Ok(Node::Set(match self.character_escape(start)? {
            Item::Set(set) => set,
            Item::Point(point) => point_set(point),
        }))
    }

    /// An escape that stands for a character or a class of them.
    fn character_escape(&mut self, start: usize) -> Parsed<Item> {
        let Some(c) = self.bump() else { return self.syntax_at(start, "a backslash at the end") };
        Ok(match c {
            'd' => Item::Set(digits()),
            'D' => Item::Set(digits().complement()),
            'w' => Item::Set(word_characters()),
            'W' => Item::Set(word_characters().complement()),
            's' => Item::Set(white_space()),
            'S' => Item::Set(white_space().complement()),
            't' => Item::Point(0x09),
            'n' => Item::Point(0x0A),
            'v' => Item::Point(0x0B),
            'f' => Item::Point(0x0C),
            'r' => Item::Point(0x0D),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => Item::Point(0),
            'c' => match self.bump() {
                Some(letter) if letter.is_ascii_alphabetic() => Item::Point(letter as u32 % 32),
                _ => return self.syntax_at(start, "`\\c` without a letter"),
            },
            'x' => match self.hexadecimal(2) {
                Some(point) => Item::Point(point),
                None => return self.syntax_at(start, "`\\x` without two hexadecimal digits"),
            },
            'u' => Item::Point(self.unicode_escape(start)?),
            'p' | 'P' => return self.unsupported(start, "a Unicode property escape"),
            c if c.is_ascii_punctuation() || c == ' ' => Item::Point(c as u32),
            c if c.is_ascii_digit() => return self.syntax_at(start, "an octal escape"),
            _ => return self.syntax_at(start, "a backslash before a character that it gives no meaning"),
        })
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let text = self.rest().get(..digits)?;
        if !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.at += digits;
        u32::from_str_radix(text, 16).ok()
    }

    /// After `\u`: four digits, two such escapes that are a surrogate pair, or any number of digits in braces.
    fn unicode_escape(&mut self, start: usize) -> Parsed<u32> {
        const BROKEN: &str = "`\\u` without four hexadecimal digits, or braces around a code point";
        if self.eat("{") {
            let digits = self.rest().bytes().take_while(u8::is_ascii_hexdigit).count();
            let text = self.rest().get(..digits).unwrap_or_default();
            let significant = text.trim_start_matches('0');
            let point =
                if significant.is_empty() { Some(0) } else { u32::from_str_radix(significant, 16).ok() };
            self.at += digits;
            return match point {
                Some(point) if point <= char::MAX as u32 && !text.is_empty() && self.eat("}") => Ok(point),
                _ => self.syntax_at(start, BROKEN),
            };
        }
        let Some(point) = self.hexadecimal(4) else { return self.syntax_at(start, BROKEN) };
        if (0xD800..0xDC00).contains(&point) {
            let back = self.at;
            if self.eat("\\u")
                && let Some(low @ 0xDC00..0xE000) = self.hexadecimal(4)
            {
                return Ok(0x1_0000 + ((point - 0xD800) << 10) + (low - 0xDC00));
            }
            self.at = back;
        }
        Ok(point)
    }

    /// A class, its `[` being read.
    fn class(&mut self, start: usize) -> Parsed<Node> {
        let negative = self.eat("^");
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            if self.eat("]") {
                break;
            }
            let item_start = self.at;
            let item = self.class_item(start)?;
            let ranged = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            if !ranged {
                add(item, &mut ranges);
                continue;
            }
            self.at += 1;
            match (item, self.class_item(start)?) {
                (Item::Point(lo), Item::Point(hi)) if lo <= hi => ranges.extend(scalar_range(lo, hi)),
                (Item::Point(_), Item::Point(_)) => {
                    return self.syntax_at(item_start, "a range whose ends are out of order");
                }
                (a, b) => {
                    add(a, &mut ranges);
                    ranges.push(('-', '-'));
                    add(b, &mut ranges);
                }
            }
        }
        let set = CharSet::from_ranges(ranges);
        Ok(Node::Set(if negative { set.complement() } else { set }))
    }

    fn class_item(&mut self, class: usize) -> Parsed<Item> {
        let start = self.at;
        match self.bump() {
            None => self.syntax_at(class, "a `[` without its `]`"),
            Some('\\') if self.eat("b") => Ok(Item::Point(0x08)),
            Some('\\') => self.character_escape(start),
            Some(c) => Ok(Item::Point(c as u32)),
        }
    }
}

/// Alternation; one character or another is a set of both, so that `(.|\n)*` is a star of one class.
fn either(mut nodes: Vec<Node>) -> Node {
    if nodes.iter().all(|node| matches!(node, Node::Set(_))) {
        let sets = nodes.iter().filter_map(|node| if let Node::Set(set) = node { Some(set) } else { None });
        return Node::Set(CharSet::from_ranges(sets.flat_map(CharSet::ranges).copied()));
    }
    if nodes.len() > 1 { Node::Or(nodes) } else { nodes.pop().unwrap_or(Node::Empty) }
}

/// Repetition, with what is repeated to no effect taken away.
fn repeat(body: Node, min: u64, max: Option<u64>) -> Node {
    match (body, min, max) {
        (Node::Empty, ..) | (_, _, Some(0)) => Node::Empty,
        (body, 1, Some(1)) => body,
        (body, min, max) => Node::Repeat { body: Box::new(body), min, max },
    }
}

fn add(item: Item, ranges: &mut Vec<(char, char)>) {
    match item {
        Item::Point(point) => ranges.extend(scalar_range(point, point)),
        Item::Set(set) => ranges.extend_from_slice(set.ranges()),
    }
}

fn point_set(point: u32) -> CharSet {
    char::from_u32(point).map_or_else(CharSet::default, CharSet::of)
}

fn digits() -> CharSet {
    CharSet::from_ranges([('0', '9')])
}

/// The characters of `\w`, which `\b` tells from the others.
pub(super) fn word_characters() -> CharSet {
    CharSet::from_ranges([('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])
}

/// `LineTerminator` of ECMA-262, section 12.3.
fn line_ends() -> CharSet {
    CharSet::from_ranges([('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')])
}

/// `WhiteSpace` and `LineTerminator` of ECMA-262, sections 12.2 and 12.3.
fn white_space() -> CharSet {
    CharSet::from_ranges([
        ('\t', '\r'),
        (' ', ' '),
        ('\u{A0}', '\u{A0}'),
        ('\u{1680}', '\u{1680}'),
        ('\u{2000}', '\u{200A}'),
        ('\u{2028}', '\u{2029}'),
        ('\u{202F}', '\u{202F}'),
        ('\u{205F}', '\u{205F}'),
        ('\u{3000}', '\u{3000}'),
        ('\u{FEFF}', '\u{FEFF}'),
    ])
}
