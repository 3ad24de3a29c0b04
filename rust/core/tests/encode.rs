//! Values in the positions of a request, against the public lists of awkward ones.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a helper of a test may fail as the test does"
)]

mod corpus;

use connector_core::json::{Path, Value as Json};
use connector_core::limits::TrustLimits;
use connector_core::request::{
    Headers, Pair, SlashRule, ValueFault, check_header_value, path_segment, percent_encode, write_form,
    write_query,
};
use connector_core::rule::Findings;
use connector_core::shape::{Reading, Shape};
use serde_json::Value;
use url::{Url, form_urlencoded};

const URL_BYTES: usize = 8 << 10;
const HEADER_BYTES: usize = 8 << 10;

fn text<'c>(case: &'c Value, member: &str) -> &'c str {
    case[member].as_str().unwrap_or_else(|| panic!("no {member} in {case}"))
}

fn refused(value: &str) -> Result<String, ValueFault> {
    path_segment(value, SlashRule::Refuse, URL_BYTES)
}

fn with_slash(value: &str) -> Result<String, ValueFault> {
    path_segment(value, SlashRule::Encode, URL_BYTES)
}

/// A value that was let into a path is one segment there and reads back as itself.
fn stays_in_its_segment(value: &str, encoded: &str) {
    let built = format!("https://api.example.com/v1/items/{encoded}/sub");
    let url = Url::parse(&built).unwrap();
    assert_eq!(url.as_str(), built);
    assert_eq!(url.origin().ascii_serialization(), "https://api.example.com");
    let segments: Vec<_> = url.path_segments().unwrap().collect();
    assert_eq!(segments.len(), 4, "{built}");
    // `+` is no space in a path: read it as a form reads `%2B`.
    let read: Vec<_> = form_urlencoded::parse(format!("x={}", segments[2].replace('+', "%2B")).as_bytes())
        .map(|(_, value)| value.into_owned())
        .collect();
    assert_eq!(read, [value], "{built}");
}

/// A value in a query, a form and a JSON body reads back as itself, and nothing else does.
fn stays_in_its_pair(value: &str) {
    let pairs = [Pair::text("x", value), Pair::text("fixed", "1")];
    let built = format!("https://api.example.com/v1/items?{}", write_query(&pairs));
    let url = Url::parse(&built).unwrap();
    assert_eq!((url.as_str(), url.path(), url.fragment()), (built.as_str(), "/v1/items", None));
    let expected = [("x".to_owned(), value.to_owned()), ("fixed".to_owned(), "1".to_owned())];
    assert_eq!(url.query_pairs().into_owned().collect::<Vec<_>>(), expected);
    let form = write_form(&pairs);
    assert_eq!(form_urlencoded::parse(form.as_bytes()).into_owned().collect::<Vec<_>>(), expected);
    let json = Json::from(value).to_text();
    assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value);
}

/// Values that the suite lets into a path and the format does not: a server that decodes or normalises once
/// more leaves the segment. Each is refused for the reason named, with `"slash": "encode"` as well.
const ARGUED: &[(&str, ValueFault)] = &[
    ("\\", ValueFault::Backslash),
    ("a\\b", ValueFault::Backslash),
    ("..\\..\\admin", ValueFault::Backslash),
    ("%2e", ValueFault::DotSegment),
    (".%2e", ValueFault::DotSegment),
    ("%252e%252e", ValueFault::DotSegment),
    ("..%2f", ValueFault::DotSegment),
    ("../../admin", ValueFault::DotSegment),
    ("\u{2024}\u{2024}", ValueFault::DotSegment),
    ("\u{85}", ValueFault::Control),
    ("%00", ValueFault::Control),
    ("x%0d%0aSet-Cookie:a=b", ValueFault::Control),
];

#[test]
fn each_value_is_met_in_each_position_as_the_suite_says() {
    let Some(cases) = corpus::cases("slots/encoding.json") else { return };
    let (mut right, mut policy, mut argued, mut slash_only) = (0, 0, 0, 0);
    for case in &cases {
        let value = text(case, "value");
        let (path, found) = (&case["path"], refused(value));
        match text(path, "expect") {
            "reject" => {
                assert!(found.is_err() && with_slash(value).is_err(), "{case}");
                right += 1;
            }
            // C0 controls and DEL, which the format refuses.
            "policy" => {
                assert!(found.is_err() && with_slash(value) == Err(ValueFault::Control), "{case}");
                policy += 1;
            }
            _ => match (with_slash(value), ARGUED.iter().find(|(argued, _)| *argued == value)) {
                (Err(fault), Some((_, expected))) => {
                    assert!(fault == *expected && found.is_err(), "{case}: {fault}");
                    argued += 1;
                }
                (Ok(encoded), None) => {
                    assert_eq!(encoded, text(path, "encoded"), "{case}");
                    let url = Url::parse(&format!("https://api.example.com/v1/items/{encoded}/sub")).unwrap();
                    assert_eq!(url.path(), text(path, "pathname"), "{case}");
                    match found {
                        Ok(plain) => assert_eq!(plain, encoded),
                        Err(fault) => {
                            assert_eq!(fault, ValueFault::Slash, "{case}");
                            slash_only += 1;
                        }
                    }
                    right += 1;
                }
                (with_slash, argued) => panic!("{case}: {with_slash:?} {argued:?}"),
            },
        }
        if let Ok(encoded) = with_slash(value) {
            stays_in_its_segment(value, &encoded);
        }
        assert_eq!(percent_encode(value), text(&case["query"], "encoded"), "{case}");
        stays_in_its_pair(value);
        assert_eq!(case["json"]["expect"], "accept", "{case}");
        // An empty header value is a policy row: `""` is sent.
        let header = check_header_value(value, HEADER_BYTES).is_ok();
        assert_eq!(header, ["accept", "policy"].contains(&text(&case["header"], "expect")), "{case}");
        right += 3;
    }
    println!(
        "slots/encoding.json: {} values in 4 positions: {right} right ({slash_only} only with slash: encode), \
         {policy} policy (refused), {argued} argued, 0 wrong",
        cases.len()
    );
    assert_eq!((policy, argued), (48, ARGUED.len()));
}

#[test]
fn header_names_that_frame_or_route_are_no_slots() {
    let Some(cases) = corpus::cases("http/header-names.json") else { return };
    let limits = TrustLimits::default();
    for case in &cases {
        let slot = Json::Object([("$param", Json::from("x"))].into_iter().collect());
        let headers = Json::Object([(text(case, "name"), slot)].into_iter().collect());
        let mut findings = Findings::new();
        let mut reading = Reading { limits: &limits, findings: &mut findings };
        let read = Headers::read(&headers, &Path::Root, &mut reading);
        let accepted = read.is_some() && findings.list().is_empty();
        assert_eq!(accepted, text(case, "expect").starts_with("accept"), "{case}: {findings:?}");
    }
    println!("http/header-names.json: {} right, 0 argued, 0 wrong", cases.len());
}

#[test]
fn header_values_are_those_of_rfc_9110_without_obs_text() {
    let Some(cases) = corpus::cases("http/header-values.json") else { return };
    for case in &cases {
        let allowed = text(case, "expect").starts_with("accept");
        assert_eq!(check_header_value(text(case, "value"), HEADER_BYTES).is_ok(), allowed, "{case}");
    }
    println!("http/header-values.json: {} right, 0 argued, 0 wrong", cases.len());
}

#[test]
fn a_redirect_payload_stays_in_its_position() {
    let Some(cases) = corpus::cases("ssrf/open-redirect-values.json") else { return };
    let (mut plain, mut slash_only, mut refused_for) = (0, 0, std::collections::BTreeMap::new());
    for case in &cases {
        let value = text(case, "value");
        match (refused(value), with_slash(value)) {
            (found, Ok(encoded)) => {
                assert_eq!(encoded, text(case, "segment_encoded"), "{case}");
                stays_in_its_segment(value, &encoded);
                match found {
                    Ok(_) => plain += 1,
                    Err(fault) => {
                        assert_eq!(fault, ValueFault::Slash, "{case}");
                        slash_only += 1;
                    }
                }
            }
            (Err(_), Err(fault)) => *refused_for.entry(format!("{fault:?}")).or_insert(0) += 1,
            (Ok(_), Err(fault)) => panic!("{case}: {fault}"),
        }
        stays_in_its_pair(value);
    }
    println!(
        "ssrf/open-redirect-values.json: {} values: {plain} pass, {slash_only} with slash: encode, refused {refused_for:?}",
        cases.len()
    );
    assert!(refused_for.keys().all(|fault| ["Backslash", "Control", "DotSegment"].contains(&fault.as_str())));
}

#[test]
fn a_naughty_string_stays_in_its_position() {
    let Some(cases) = corpus::cases("text/blns.json") else { return };
    let (mut path, mut header) = (0, 0);
    for case in &cases {
        let value = text(case, "s");
        for encoded in [refused(value), with_slash(value)].into_iter().flatten() {
            stays_in_its_segment(value, &encoded);
        }
        path += usize::from(refused(value).is_ok());
        stays_in_its_pair(value);
        header += usize::from(check_header_value(value, HEADER_BYTES).is_ok());
    }
    println!(
        "text/blns.json: {} strings: {path} may stand in a path, {header} in a header, all in a pair",
        cases.len()
    );
}

#[test]
fn the_query_is_utf_8_whatever_the_page_would_be() {
    let Some(cases) = corpus::cases("url/percent-encoding.json") else { return };
    for case in &cases {
        // A browser leaves some characters of a query bare; they are encoded here.
        let expected: String = text(case, "utf8_query")
            .chars()
            .map(|c| {
                if c == '%' || c.is_ascii_alphanumeric() {
                    c.to_string()
                } else {
                    percent_encode(&c.to_string())
                }
            })
            .collect();
        assert_eq!(percent_encode(text(case, "input")), expected, "{case}");
    }
    println!("url/percent-encoding.json: {} right, 0 argued, 0 wrong", cases.len());
}
