//! The one spelling of a JSON string that the core writes.

/// Appends `text` as a JSON string: the short escapes, `\u00xx` in lower case for the other C0 controls,
/// everything else raw (RFC 8785 section 3.2.2.2; what `JSON.stringify` writes).
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    // Most text is plain: it is looked at in blocks that a processor compares at once.
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let marked = |block: &[u8]| block.iter().fold(false, |any, byte| any | special(byte));
    let (whole, rest) = text.as_bytes().as_chunks::<16>();
    if !marked(rest) && !whole.iter().any(|block| marked(block)) {
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut plain = 0;
    let blocks = text.as_bytes().chunks(16).enumerate().filter(|(_, block)| marked(block));
    let bytes = blocks.flat_map(|(number, block)| (number * 16..).zip(block.iter().copied()));
    for (at, byte) in bytes {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            0x09 => "\\t",
            0x0a => "\\n",
            0x0c => "\\f",
            0x0d => "\\r",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(text.get(plain..at).unwrap_or_default());
        if escape.is_empty() {
            out.push_str("\\u00");
            out.push(if byte < 0x10 { '0' } else { '1' });
            out.push(char::from_digit(u32::from(byte & 0xf), 16).unwrap_or('0'));
        } else {
            out.push_str(escape);
        }
        plain = at + 1;
    }
    out.push_str(text.get(plain..).unwrap_or_default());
    out.push('"');
}
