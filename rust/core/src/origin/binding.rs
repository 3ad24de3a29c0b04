//! What a person binds the origins of a manifest to.

use std::fmt;
use std::net::IpAddr;

use smol_str::SmolStr;

use super::entry::{OriginEntry, Selection, UserProvided};
use super::origin::{Origin, Scheme};
use super::rules::{
    ORIGIN_ASCII, ORIGIN_BASE_PATH, ORIGIN_CHARACTER, ORIGIN_CHOICE, ORIGIN_CLEARTEXT, ORIGIN_FIXED_BOUND,
    ORIGIN_FRAGMENT, ORIGIN_HTTPS, ORIGIN_IP_LITERAL, ORIGIN_LOCAL_NAME, ORIGIN_NOT_UNDER,
    ORIGIN_PUBLIC_ADDRESS, ORIGIN_QUERY, ORIGIN_UNBOUND, OriginFault,
};
use super::{Denied, Reach, is_local, judge, judge_cleartext};

/// An origin with everything that the person decided about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundOrigin {
    text: SmolStr,
    origin: Origin,
    base_path: Vec<SmolStr>,
    reach: Reach,
}

impl OriginEntry {
    /// Binds the origin to what the grant says of it: a value for a userProvided origin, none for a fixed one.
    ///
    /// `reach` is what the grant opens; only an origin with `localNetwork` has any of it. An IP address is
    /// judged here, a name when it is resolved ([`BoundOrigin::judge`]).
    pub fn bind(&self, value: Option<&str>, reach: Reach) -> Result<BoundOrigin, OriginFault> {
        match (self, value) {
            (Self::Fixed(origin), None) => Ok(BoundOrigin {
                text: origin.as_str().into(),
                origin: origin.clone(),
                base_path: Vec::new(),
                reach: Reach::PUBLIC,
            }),
            (Self::Fixed(_), Some(_)) => Err((&ORIGIN_FIXED_BOUND).into()),
            (Self::UserProvided(_), None) => Err((&ORIGIN_UNBOUND).into()),
            (Self::UserProvided(entry), Some(value)) => entry.bind(value, reach),
        }
    }
}

impl UserProvided {
    /// Takes the value that the person gave; see [`OriginEntry::bind`].
    pub fn bind(&self, value: &str, reach: Reach) -> Result<BoundOrigin, OriginFault> {
        let (origin, base_path) =
            if self.base_path() { split_base_path(value)? } else { (value, Vec::new()) };
        let origin = Origin::parse(origin)?;
        let reach = if self.local_network() { reach } else { Reach::PUBLIC };
        permit(&origin, self.local_network(), reach)?;
        match self.selection() {
            Selection::Free => {}
            Selection::Choices(choices) if choices.contains(&origin) => {}
            Selection::Choices(_) => return Err((&ORIGIN_CHOICE).into()),
            Selection::Under(name) => {
                let label = origin.host().strip_suffix(name.as_str()).and_then(|rest| rest.strip_suffix('.'));
                if label.is_none_or(|label| label.contains('.')) {
                    return Err((&ORIGIN_NOT_UNDER).into());
                }
            }
        }
        Ok(BoundOrigin { text: value.into(), origin, base_path, reach })
    }
}

impl BoundOrigin {
    /// Origin and base path as they were given, `https://host:port/segment`. Goes into every hash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The origin.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The segments that stand before the path of every request.
    pub fn base_path(&self) -> &[SmolStr] {
        &self.base_path
    }

    /// The local addresses that connections to this origin may go to.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Judges an address that the host has, or that its name resolves to, for a connection to this origin.
    pub fn judge(&self, address: IpAddr) -> Result<(), Denied> {
        match self.origin.scheme() {
            Scheme::Https => judge(address, self.reach),
            Scheme::Http => judge_cleartext(address, self.reach),
        }
    }
}

impl fmt::Display for BoundOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A byte that stands for itself in a path segment: RFC 3986 `pchar`, `%` excepted.
pub fn is_pchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}

/// Whether a text may be a literal segment of a path: it stands in a URL as it is, and every parser leaves it
/// there.
fn is_literal_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && text.bytes().all(is_pchar)
}

/// The most bytes that origin and base path may have together.
const MAX_BOUND_BYTES: usize = 2_048;

/// Takes the base path off a value; the rest is not judged.
fn split_base_path(value: &str) -> Result<(&str, Vec<SmolStr>), OriginFault> {
    let authority = value.find("://").map_or(0, |at| at + 3);
    let path = value.get(authority..).and_then(|rest| rest.find('/')).map(|at| authority + at);
    let Some((origin, path)) = path.and_then(|at| value.split_at_checked(at)) else {
        return Ok((value, Vec::new()));
    };
    let segments: Vec<SmolStr> = path.split('/').skip(1).map(SmolStr::from).collect();
    if value.len() <= MAX_BOUND_BYTES && segments.iter().all(|segment| is_literal_segment(segment)) {
        return Ok((origin, segments));
    }
    // Name what is wrong in the terms of an origin where they fit.
    let rule = path.chars().find_map(|c| match c {
        '?' => Some(&ORIGIN_QUERY),
        '#' => Some(&ORIGIN_FRAGMENT),
        '\\' | '\0'..=' ' | '\x7f' => Some(&ORIGIN_CHARACTER),
        c if !c.is_ascii() => Some(&ORIGIN_ASCII),
        _ => None,
    });
    Err(rule.unwrap_or(&ORIGIN_BASE_PATH).into())
}

/// Whether an origin may be used at all: a public one by https and a name of the public DNS; with
/// `local_network` also a local address that `reach` opens, and http where `reach` opens anything.
pub(super) fn permit(origin: &Origin, local_network: bool, reach: Reach) -> Result<(), OriginFault> {
    let cleartext = origin.scheme() == Scheme::Http;
    match origin.address() {
        _ if !local_network && cleartext => Err((&ORIGIN_HTTPS).into()),
        Some(_) if !local_network => Err((&ORIGIN_IP_LITERAL).into()),
        Some(address) => {
            judge(address, reach).map_err(OriginFault::address)?;
            if is_local(address) { Ok(()) } else { Err((&ORIGIN_PUBLIC_ADDRESS).into()) }
        }
        None if !local_network && origin.is_local_name() => Err((&ORIGIN_LOCAL_NAME).into()),
        None if cleartext && reach == Reach::PUBLIC => Err((&ORIGIN_CLEARTEXT).into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::*;
    use crate::origin::entry::tests::load;

    const LOCAL_NETWORK: Reach = Reach { local_network: true, ..Reach::PUBLIC };

    fn person(members: &str) -> OriginEntry {
        load(&format!(r#"{{"userProvided": {{"title": "Your server"{members}}}}}"#)).unwrap()
    }

    fn bound(entry: &OriginEntry, value: &str, reach: Reach) -> &'static str {
        entry.bind(Some(value), reach).map_or_else(
            |fault| fault.rule().id,
            |bound| {
                assert_eq!(bound.as_str(), value);
                "bound"
            },
        )
    }

    #[test]
    fn a_fixed_origin_is_https_and_the_same_for_everybody() {
        let entry = load(r#""https://api.example.com:8443""#).unwrap();
        let bound = entry.bind(None, Reach::WIDEST).unwrap();
        assert_eq!((bound.as_str(), bound.reach()), ("https://api.example.com:8443", Reach::PUBLIC));
        assert_eq!(
            entry.bind(Some("https://api.example.com:8443"), Reach::PUBLIC).unwrap_err().rule().id,
            "origin.fixed_bound"
        );
        for (text, rule) in [
            (r#""http://api.example.com""#, "origin.https"),
            (r#""https://93.184.216.34""#, "origin.ip_literal"),
            (r#""https://127.0.0.1""#, "origin.ip_literal"),
            (r#""https://[2606:4700::1]""#, "origin.ip_literal"),
            (r#""https://localhost""#, "origin.local_name"),
            (r#""https://printer.local""#, "origin.local_name"),
            (r#""https://intranet""#, "origin.local_name"),
            (r#""https://api.example.com/v1""#, "origin.path"),
            ("7", "shape.type"),
        ] {
            assert_eq!(load(text), Err(vec![(rule, String::new())]), "{text}");
        }
    }

    #[test]
    fn a_public_binding_is_https_and_a_name() {
        let entry = person("");
        assert_eq!(entry.bind(None, Reach::WIDEST).unwrap_err().rule().id, "origin.unbound");
        for (value, expected) in [
            ("https://notes.example.com", "bound"),
            ("https://notes.example.com:8443", "bound"),
            ("http://notes.example.com", "origin.https"),
            ("http://192.168.1.7", "origin.https"),
            ("https://192.168.1.7", "origin.ip_literal"),
            ("https://93.184.216.34", "origin.ip_literal"),
            ("https://nas.local", "origin.local_name"),
            ("https://notes.example.com/base", "origin.path"),
            ("https://NOTES.example.com", "origin.upper_case"),
        ] {
            assert_eq!(bound(&entry, value, Reach::WIDEST), expected, "{value}");
        }
        let bound = entry.bind(Some("https://notes.example.com"), Reach::WIDEST).unwrap();
        assert_eq!(bound.reach(), Reach::PUBLIC);
        assert!(bound.judge("192.168.1.7".parse().unwrap()).is_err());
    }

    #[test]
    fn a_local_binding_reaches_what_the_grant_opens() {
        let entry = person(r#", "localNetwork": true"#);
        for (value, reach, expected) in [
            ("http://192.168.1.7:8123", LOCAL_NETWORK, "bound"),
            ("http://192.168.1.7:8123", Reach::PUBLIC, "origin.address"),
            ("https://192.168.1.7", LOCAL_NETWORK, "bound"),
            ("http://[fd12::1]", LOCAL_NETWORK, "bound"),
            ("http://100.64.1.2", LOCAL_NETWORK, "origin.address"),
            ("http://100.64.1.2", Reach::WIDEST, "bound"),
            ("http://127.0.0.1:8080", LOCAL_NETWORK, "origin.address"),
            ("http://127.0.0.1:8080", Reach::WIDEST, "bound"),
            ("http://93.184.216.34", Reach::WIDEST, "origin.public_address"),
            ("https://93.184.216.34", Reach::WIDEST, "origin.public_address"),
            ("http://169.254.169.254", Reach::WIDEST, "origin.address"),
            ("http://[::ffff:a9fe:a9fe]", Reach::WIDEST, "origin.address"),
            ("http://[::ffff:c0a8:107]", Reach::WIDEST, "origin.address"),
            ("http://224.0.0.251", Reach::WIDEST, "origin.address"),
            ("http://0.0.0.0:8080", Reach::WIDEST, "origin.address"),
            ("http://127.1", Reach::WIDEST, "origin.serialisation"),
            ("http://homeassistant.local:8123", LOCAL_NETWORK, "bound"),
            ("http://nas", LOCAL_NETWORK, "bound"),
            ("http://nas", Reach::PUBLIC, "origin.cleartext"),
            ("http://notes.example.com", LOCAL_NETWORK, "bound"),
            ("https://notes.example.com", Reach::PUBLIC, "bound"),
            ("https://nas.local", Reach::PUBLIC, "bound"),
        ] {
            assert_eq!(bound(&entry, value, reach), expected, "{value} {reach:?}");
        }
    }

    #[test]
    fn a_name_is_judged_when_its_address_is_known() {
        let entry = person(r#", "localNetwork": true"#);
        let judged = |value: &str, address: &str| {
            let bound = entry.bind(Some(value), LOCAL_NETWORK).unwrap();
            bound.judge(address.parse().unwrap()).map_or_else(Denied::reason, |()| "allowed")
        };
        assert_eq!(judged("http://notes.example.com", "192.168.1.7"), "allowed");
        assert_eq!(judged("http://notes.example.com", "93.184.216.34"), "cleartext");
        assert_eq!(judged("https://notes.example.com", "93.184.216.34"), "allowed");
        assert_eq!(judged("https://notes.example.com", "127.0.0.1"), "loopback");
        assert_eq!(judged("https://notes.example.com", "169.254.169.254"), "metadata");
    }

    #[test]
    fn a_base_path_is_made_of_literal_segments() {
        let entry = person(r#", "basePath": true"#);
        let bound_to = entry.bind(Some("https://notes.example.com/a/b;v=1"), Reach::PUBLIC).unwrap();
        assert_eq!(bound_to.base_path(), ["a", "b;v=1"]);
        assert_eq!(bound_to.origin().as_str(), "https://notes.example.com");
        for (value, expected) in [
            ("https://notes.example.com", "bound"),
            ("https://notes.example.com/@me:x", "bound"),
            ("https://notes.example.com/", "origin.base_path"),
            ("https://notes.example.com/a/", "origin.base_path"),
            ("https://notes.example.com//a", "origin.base_path"),
            ("https://notes.example.com/../a", "origin.base_path"),
            ("https://notes.example.com/a/.", "origin.base_path"),
            ("https://notes.example.com/%2e%2e", "origin.base_path"),
            ("https://notes.example.com/a^b", "origin.base_path"),
            ("https://notes.example.com/a?b", "origin.query"),
            ("https://notes.example.com/a#b", "origin.fragment"),
            ("https://notes.example.com/a\\b", "origin.character"),
            ("https://notes.example.com/a b", "origin.character"),
            ("https://notes.example.com/é", "origin.ascii"),
            ("https://u@notes.example.com/a", "origin.userinfo"),
            ("https:///a", "origin.host"),
            ("/a", "origin.scheme"),
        ] {
            assert_eq!(bound(&entry, value, Reach::PUBLIC), expected, "{value}");
        }
        let long = format!("https://notes.example.com/{}", "a".repeat(MAX_BOUND_BYTES));
        assert_eq!(bound(&entry, &long, Reach::PUBLIC), "origin.base_path");
    }

    #[test]
    fn choices_and_under_narrow_what_may_be_given() {
        let entry = person(r#", "choices": ["https://eu.example.com", "https://us.example.com"]"#);
        assert_eq!(bound(&entry, "https://us.example.com", Reach::PUBLIC), "bound");
        assert_eq!(bound(&entry, "https://us.example.com:8443", Reach::PUBLIC), "origin.choice");
        assert_eq!(bound(&entry, "https://example.com", Reach::PUBLIC), "origin.choice");
        let entry = person(r#", "under": "zendesk.com""#);
        for (value, expected) in [
            ("https://acme.zendesk.com", "bound"),
            ("https://zendesk.com", "origin.not_under"),
            ("https://a.acme.zendesk.com", "origin.not_under"),
            ("https://evilzendesk.com", "origin.not_under"),
            ("https://acme.zendesk.com.evil.example", "origin.not_under"),
            ("https://acme.zendesk.com.", "origin.trailing_dot"),
            ("http://acme.zendesk.com", "origin.https"),
        ] {
            assert_eq!(bound(&entry, value, Reach::PUBLIC), expected, "{value}");
        }
    }

    proptest! {
        #[test]
        fn a_bound_value_is_what_the_standard_reads(path in "(/[!-~]{0,4}){0,3}", any in "\\PC{0,16}") {
            let entry = person(r#", "localNetwork": true, "basePath": true"#);
            for value in [format!("http://192.168.1.7{path}"), format!("https://nas.local{any}")] {
                let Ok(bound) = entry.bind(Some(&value), Reach::WIDEST) else { continue };
                let url = Url::parse(&value).unwrap();
                let tail = if bound.base_path().is_empty() { "/" } else { "" };
                prop_assert_eq!(url.as_str(), format!("{value}{tail}"));
                prop_assert_eq!(url.origin().ascii_serialization(), bound.origin().as_str());
                if !bound.base_path().is_empty() {
                    prop_assert_eq!(url.path_segments().unwrap().collect::<Vec<_>>(), bound.base_path());
                }
            }
        }
    }
}
