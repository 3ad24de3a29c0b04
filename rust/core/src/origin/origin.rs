//! One origin, `scheme://host[:port]`, in the one spelling that every reader understands alike.

use std::fmt;
use std::net::IpAddr;

use smol_str::SmolStr;
use url::Url;

use super::rules::{
    ORIGIN_ASCII, ORIGIN_CHARACTER, ORIGIN_FRAGMENT, ORIGIN_HOST, ORIGIN_PATH, ORIGIN_PERCENT, ORIGIN_PORT,
    ORIGIN_QUERY, ORIGIN_SCHEME, ORIGIN_SERIALISATION, ORIGIN_TRAILING_DOT, ORIGIN_UPPER_CASE,
    ORIGIN_USERINFO, OriginFault,
};
use crate::json::{Path, Value};
use crate::rule::Rule;
use crate::shape::{Definitions, Reading, Shape, fragment};

/// The schemes of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// `https`
    Https,
    /// `http`, to local addresses only.
    Http,
}

impl Scheme {
    /// The scheme as a URL has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    /// The port that a URL of the scheme leaves out.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

/// An origin as the URL standard serialises it: ASCII, lower case, the port only where it is not the scheme's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    text: SmolStr,
    scheme: Scheme,
    host: SmolStr,
    address: Option<IpAddr>,
    port: u16,
}

impl Origin {
    /// Takes a text that is an origin and equals its own serialisation by the URL standard
    /// (<https://url.spec.whatwg.org/#concept-url-serializer>), whatever it leads to. Beyond the standard, a
    /// name is one that DNS can carry (RFC 1035 section 2.3.4; RFC 1123 section 2.1, and `_`), which rules out
    /// `*.example.com` and `$(x).com`, and the port is none that the Fetch standard blocks.
    pub fn parse(text: &str) -> Result<Self, OriginFault> {
        if !text.is_ascii() {
            return Err((&ORIGIN_ASCII).into());
        }
        if text.bytes().any(|byte| byte <= b' ' || byte == b'\\' || byte == 0x7f) {
            return Err((&ORIGIN_CHARACTER).into());
        }
        let (scheme, authority) = match text.split_once("://") {
            Some(("https", authority)) => (Scheme::Https, authority),
            Some(("http", authority)) => (Scheme::Http, authority),
            Some((scheme, _)) if is_scheme(&scheme.to_ascii_lowercase()) => {
                return Err((&ORIGIN_UPPER_CASE).into());
            }
            _ => return Err((&ORIGIN_SCHEME).into()),
        };
        if let Some(rule) = authority.chars().find_map(not_of_an_authority) {
            return Err(rule.into());
        }
        let (host, port) = split_port(authority);
        let address = if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(inner.parse().map(IpAddr::V6).map_err(|_| &ORIGIN_HOST)?)
        } else {
            check_name(host)?;
            host.parse().map(IpAddr::V4).ok()
        };
        let port = port.map_or(Ok(scheme.default_port()), |digits| check_port(digits, scheme))?;

        let url = Url::parse(text).map_err(|_| &ORIGIN_HOST)?;
        if url.origin().ascii_serialization() != text {
            return Err((&ORIGIN_SERIALISATION).into());
        }
        Ok(Self { text: text.into(), scheme, host: host.into(), address, port })
    }

    /// The whole, always ASCII.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// [`as_str`](Self::as_str), to be shared.
    pub(crate) fn text(&self) -> &SmolStr {
        &self.text
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host as it stands in the origin: a name, an IPv4 address, or an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The address, when the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// The port, that of the scheme when none is written.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the host is a name that leads to a local machine or nowhere, never to one server for everybody:
    /// a name of one label, `localhost` (RFC 6761), and names under `local` (RFC 6762), `internal` (reserved by
    /// ICANN in 2024), `home.arpa` (RFC 8375) and the suffixes that RFC 6762 appendix G and the routers of homes use.
    pub fn is_local_name(&self) -> bool {
        let under = |suffix: &&str| {
            self.host.strip_suffix(*suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        self.address.is_none() && (!self.host.contains('.') || LOCAL_SUFFIXES.iter().any(under))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Any origin; where it may lead is a question of the place.
impl Shape for Origin {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let text = SmolStr::read(value, at, reading)?;
        match Self::parse(&text) {
            Ok(origin) => Some(origin),
            Err(fault) => reading.refuse(fault.rule(), at, format_args!("{fault}")),
        }
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "string".into()), ("pattern", "^https?://[a-z0-9._:\\[\\]-]+$".into())])
    }
}

const LOCAL_SUFFIXES: &[&str] = &[
    "localhost",
    "localdomain",
    "local",
    "internal",
    "home.arpa",
    "lan",
    "home",
    "corp",
    "intranet",
    "private",
];

/// Ports that Fetch refuses to connect to (<https://fetch.spec.whatwg.org/#port-blocking>): another protocol
/// listens there, which could take lines of a request for its own commands.
const BLOCKED_PORTS: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

fn is_scheme(text: &str) -> bool {
    matches!(text, "http" | "https")
}

/// The rule that a character of host and port breaks, if any.
fn not_of_an_authority(c: char) -> Option<&'static Rule> {
    match c {
        '@' => Some(&ORIGIN_USERINFO),
        '/' => Some(&ORIGIN_PATH),
        '?' => Some(&ORIGIN_QUERY),
        '#' => Some(&ORIGIN_FRAGMENT),
        '%' => Some(&ORIGIN_PERCENT),
        'A'..='Z' => Some(&ORIGIN_UPPER_CASE),
        _ => None,
    }
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    let colon = authority.rfind(':').filter(|colon| authority.rfind(']').is_none_or(|end| end < *colon));
    match colon.and_then(|colon| authority.split_at_checked(colon)) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => (authority, None),
    }
}

fn check_name(host: &str) -> Result<(), OriginFault> {
    if host.ends_with('.') {
        return Err((&ORIGIN_TRAILING_DOT).into());
    }
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(plain)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if host.len() <= 253 && host.split('.').all(label) { Ok(()) } else { Err((&ORIGIN_HOST).into()) }
}

fn check_port(digits: &str, scheme: Scheme) -> Result<u16, OriginFault> {
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let port = digits.parse().ok().filter(|_| decimal);
    port.filter(|port| *port != scheme.default_port() && !BLOCKED_PORTS.contains(port))
        .ok_or_else(|| (&ORIGIN_PORT).into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(text: &str) -> &'static str {
        Origin::parse(text).map_or_else(|fault| fault.rule().id, |_| "accepted")
    }

    #[test]
    fn an_origin_is_taken_apart() {
        let origin = Origin::parse("https://api.example.com:8443").unwrap();
        assert_eq!((origin.scheme(), origin.host(), origin.port()), (Scheme::Https, "api.example.com", 8443));
        assert_eq!((origin.as_str(), origin.address()), ("https://api.example.com:8443", None));
        assert_eq!(Origin::parse("http://nas").unwrap().port(), 80);
        let origin = Origin::parse("http://[fd00::1]:8123").unwrap();
        assert_eq!((origin.host(), origin.port()), ("[fd00::1]", 8123));
        assert_eq!(origin.address(), Some("fd00::1".parse().unwrap()));
    }

    #[test]
    fn what_people_write_is_accepted() {
        for text in [
            "https://api.example.com",
            "https://xn--fa-hia.de",
            "https://a.b.c.d.example",
            "http://192.168.1.7:8123",
            "http://homeassistant.local:8123",
            "http://my_service:8080",
            "https://r3---sn-x.example.com",
            "https://1e100.net",
        ] {
            assert_eq!(refused(text), "accepted", "{text}");
        }
    }

    #[test]
    fn each_other_spelling_has_its_rule() {
        for (text, rule) in [
            ("", "origin.scheme"),
            ("api.example.com", "origin.scheme"),
            ("https:api.example.com", "origin.scheme"),
            ("//api.example.com", "origin.scheme"),
            ("wss://api.example.com", "origin.scheme"),
            ("file:///etc", "origin.scheme"),
            ("HTTPS://api.example.com", "origin.upper_case"),
            ("https://API.example.com", "origin.upper_case"),
            ("https://[FD00::1]", "origin.upper_case"),
            ("https://api。example.com", "origin.ascii"),
            ("https://аpi.example.com", "origin.ascii"),
            ("https://api.ex\u{ad}ample.com", "origin.ascii"),
            (" https://api.example.com", "origin.character"),
            ("https://api.example.com\n", "origin.character"),
            ("https://api.exam\tple.com", "origin.character"),
            ("https:\\\\api.example.com", "origin.character"),
            ("https://api.example.com\\@evil.example", "origin.character"),
            ("https://user@api.example.com", "origin.userinfo"),
            ("https://@api.example.com", "origin.userinfo"),
            ("https://api.example.com/", "origin.path"),
            ("https:///api.example.com", "origin.path"),
            ("https://api.example.com?", "origin.query"),
            ("https://api.example.com#", "origin.fragment"),
            ("https://api%2eexample.com", "origin.percent"),
            ("https://[fe80::1%25eth0]", "origin.percent"),
            ("https://api.example.com.", "origin.trailing_dot"),
            ("https://127.0.0.1.", "origin.trailing_dot"),
            ("https://", "origin.host"),
            ("https://:8443", "origin.host"),
            ("https://a..example.com", "origin.host"),
            ("https://-a.example.com", "origin.host"),
            ("https://a-.example.com", "origin.host"),
            ("https://*.example.com", "origin.host"),
            ("https://$(id).example.com", "origin.host"),
            ("https://a,b.example.com", "origin.host"),
            ("https://xn--example-.org", "origin.host"),
            ("https://256.1.1.1", "origin.host"),
            ("https://a.0x1", "origin.host"),
            ("https://::1", "origin.host"),
            ("https://[::1", "origin.host"),
            ("https://[127.0.0.1]", "origin.host"),
            ("https://a:b:1", "origin.host"),
            ("https://api.example.com:", "origin.port"),
            ("https://api.example.com:443", "origin.port"),
            ("http://api.example.com:80", "origin.port"),
            ("https://api.example.com:08443", "origin.port"),
            ("https://api.example.com:+8443", "origin.port"),
            ("https://api.example.com:65536", "origin.port"),
            ("https://api.example.com:0", "origin.port"),
            ("https://api.example.com:22", "origin.port"),
            ("https://127.1", "origin.serialisation"),
            ("https://0x7f.1", "origin.serialisation"),
            ("https://2130706433", "origin.serialisation"),
            ("https://0177.0.0.1", "origin.serialisation"),
            ("https://[::ffff:127.0.0.1]", "origin.serialisation"),
            ("https://[0::1]", "origin.serialisation"),
        ] {
            assert_eq!(refused(text), rule, "{text:?}");
        }
    }

    #[test]
    fn names_and_labels_have_the_lengths_of_dns() {
        let label = "a".repeat(63);
        let name = [label.as_str(); 4].join(".");
        assert_eq!(refused(&format!("https://{}", name.get(2..).unwrap())), "accepted");
        assert_eq!(refused(&format!("https://{}", name.get(1..).unwrap())), "origin.host");
        assert_eq!(refused(&format!("https://{label}a.example.com")), "origin.host");
    }

    #[test]
    fn local_names_are_known_by_their_last_labels() {
        let is_local = |text: &str| Origin::parse(text).unwrap().is_local_name();
        for text in [
            "https://nas",
            "https://localhost",
            "https://a.localhost",
            "https://printer.local",
            "https://metadata.google.internal",
            "https://router.home.arpa",
            "https://nas.lan",
        ] {
            assert!(is_local(text), "{text}");
        }
        for text in
            ["https://notlocal.example", "https://local.example", "https://x.arpa", "http://127.0.0.1"]
        {
            assert!(!is_local(text), "{text}");
        }
    }

    /// Texts near the border of what is accepted.
    fn near_origins() -> impl Strategy<Value = String> {
        "https?://([a-z0-9_-]{0,4}\\.){0,3}[a-z0-9\\[\\]:*%.xn-]{1,8}(:[0-9]{0,5})?[/?#@]?"
    }

    fn reads_as_the_standard_does(text: &str) -> Result<(), TestCaseError> {
        let Ok(origin) = Origin::parse(text) else { return Ok(()) };
        let url = Url::parse(text).unwrap();
        prop_assert_eq!(url.origin().ascii_serialization(), text);
        prop_assert_eq!(url.as_str(), format!("{text}/"));
        prop_assert_eq!(url.host_str(), Some(origin.host()));
        prop_assert_eq!(url.port_or_known_default(), Some(origin.port()));
        prop_assert_eq!(url.scheme(), origin.scheme().as_str());
        let address = url.host().and_then(|host| match host {
            url::Host::Domain(_) => None,
            url::Host::Ipv4(address) => Some(IpAddr::V4(address)),
            url::Host::Ipv6(address) => Some(IpAddr::V6(address)),
        });
        prop_assert_eq!(address, origin.address());
        prop_assert_eq!(Origin::parse(origin.as_str()), Ok(origin));
        Ok(())
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_what_the_standard_reads(text in near_origins(), any in ".{0,24}") {
            reads_as_the_standard_does(&text)?;
            reads_as_the_standard_does(&any)?;
            reads_as_the_standard_does(&format!("https://{any}"))?;
        }

        #[test]
        fn an_inserted_character_is_refused_or_part_of_the_name(
            at in 0usize..40,
            c in prop_oneof![any::<char>(), prop::sample::select(
                "\0\t\n\r /\\?#@%:[].-_*,;=+&$!~|^`'\"<>{}。．｡\u{ad}\u{200b}\u{202e}\u{feff}\u{2024}\u{ff0f}".chars()
                    .collect::<Vec<_>>(),
            )],
        ) {
            for text in ["https://api.example.com:8443", "http://192.168.1.7", "https://[fd00::1:2]:9000"] {
                let mut changed: Vec<char> = text.chars().collect();
                changed.insert(at.min(changed.len()), c);
                let changed: String = changed.into_iter().collect();
                reads_as_the_standard_does(&changed)?;
                if let Ok(origin) = Origin::parse(&changed) {
                    prop_assert_eq!(origin.as_str(), &changed);
                    prop_assert!(c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | ':'));
                }
            }
        }
    }
}
