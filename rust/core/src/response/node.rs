//! Clean values on their way to the model: they know their size, and how to become smaller.

use smol_str::SmolStr;

use super::clean::Wash;
use super::mapping::Take;
use crate::json::write_string;

/// A clean JSON value that knows the characters (Unicode scalar values) of its text.
#[derive(Debug, Clone)]
pub(super) struct Node {
    kind: Kind,
    size: usize,
}

/// What a node is. `left` counts what is missing in it: items and members that were left out, a text cut short.
#[derive(Debug, Clone)]
enum Kind {
    /// `null`, a truth value, or a number with its digits.
    Literal(SmolStr),
    Text {
        text: String,
        left: usize,
    },
    List {
        items: Vec<Node>,
        end: Take,
        left: usize,
    },
    /// With an `end` the members are items, left out whole; else they are parts of one thing, which share the room.
    Object {
        members: Vec<(SmolStr, Node)>,
        end: Option<Take>,
        left: usize,
    },
}

/// What a member of an object has at least before the members behind it are left out.
pub(super) const MIN_SHARE: usize = 128;

impl Node {
    pub(super) fn literal(text: impl Into<SmolStr>) -> Self {
        let text = text.into();
        Self { size: text.len(), kind: Kind::Literal(text) }
    }

    /// A clean text; `left` counts what is missing in it.
    pub(super) fn text(text: impl Into<String>, left: usize) -> Self {
        let text = text.into();
        Self { size: text_size(&text), kind: Kind::Text { text, left } }
    }

    /// A list of items; `end` is the one that stays when room is short.
    pub(super) fn list(items: Vec<Node>, end: Take, left: usize) -> Self {
        let size = 2 + separated(items.iter().map(|item| item.size));
        Self { size, kind: Kind::List { items, end, left } }
    }

    /// An object of clean and different names.
    pub(super) fn object(members: Vec<(SmolStr, Node)>, end: Option<Take>, left: usize) -> Self {
        let size = 2 + separated(members.iter().map(member_size));
        Self { size, kind: Kind::Object { members, end, left } }
    }

    /// The characters of the JSON text.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The items, members and texts that are missing or cut short in it.
    pub(super) fn omitted(&self) -> usize {
        match &self.kind {
            Kind::Literal(_) => 0,
            Kind::Text { left, .. } => *left,
            Kind::List { items, left, .. } => left + items.iter().map(Self::omitted).sum::<usize>(),
            Kind::Object { members, left, .. } => {
                left + members.iter().map(|(_, node)| node.omitted()).sum::<usize>()
            }
        }
    }

    /// What is missing when none of it is shown: its items or members, or the one value that it is.
    pub(super) fn whole(&self) -> usize {
        match &self.kind {
            Kind::Literal(_) | Kind::Text { .. } => 1,
            Kind::List { items, left, .. } => left + items.len(),
            Kind::Object { members, left, .. } => left + members.len(),
        }
    }

    /// The text of a single value, without quotes; nothing for a list or an object.
    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Literal(text) => Some(text),
            Kind::Text { text, .. } => Some(text),
            Kind::List { .. } | Kind::Object { .. } => None,
        }
    }

    /// Whether this is `null`.
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Literal(text) if text == "null")
    }

    /// The text with so much more missing in it.
    pub(super) fn missing(mut self, more: usize) -> Self {
        if let Kind::Text { left, .. } = &mut self.kind {
            *left += more;
        }
        self
    }

    /// Appends the JSON text.
    pub(super) fn write(&self, out: &mut String) {
        match &self.kind {
            Kind::Literal(text) => out.push_str(text),
            Kind::Text { text, .. } => write_string(text, out),
            Kind::List { items, .. } => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Kind::Object { members, .. } => {
                out.push('{');
                for (at, (name, node)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    write_string(name, out);
                    out.push(':');
                    node.write(out);
                }
                out.push('}');
            }
        }
    }

    /// The node as a mapping's `maxChars` bounds it: the characters of a text, else of the JSON text.
    pub(super) fn bounded(self, max_chars: usize, wash: &Wash<'_>) -> Option<Self> {
        match self.kind {
            Kind::Text { text, left } => {
                let cleaned = wash.clean(&text, max_chars);
                Some(Self::text(cleaned.text, left.max(usize::from(cleaned.truncated))))
            }
            kind => Self { kind, size: self.size }.cut(max_chars, wash),
        }
    }

    /// The node in at most `room` characters of JSON text, or nothing when none of it can be shown so.
    ///
    /// Items go whole, from the end that does not stay; only a first item that is too large alone is cut inside.
    /// The members of an object share the room: short ones stay, long ones get an equal share of the rest; where
    /// that would be too little for all, the last ones go. Numbers are never cut.
    pub(super) fn cut(self, room: usize, wash: &Wash<'_>) -> Option<Self> {
        if self.size <= room {
            return Some(self);
        }
        let inner = room.checked_sub(2)?;
        let cut = match self.kind {
            Kind::Literal(_) => return None,
            Kind::Text { text, left } => Self::text(cut_text(&text, inner, wash)?, left.max(1)),
            Kind::List { items, end, left } => {
                let (items, gone) =
                    keep_whole(items, end, inner, |item| item.size, |item, room| item.cut(room, wash));
                Self::list(items, end, left + gone)
            }
            Kind::Object { members, end: Some(end), left } => {
                let (members, gone) = keep_whole(members, end, inner, member_size, |(name, node), room| {
                    let room = room.checked_sub(text_size(&name) + 1)?;
                    Some((name, node.cut(room, wash)?))
                });
                Self::object(members, Some(end), left + gone)
            }
            Kind::Object { members, end: None, left } => {
                let (members, gone) = share(members, inner, wash);
                Self::object(members, None, left + gone)
            }
        };
        Some(cut)
    }
}

/// The entries that fit whole, counted from the end that stays, and how many are gone.
fn keep_whole<T>(
    mut entries: Vec<T>,
    end: Take,
    room: usize,
    size: impl Fn(&T) -> usize,
    cut: impl FnOnce(T, usize) -> Option<T>,
) -> (Vec<T>, usize) {
    let count = entries.len();
    if end == Take::Last {
        entries.reverse();
    }
    let mut used = 0;
    let fits = |entry: &&T| {
        used += size(entry) + usize::from(used > 0);
        used <= room
    };
    let whole = entries.iter().take_while(fits).count();
    if whole > 0 {
        entries.truncate(whole);
    } else {
        entries = entries.into_iter().next().and_then(|first| cut(first, room)).into_iter().collect();
    }
    if end == Take::Last {
        entries.reverse();
    }
    let gone = count - entries.len();
    (entries, gone)
}

/// The members in a room that is too small for all of them, and how many are gone.
fn share(mut members: Vec<(SmolStr, Node)>, room: usize, wash: &Wash<'_>) -> (Vec<(SmolStr, Node)>, usize) {
    let count = members.len();
    let least = (room / 4).clamp(1, MIN_SHARE);
    let mut used = 0;
    let fits = |(name, node): &&(SmolStr, Node)| {
        used += text_size(name) + 1 + node.size.min(least) + usize::from(used > 0);
        used <= room
    };
    let kept = members.iter().take_while(fits).count().max(1);
    members.truncate(kept);

    let names = separated(members.iter().map(|(name, _)| text_size(name) + 1));
    let values = room.saturating_sub(names);
    let level = level(members.iter().map(|(_, node)| node.size).collect(), values);
    let short: usize = members.iter().map(|(_, node)| node.size).filter(|size| *size <= level).sum();
    let mut long = members.iter().filter(|(_, node)| node.size > level).count();
    let mut rest = values.saturating_sub(short);
    let mut shown = Vec::with_capacity(members.len());
    for (name, node) in members {
        if node.size <= level {
            shown.push((name, node));
            continue;
        }
        let share = rest.checked_div(long).unwrap_or_default();
        long = long.saturating_sub(1);
        if let Some(node) = node.cut(share, wash) {
            rest = rest.saturating_sub(node.size);
            shown.push((name, node));
        }
    }
    let gone = count - shown.len();
    (shown, gone)
}

/// The size up to which entries stay whole when all others are cut to it and together fill the room.
fn level(mut sizes: Vec<usize>, room: usize) -> usize {
    sizes.sort_unstable();
    let (mut rest, mut count) = (room, sizes.len());
    for size in sizes {
        let share = rest.checked_div(count).unwrap_or_default();
        if size > share {
            return share;
        }
        rest -= size;
        count -= 1;
    }
    usize::MAX
}

/// A clean text cut to at most `room` characters as JSON writes it, without quotes.
fn cut_text(text: &str, room: usize, wash: &Wash<'_>) -> Option<String> {
    let kept = fitting(text, room);
    if kept == 0 {
        return None;
    }
    // Every part of a clean text is clean, so that only the end is looked at again: what comes behind decides
    // whether a character goes on.
    let end = text.char_indices().nth(kept + 2).map_or(text.len(), |(at, _)| at);
    let cut = wash.clean(text.get(..end).unwrap_or_default(), kept).text;
    (text_size(&cut) <= room + 2).then_some(cut)
}

/// How many characters from the start fit into `room` characters of JSON.
fn fitting(text: &str, room: usize) -> usize {
    let mut used = 0;
    let fits = |c: &char| {
        used += width(*c);
        used <= room
    };
    text.chars().take_while(fits).count()
}

/// The characters of a text as JSON writes it, quotes included.
pub(super) fn text_size(text: &str) -> usize {
    2 + text.chars().map(width).sum::<usize>()
}

fn width(c: char) -> usize {
    match c {
        '"' | '\\' | '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

fn member_size((name, node): &(SmolStr, Node)) -> usize {
    text_size(name) + 1 + node.size
}

/// The sum with one comma between each.
fn separated(sizes: impl ExactSizeIterator<Item = usize>) -> usize {
    sizes.len().saturating_sub(1) + sizes.sum::<usize>()
}
