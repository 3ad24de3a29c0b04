//! The header fields that the transport fixes, said once for the preview and for the wire.

use std::borrow::Cow;

use url::{Position, Url};

use super::Method;

/// The content codings that every request asks for (RFC 9110 section 12.5.3).
///
/// Brotli is not among them: its window alone may take 16 MiB.
pub const ACCEPT_ENCODING: &str = "gzip, deflate";

/// The fields that the transport adds to those of the manifest, as they go on the wire: `Host` before
/// them, the others after.
///
/// `body` is the length of the body when one is sent. `Content-Length` stands with every body, and as 0
/// where the method makes a server expect one (RFC 9110 section 8.6). No other field is added, in
/// particular no `Connection` (HTTP/1.1 keeps a connection by default).
pub fn fixed_headers(
    method: Method,
    url: &Url,
    body: Option<usize>,
) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
    let expects_body = matches!(method, Method::Post | Method::Put | Method::Patch);
    let length = body.or(expects_body.then_some(0));
    let host = url[Position::BeforeHost..Position::AfterPort].to_owned();
    let fixed = [("Host", Cow::Owned(host)), ("Accept-Encoding", Cow::Borrowed(ACCEPT_ENCODING))];
    fixed.into_iter().chain(length.map(|length| ("Content-Length", Cow::Owned(length.to_string()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(method: Method, url: &str, body: Option<usize>) -> Vec<String> {
        fixed_headers(method, &Url::parse(url).unwrap(), body)
            .map(|(name, value)| format!("{name}: {value}"))
            .collect()
    }

    #[test]
    fn host_names_the_port_only_where_it_is_not_the_scheme_s_own() {
        for (url, host) in [
            ("https://api.example/a?b", "api.example"),
            ("https://api.example:443/", "api.example"),
            ("https://api.example:8443/", "api.example:8443"),
            ("http://[::1]:8080/", "[::1]:8080"),
            ("http://10.0.0.1/", "10.0.0.1"),
        ] {
            assert_eq!(
                fixed(Method::Get, url, None),
                [format!("Host: {host}"), "Accept-Encoding: gzip, deflate".into()]
            );
        }
    }

    #[test]
    fn a_length_stands_with_a_body_and_where_one_is_expected() {
        let length = |method, body| fixed(method, "https://a.example/", body).get(2).cloned();
        assert_eq!(length(Method::Post, Some(7)), Some("Content-Length: 7".into()));
        assert_eq!(length(Method::Delete, Some(7)), Some("Content-Length: 7".into()));
        for method in [Method::Post, Method::Put, Method::Patch] {
            assert_eq!(length(method, None), Some("Content-Length: 0".into()));
        }
        for method in [Method::Get, Method::Head, Method::Delete] {
            assert_eq!(length(method, None), None);
        }
    }
}
