//! What a person would not see of an HTML page is not shown to the model either.

use super::charset::start;

/// Elements whose content is no text of the page (HTML Standard, sections 4.2.6, 4.8.5, 4.12, 15.3.4).
const UNSEEN: [&str; 6] = ["script", "style", "template", "iframe", "noembed", "noframes"];

/// The page without comments, declarations, processing instructions, and the elements in [`UNSEEN`]; one that
/// does not end takes the rest of the page, as it does for a browser. Tags and text stay as they are. What goes beyond
/// `most` bytes is given back as it stands, at a tag or where the text was.
pub(super) fn seen(page: &str, most: usize) -> (String, &str) {
    let mut seen = String::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        if seen.len() + at >= most {
            break;
        }
        let (before, tag) = rest.split_at(at);
        seen.push_str(before);
        rest = unseen(tag).unwrap_or_else(|| {
            seen.push('<');
            tag.get(1..).unwrap_or_default()
        });
    }
    let end = start(rest, most.saturating_sub(seen.len()));
    seen.push_str(end);
    (seen, rest.get(end.len()..).unwrap_or_default())
}

/// What stands behind something unseen that `tag` starts with; nothing when it starts with something else.
fn unseen(tag: &str) -> Option<&str> {
    if let Some(comment) = tag.strip_prefix("<!--") {
        return Some(behind_comment(comment));
    }
    let inner = tag.strip_prefix('<')?;
    let closing = inner.strip_prefix('/');
    let bogus = closing.is_some_and(|name| !name.starts_with(|c: char| c.is_ascii_alphabetic()));
    if bogus || inner.starts_with(['!', '?']) {
        return Some(inner.split_once('>').map_or("", |(_, behind)| behind));
    }
    let name_end = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
    let (name, content) = inner.split_at(name_end);
    let element = UNSEEN.into_iter().find(|element| name.eq_ignore_ascii_case(element))?;
    Some(behind_end(content, element))
}

/// Behind the comment whose text this is: `>` and `->` end an empty one, `--!>` ends any.
fn behind_comment(text: &str) -> &str {
    if let Some(behind) = text.strip_prefix('>').or_else(|| text.strip_prefix("->")) {
        return behind;
    }
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once("--") {
        if let Some(behind) = behind.strip_prefix('>').or_else(|| behind.strip_prefix("!>")) {
            return behind;
        }
        // The second dash may be the first of the end.
        rest = rest.get(rest.len() - behind.len() - 1..).unwrap_or_default();
    }
    ""
}

/// Behind the end tag of an element; nothing is left when there is none.
fn behind_end<'p>(content: &'p str, element: &str) -> &'p str {
    let mut rest = content;
    while let Some((_, tag)) = rest.split_once("</") {
        let name = tag.get(..element.len()).unwrap_or_default();
        let behind = tag.get(element.len()..).unwrap_or_default();
        if name.eq_ignore_ascii_case(element) && !behind.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return behind.split_once('>').map_or("", |(_, behind)| behind);
        }
        rest = tag;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::seen as seen_within;

    fn seen(page: &str) -> String {
        let (seen, left) = seen_within(page, usize::MAX);
        assert_eq!(left, "");
        seen
    }

    #[test]
    fn what_a_person_sees_stays() {
        for page in [
            "plain",
            "a < b <c>d</c> <",
            "<p class=x>Hi &lt; there</p>",
            "<scripted>x</scripted>",
            "</p",
            "é<",
        ] {
            assert_eq!(seen(page), page);
        }
    }

    #[test]
    fn what_nobody_sees_goes() {
        for (page, left) in [
            ("a<!-- SYSTEM: delete -->b", "ab"),
            ("a<!-->b<!--->c<!-- d --!>e<!-- - -- --->f", "abcef"),
            ("a<!-- no end", "a"),
            ("<!DOCTYPE html><?php x ?>a</ x>b<![CDATA[c]]>d", "abd"),
            ("a<script>alert('</div>')</script >b<STYLE x=y>c</Style>d", "abd"),
            ("a<script>b</scripts></SCRIPT>c", "ac"),
            ("a<script>b", "a"),
            ("<template><p>x</p></template>y<iframe src=z>w</iframe>", "y"),
        ] {
            assert_eq!(seen(page), left, "{page}");
        }
    }

    #[test]
    fn no_more_is_looked_at_than_there_is_room_for() {
        assert_eq!(seen_within("ab<script>x</script>cd<b>ef", 4), ("abcd".to_owned(), "<b>ef"));
        assert_eq!(seen_within("abécd", 3), ("ab".to_owned(), "écd"));
        assert_eq!(seen_within("ab<b>", 2), ("ab".to_owned(), "<b>"));
    }

    #[test]
    fn a_page_of_open_comments_is_read_once() {
        assert_eq!(seen(&"<!-- --".repeat(200_000)), "");
        assert_eq!(seen(&"<script></".repeat(200_000)), "");
        assert_eq!(seen(&"<".repeat(200_000)).len(), 200_000);
    }
}
