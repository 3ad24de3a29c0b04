//! Code in Markdown, which a model opens around what it shows and does not mean.

/// What code began with: a run of `mark`s, of this length.
#[derive(Debug, Clone, Copy)]
struct Open {
    mark: char,
    length: usize,
    /// A fence ends on a line of its own, a span in a line by a run of its length.
    fence: bool,
}

/// Whether code is open where a text ends: a fence of backticks or tildes (`CommonMark` 0.31, 4.5) with any info string,
/// within quotes and lists too, or a code span (6.1). Where `CommonMark` would take an unclosed run for plain text this
/// takes it for open code, since what the model was about to write was never asked.
pub(super) fn is_code_open(text: &str) -> bool {
    let mut open: Option<Open> = None;
    for line in text.split('\n') {
        let inner = without_markers(line);
        let (mark, length) = run(inner);
        match open {
            Some(known) if known.fence => {
                let rest = inner.get(length..).unwrap_or_default();
                if mark == Some(known.mark) && length >= known.length && rest.trim().is_empty() {
                    open = None;
                }
                continue;
            }
            // A span of one or two backticks ends with its paragraph; a longer one was to be a fence.
            Some(known) if known.length < 3 && inner.is_empty() => open = None,
            _ => {}
        }
        if let (None, Some(mark), true) = (open, mark, length >= 3) {
            let info = inner.get(length..).unwrap_or_default();
            if mark == '~' || !info.contains('`') {
                open = Some(Open { mark, length, fence: true });
                continue;
            }
        }
        spans(inner, &mut open);
    }
    open.is_some()
}

/// The code spans of a line.
fn spans(line: &str, open: &mut Option<Open>) {
    let mut rest = line;
    while let Some(at) = rest.find(['`', '\\']) {
        let after = rest.get(at..).unwrap_or_default();
        if after.starts_with('\\') && open.is_none() {
            // What is escaped opens nothing.
            let mut characters = after.chars();
            characters.by_ref().take(2).for_each(drop);
            rest = characters.as_str();
            continue;
        }
        let length = after.bytes().take_while(|byte| *byte == b'`').count();
        match *open {
            None => *open = Some(Open { mark: '`', length, fence: false }),
            Some(known) if known.length == length => *open = None,
            Some(_) => {}
        }
        rest = after.get(length.max(1)..).unwrap_or_default();
    }
}

/// A line without its indent and the markers of quotes and lists.
fn without_markers(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let numbered = line.get(digits..).unwrap_or_default();
        let rest = match line.chars().next() {
            Some('>') => line.get(1..),
            Some('-' | '*' | '+') => line.get(1..).filter(|rest| rest.starts_with([' ', '\t'])),
            Some('0'..='9') => numbered.strip_prefix(['.', ')']).filter(|rest| rest.starts_with([' ', '\t'])),
            _ => None,
        };
        match rest {
            Some(rest) => line = rest.trim_start(),
            None => return line,
        }
    }
}

/// The mark that a line begins with, and how often it stands there.
fn run(line: &str) -> (Option<char>, usize) {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
    (mark, mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_and_spans_are_open_until_they_are_closed() {
        for open in [
            "```\n",
            "```js\n",
            "```tool_call\n",
            "``` json title=\"a\"\n",
            "````json\n```\n",
            "```json\r\n",
            "~~~\n",
            "~~~ md\n```\n```\n",
            "```\n// call\n",
            "```\n# call\n\n",
            "See:\n   ```xml\n",
            "> ```\n> ",
            "- ```json\n  ",
            "1. ```\n",
            "- > ```\n",
            "```json ",
            "So: ```json\n",
            "So: ```\n\n",
            "`",
            "Write ``",
            "a `b` and `",
            "```\ncode\n``` more\n",
            "```\n~~~\n",
            "~~~~\n~~~\n",
            "*a* ```x``` `",
        ] {
            assert!(is_code_open(open), "{open:?}");
        }
        for closed in [
            "",
            "text\n",
            "```\ncode\n```\n",
            "```js\ncode\n````  \n",
            "~~~\ncode\n~~~\n",
            "> ```\n> code\n> ```\n",
            "a `b` c ",
            "``a`b`` ",
            "`\\`` ` ",
            "\\` ",
            "A stray ` mark.\n\nThen ",
            "```x``` ",
            "~~gone~~ ",
            "- item\n1. item\n",
            "2024 ",
            "```\n```\n```\n```\n",
        ] {
            assert!(!is_code_open(closed), "{closed:?}");
        }
    }

    #[test]
    fn a_long_text_takes_time_by_its_length_alone() {
        for piece in ["`", "``` ", "> ", "\\`", "- ", "1. ", "~~~\n", "`\n"] {
            is_code_open(&piece.repeat(200_000));
        }
    }
}
