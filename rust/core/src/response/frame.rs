//! The one JSON object that the model gets for a call: `tool`, `status`, `data` or `text`, `omitted`.

use std::fmt::Write as _;

use super::clean::Wash;
use super::node::{Node, text_size};
use crate::json::write_string;

/// What stands in the frame.
pub(super) enum Content {
    /// Under `data`.
    Data(Node),
    /// Under `text`: a clean text, and how many characters are known to be missing behind it.
    Text(String, usize),
}

/// A finished result: the object as JSON text, and what is missing in it.
pub(super) struct Framed {
    pub(super) text: String,
    pub(super) omitted: usize,
}

/// Greater counts are written as this one: the room for `omitted` is known before it is.
const MAX_COUNT: usize = 9_999_999_999;

/// The result in at most `limit` characters (Unicode scalar values), whatever it takes:
///
/// 1. the content, cut when it must be;
/// 2. `{"tool", "status", "omitted"}`;
/// 3. `{"status", "omitted"}`;
/// 4. `{}`, which also stands for a limit below 2.
pub(super) fn frame(tool: &str, status: u16, content: Content, limit: usize, wash: &Wash<'_>) -> Framed {
    let mut head = String::from("{\"tool\":");
    write_string(tool, &mut head);
    let _written = write!(head, ",\"status\":{status}");
    let name = match content {
        Content::Data(_) => ",\"data\":",
        Content::Text(..) => ",\"text\":",
    };
    let room = limit.checked_sub(head.chars().count() + name.len() + 1);
    let all = match &content {
        Content::Data(node) => node.whole(),
        Content::Text(text, missing) => text.chars().count() + missing,
    };
    let shown = room.and_then(|room| match content {
        Content::Data(node) => data(node, room, wash),
        Content::Text(text, missing) => self::text(&text, missing, room, wash),
    });
    if let Some((content, omitted)) = shown {
        let text = format!("{head}{name}{content}{}}}", count(omitted));
        return Framed { text, omitted };
    }
    let omitted = all.max(1);
    let least = [format!("{head}{}}}", count(omitted)), format!("{{\"status\":{status}{}}}", count(omitted))];
    let text =
        least.into_iter().find(|text| text.chars().count() <= limit).unwrap_or_else(|| "{}".to_owned());
    Framed { text, omitted }
}

/// The JSON text of the data in this room, and what is left out; nothing when none of it can be shown.
fn data(node: Node, room: usize, wash: &Wash<'_>) -> Option<(String, usize)> {
    let omitted = node.omitted();
    let node = if node.size() + count(omitted).len() <= room {
        node
    } else {
        node.cut(room.checked_sub(count(MAX_COUNT).len())?, wash)?
    };
    let mut text = String::with_capacity(node.size());
    node.write(&mut text);
    // No value holds a secret; several side by side could spell one, such as a key file that is JSON itself.
    (!wash.holds_secret(&text)).then(|| (text, node.omitted()))
}

/// The JSON text of a text in this room, and the characters that are left out.
fn text(text: &str, missing: usize, room: usize, wash: &Wash<'_>) -> Option<(String, usize)> {
    let mut out = String::new();
    if text_size(text) + count(missing).len() <= room {
        write_string(text, &mut out);
        return Some((out, missing));
    }
    let total = text.chars().count();
    let node = Node::text(text, 0).cut(room.checked_sub(count(MAX_COUNT).len())?, wash)?;
    node.write(&mut out);
    let shown = node.as_text().map_or(0, |shown| common_start(shown, text));
    Some((out, total - shown + missing))
}

/// How many characters two texts start with alike.
pub(super) fn common_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// The member that tells what is left out, when something is.
fn count(omitted: usize) -> String {
    match omitted.min(MAX_COUNT) {
        0 => String::new(),
        omitted => format!(",\"omitted\":{omitted}"),
    }
}
