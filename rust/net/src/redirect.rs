//! Which redirects are followed: at most three, to the same origin, within the fixed part of the path.

use connector_core::request::{Method, Outgoing, Redirects, SlashRule, path_segment};
use http::HeaderMap;
use http::header::LOCATION;
use unicode_normalization::UnicodeNormalization;
use url::Url;

use crate::error::BadRedirect;

/// Hops of one call.
pub(crate) const HOPS: u32 = 3;

/// Whether an answer is a redirect: any 3xx with a `Location`, but for 304, which has another meaning.
pub(crate) fn is_redirect(status: u16, headers: &HeaderMap) -> bool {
    (300..400).contains(&status) && status != 304 && headers.contains_key(LOCATION)
}

/// The URL of the next hop, or why there is none. `hops` were followed before.
pub(crate) fn next(
    outgoing: &Outgoing,
    url: &Url,
    status: u16,
    headers: &HeaderMap,
    hops: u32,
) -> Result<Url, BadRedirect> {
    let safe = matches!(outgoing.method(), Method::Get | Method::Head);
    if outgoing.budget().redirects != Redirects::SameOrigin || !safe {
        return Err(BadRedirect::NotAllowed);
    }
    // The others have a choice, a proxy or nothing at all in their `Location` (RFC 9110 section 15.4).
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Err(BadRedirect::Status);
    }
    let mut values = headers.get_all(LOCATION).iter();
    let (Some(location), None) = (values.next(), values.next()) else { return Err(BadRedirect::Malformed) };
    let next = target(url, location.as_bytes())?;
    if next.as_str().len() > outgoing.budget().url_bytes {
        return Err(BadRedirect::TooLong);
    }
    if hops >= HOPS {
        return Err(BadRedirect::TooMany);
    }
    if !keeps_prefix(outgoing.url().path(), next.path(), outgoing.literal_prefix()) {
        return Err(BadRedirect::OutsidePrefix);
    }
    Ok(next)
}

/// The target of a `Location` (RFC 9110 section 10.2.2), held to the same origin.
///
/// Only visible ASCII without `\` is read: what parsers disagree about is refused, not interpreted.
fn target(url: &Url, location: &[u8]) -> Result<Url, BadRedirect> {
    let readable =
        !location.is_empty() && location.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'\\');
    let text = readable.then_some(location).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(text) = text else { return Err(BadRedirect::Malformed) };
    let mut next = url.join(text).map_err(|_| BadRedirect::Malformed)?;
    let has_userinfo = !next.username().is_empty() || next.password().is_some();
    if next.origin() != url.origin() || !next.origin().is_tuple() || has_userinfo {
        return Err(BadRedirect::OtherOrigin);
    }
    if let Some(authority) = authority(text)? {
        let spelled = authority.to_ascii_lowercase();
        let host = next.host_str().unwrap_or_default();
        let port = next.port_or_known_default().unwrap_or_default();
        if authority.contains('@') {
            return Err(BadRedirect::OtherOrigin);
        }
        // What had to be interpreted (`127.1`, `0177.0.0.1`, `%61pi.example`, `:0443`), another reader may read otherwise.
        if spelled != host && spelled != format!("{host}:{port}") {
            return Err(BadRedirect::Malformed);
        }
    }
    next.set_fragment(None);
    Ok(next)
}

/// The authority of a reference as it is written (RFC 3986 section 4.2); none in a relative path. A scheme without `//`,
/// and more than two slashes, are read in several ways and refused.
fn authority(text: &str) -> Result<Option<&str>, BadRedirect> {
    let start = text.split(['/', '?', '#']).next().unwrap_or_default();
    let rest = match start.split_once(':') {
        Some((scheme, _)) => {
            let rest = text.get(scheme.len() + 1..).unwrap_or_default();
            Some(rest.strip_prefix("//").ok_or(BadRedirect::Malformed)?)
        }
        None => text.strip_prefix("//"),
    };
    let authority = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    if authority == Some("") { Err(BadRedirect::Malformed) } else { Ok(authority) }
}

/// Whether a path stays under the literal prefix, at a segment boundary, and hides no `..` from us that a
/// server would decode.
///
/// Where the prefix ends within a segment of the request (a joined segment), it may end within one of the
/// target too.
fn keeps_prefix(requested: &str, path: &str, prefix: &str) -> bool {
    let at_boundary = |path: &str| {
        path.strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || prefix.ends_with('/'))
    };
    let kept = at_boundary(path) || (!at_boundary(requested) && path.starts_with(prefix));
    kept && !path.split('/').any(climbs)
}

/// How often a segment is decoded and normalised on its way.
const STEPS: usize = 3;

/// Whether a segment leaves its place when servers decode it, normalise it, or cut path parameters off (`..;x`): the rule
/// for values in a path, and more.
fn climbs(segment: &str) -> bool {
    let mut form = segment.as_bytes().to_vec();
    for _ in 0..=STEPS {
        let normal = nfkc(&form);
        if leaves(&form) || leaves(&normal) {
            return true;
        }
        form = percent_decode(&normal);
    }
    !segment.is_empty() && path_segment(segment, SlashRule::Encode, segment.len()).is_err()
}

fn leaves(form: &[u8]) -> bool {
    form.split(|byte| matches!(byte, b'/' | b'\\' | b';')).any(|part| matches!(part, b"." | b".."))
}

/// Normalises what is UTF-8 and leaves other bytes, which a later step may complete to a character.
fn nfkc(bytes: &[u8]) -> Vec<u8> {
    let mut normal = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        normal.extend_from_slice(chunk.valid().nfkc().collect::<String>().as_bytes());
        normal.extend_from_slice(chunk.invalid());
    }
    normal
}

fn percent_decode(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let pair = if *first == b'%' { after.split_at_checked(2) } else { None };
        let byte = pair.and_then(|(digits, _)| {
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        });
        match (byte, pair) {
            (Some(byte), Some((_, after))) => {
                decoded.push(byte);
                rest = after;
            }
            _ => decoded.push(*first),
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(base: &str, location: &str) -> Result<String, BadRedirect> {
        target(&Url::parse(base).unwrap(), location.as_bytes()).map(String::from)
    }

    #[test]
    fn a_target_stays_on_its_origin() {
        let base = "https://api.example.com/v1/find?q=a";
        for (location, to) in [
            ("/next", "https://api.example.com/next"),
            ("next", "https://api.example.com/v1/next"),
            ("?q=b", "https://api.example.com/v1/find?q=b"),
            ("https://api.example.com/x#frag", "https://api.example.com/x"),
            ("https://API.example.com:443/x", "https://api.example.com/x"),
            ("//api.example.com/x", "https://api.example.com/x"),
        ] {
            assert_eq!(from(base, location), Ok(to.to_owned()), "{location}");
        }
        for location in [
            "https://api.example.com:8443/",
            "http://api.example.com/",
            "https://evil.example/",
            "//evil.example/",
            "https://sub.api.example.com/",
            "https://api.example.com.evil.example/",
            "https://api.example.com./",
            "https://user@api.example.com/",
            "https://user:pw@api.example.com/",
            "https://api.example.com@evil.example/",
            "http://169.254.169.254/latest/meta-data/",
            "https://0x7f.1/",
            "javascript:alert(1)",
            "data:text/plain,a",
            "file:///etc/passwd",
        ] {
            assert_eq!(from(base, location), Err(BadRedirect::OtherOrigin), "{location}");
        }
        for location in ["https://@api.example.com/x", "https://:@api.example.com/x", "//@api.example.com/x"]
        {
            assert_eq!(from(base, location), Err(BadRedirect::OtherOrigin), "{location}: userinfo, if empty");
        }
        for location in [
            "https:/v1/x",
            "https:v1",
            "https:///api.example.com/x",
            "///api.example.com/x",
            "https://%61pi.example.com/x",
            "https://api.example.com:/x",
            "https://api.example.com:0443/x",
        ] {
            assert_eq!(from(base, location), Err(BadRedirect::Malformed), "{location}: read in several ways");
        }
        let local = "http://127.0.0.1:8080/v1/find";
        assert_eq!(from(local, "http://127.0.0.1:8080/x"), Ok("http://127.0.0.1:8080/x".to_owned()));
        for host in ["127.1", "0177.0.0.1", "0x7f000001", "2130706433", "127.0.0.1."] {
            let location = format!("http://{host}:8080/x");
            assert_eq!(from(local, &location), Err(BadRedirect::Malformed), "{location}");
        }
        let six = "http://[::1]:8080/v1/find";
        assert!(from(six, "http://[::1]:8080/x").is_ok());
        assert!(from(six, "http://[0:0::1]:8080/x").is_err());
        for location in
            ["", "\\\\evil.example", "/\\evil.example", " /x", "/a b", "/\u{e9}", "https://", "/a\tb"]
        {
            assert_eq!(from(base, location), Err(BadRedirect::Malformed), "{location:?}");
        }
    }

    #[test]
    fn a_path_keeps_its_literal_prefix() {
        for (prefix, requested, path, kept) in [
            ("/", "/a", "/anything", true),
            ("/api/v1/", "/api/v1/7", "/api/v1/8", true),
            ("/api/v1/", "/api/v1/7", "/api/v1/", true),
            ("/api/v1/", "/api/v1/7", "/api/v1", false),
            ("/api/v1/", "/api/v1/7", "/api/v2/8", false),
            ("/api/v1/notes", "/api/v1/notes", "/api/v1/notes", true),
            ("/api/v1/notes", "/api/v1/notes", "/api/v1/notes/", true),
            ("/api/v1/notes", "/api/v1/notes", "/api/v1/notes-of-others", false),
            ("/item-", "/item-7", "/item-8", true),
            ("/item-", "/item-7", "/items", false),
            ("/api/", "/api/7", "/api/%2e%2e%2fadmin", false),
            ("/api/", "/api/7", "/api/..%5cadmin", false),
            ("/api/", "/api/7", "/api/%252e%252e/admin", false),
            ("/api/", "/api/7", "/api/..;/..;/admin", false),
            ("/api/", "/api/7", "/api/.;v=1/admin", false),
            ("/api/", "/api/7", "/api/%2e%2e%3bx/admin", false),
            ("/api/", "/api/7", "/api/%EF%BC%8E%EF%BC%8E/admin", false),
            ("/api/", "/api/7", "/api/%EF%BC%8E%EF%BC%8E%EF%BC%9B/admin", false),
            ("/api/", "/api/7", "/api/%E2%80%A5/admin", false),
            ("/api/", "/api/7", "/api/a%5Cb", false),
            ("/api/", "/api/7", "/api/a%00b", false),
            ("/api/", "/api/7", "/api/a;v=1.2/b", true),
            ("/api/", "/api/7", "/api//b", true),
            ("/api/", "/api/7", "/api/%C3%A4%20b", true),
            ("/api/", "/api/7", "/api/a%2Fb", true),
            ("/api/", "/api/7", "/api/...", true),
            ("/api/", "/api/7", "/api/100%", true),
        ] {
            assert_eq!(keeps_prefix(requested, path, prefix), kept, "{path} under {prefix}");
        }
    }
}
