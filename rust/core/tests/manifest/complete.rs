//! Every rule that refuses is met by some test here: in a manifest, in bytes that are none, or in what a person
//! binds at install time.

use std::collections::BTreeSet;

use connector_core::grant::Grant;
use connector_core::json::{Numbers, Object, Profile, read_strict};
use connector_core::manifest::check;
use connector_core::origin::{OriginEntry, Reach};
use connector_core::toolset::Connector;
use connector_core::{Code, Severity, TrustLimits, catalogue};
use serde_json::{Value, json};

use crate::base::{base, changed, found, report};
use crate::rules::cases;

/// Rules that no manifest can break, and why.
const ELSEWHERE: [(&str, &str); 2] = [
    ("schema.number_too_long", "a number that keeps its value as a double has 17 digits at most"),
    ("export.size", "a rule of exports, met in their tests"),
];

/// Rules and pointers.
type Found = Vec<(&'static str, &'static str)>;

/// Documents that are no manifest, with what is found in them.
fn documents() -> Vec<(Vec<u8>, Found)> {
    let text = base().to_string();
    let twice = text.replacen('{', "{\"id\":\"twice\",\"title\":\"T\",", 1);
    vec![
        (vec![b' '; (1 << 20) + 1], vec![("json.too_large", "")]),
        (b"{\"manifestVersion\": 1, \"id\": \"\xff\"}".to_vec(), vec![("json.encoding", "")]),
        (["\u{feff}", &text].concat().into_bytes(), vec![("json.bom", "")]),
        (text.replace("\"id\":\"notes\",", "\"id\":\"notes\",,").into_bytes(), vec![("json.syntax", "")]),
        (
            "[".repeat(33).into_bytes(),
            vec![("json.too_deep", "/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0")],
        ),
        (twice.into_bytes(), vec![("json.duplicate_member", "/id"), ("json.duplicate_member", "/title")]),
        (
            text.replace("\"size\":10", "\"size\":9007199254740993,\"zero\":-0").into_bytes(),
            vec![
                ("json.number_inexact", "/tools/0/request/query/size"),
                ("json.number_inexact", "/tools/0/request/query/zero"),
                ("request.number", "/tools/0/request/query/size"),
                ("request.number", "/tools/0/request/query/zero"),
            ],
        ),
    ]
}

#[test]
fn bytes_that_are_no_manifest_are_refused_with_all_that_is_known() {
    for (bytes, expected) in documents() {
        let report = check(&bytes, &TrustLimits::default());
        let expected: Vec<_> =
            expected.into_iter().map(|(rule, pointer)| (rule, pointer.to_owned())).collect();
        assert_eq!(found(&report), expected, "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(80)]));
        assert!(report.manifest.is_none());
    }
}

#[test]
fn a_manifest_of_another_version_is_not_judged() {
    let text = r#"{"manifestVersion": 2, "manifestVersion": 1, "tools": "none", "x": 1e400}"#;
    assert_eq!(
        found(&check(text.as_bytes(), &TrustLimits::default())),
        [("manifest.manifest_version", "/manifestVersion".to_owned())]
    );
}

#[test]
fn all_problems_are_found_in_one_run() {
    let mut manifest = base();
    manifest["title"] = json!(7);
    manifest["origins"]["spare"] = json!("https://spare.example");
    manifest["origins"]["bad"] = json!("http://bad.example");
    manifest["settings"]["spare"] = json!({ "title": 1 });
    manifest["tools"][0]["request"]["path"] = json!("v1");
    manifest["tools"][0]["request"]["query"]["more"] = json!({ "$param": "more" });
    manifest["tools"][1]["request"]["headers"]["Host"] = json!("x");
    manifest["tools"][1]["parameters"]["properties"]["spare"] = json!({ "type": "string" });
    manifest["tools"][2]["effect"] = json!("write");
    manifest["tools"][2]["request"]["path"][1] = json!({ "$param": "id", "array": "comma" });
    manifest["tools"][3]["parameters"]["properties"]["text"]["typ"] = json!("string");
    manifest["tools"][4]["name"] = json!("find");
    let found = found(&report(&manifest));
    let mut rules: Vec<_> = found.iter().map(|(rule, pointer)| format!("{rule} {pointer}")).collect();
    rules.sort();
    assert_eq!(
        rules,
        [
            "manifest.unused_origin /origins/bad",
            "manifest.unused_origin /origins/spare",
            "manifest.unused_setting /settings/spare",
            "name.collision /tools/4/name",
            "origin.https /origins/bad",
            "parameters.unknown_property /tools/0/request/query/more",
            "parameters.unused_property /tools/1/parameters/properties/spare",
            "request.header_refused /tools/1/request/headers/Host",
            "request.slot_option /tools/2/request/path/1/array",
            "schema.keyword_unknown /tools/3/parameters/properties/text/typ",
            "shape.type /settings/spare/title",
            "shape.type /title",
            "shape.type /tools/0/request/path",
            "tool.effect /tools/2/effect",
        ]
    );
}

/// The rules that binding breaks: an entry, the value and the local addresses that a person gives.
fn bindings() -> Vec<&'static str> {
    let entry = |entry: Value| -> OriginEntry {
        let mut manifest = base();
        manifest["origins"]["server"] = json!({ "userProvided": entry });
        report(&manifest).manifest.unwrap().origins().get("server").unwrap().clone()
    };
    let fixed = OriginEntry::fixed("https://api.example.com").unwrap();
    let open = entry(json!({ "title": "T", "localNetwork": true, "basePath": true }));
    let chosen =
        entry(json!({ "title": "T", "choices": ["https://a.example.com", "https://b.example.com"] }));
    let under = entry(json!({ "title": "T", "under": "example.com" }));
    let local = Reach { local_network: true, ..Reach::PUBLIC };
    [
        fixed.bind(Some("https://api.example.com"), Reach::PUBLIC),
        open.bind(None, Reach::PUBLIC),
        open.bind(Some("https://example.com/a/../b"), Reach::PUBLIC),
        open.bind(Some("http://192.168.1.2"), Reach::PUBLIC),
        open.bind(Some("https://93.184.216.34"), local),
        open.bind(Some("http://nas.local"), Reach::PUBLIC),
        chosen.bind(Some("https://c.example.com"), Reach::PUBLIC),
        under.bind(Some("https://a.b.example.com"), Reach::PUBLIC),
    ]
    .into_iter()
    .map(|bound| bound.unwrap_err().rule().id)
    .collect()
}

fn object(value: &Value) -> Object {
    let profile = Profile { max_bytes: 1 << 20, max_depth: 9, numbers: Numbers::Any };
    read_strict(value.to_string().as_bytes(), profile).unwrap().as_object().unwrap().clone()
}

/// What a person gives for the settings of the base, with what is found.
fn settings() -> Vec<(Value, Found)> {
    let right = json!({ "book": "work", "page": 3, "tone": "warm" });
    let with = |name: &str, value: Value| {
        let mut given = right.clone();
        given[name] = value;
        given
    };
    vec![
        (right.clone(), vec![]),
        (with("page", json!(-3.0)), vec![]),
        (
            json!({}),
            vec![
                ("setting.missing", "/settings"),
                ("setting.missing", "/settings"),
                ("setting.missing", "/settings"),
            ],
        ),
        (with("shelf", json!("x")), vec![("setting.undeclared", "/settings/shelf")]),
        (with("book", json!("")), vec![("setting.value", "/settings/book")]),
        (with("book", json!(7)), vec![("setting.value", "/settings/book")]),
        (with("book", json!("a/b")), vec![("setting.value", "/settings/book")]),
        (with("book", json!("..")), vec![("setting.value", "/settings/book")]),
        (with("page", json!("3")), vec![("setting.value", "/settings/page")]),
        (with("page", json!(1.5)), vec![("setting.value", "/settings/page")]),
        (with("page", json!(9_007_199_254_740_992i64)), vec![("setting.value", "/settings/page")]),
        (with("tone", json!("cold")), vec![("setting.value", "/settings/tone")]),
    ]
}

#[test]
fn settings_are_held_to_their_declaration_and_to_their_slots() {
    let manifest = report(&base()).manifest.unwrap();
    for (given, expected) in settings() {
        let bound = manifest.bind_settings(&object(&given), &TrustLimits::default());
        let found: Vec<_> = match &bound {
            Ok(settings) => {
                assert_eq!(settings.get("book").and_then(|book| book.as_str()), Some("work"));
                vec![]
            }
            Err(refusal) => {
                assert_eq!(refusal.code, Code::GrantInvalid);
                refusal.findings.iter().map(|finding| (finding.rule.id, finding.pointer.as_str())).collect()
            }
        };
        assert_eq!(found, expected, "{given}");
    }
}

/// The rules that a grant breaks.
fn grants() -> Vec<&'static str> {
    let manifest = report(&base()).manifest.unwrap();
    let grant = json!({
        "origins": { "server": "https://me.example", "spare": "https://spare.example" },
        "settings": { "book": "work", "page": 3, "tone": "warm" },
        "only": ["find", "lose"],
    });
    let limits = TrustLimits::default();
    let grant = Grant::read(&connector_core::json::Value::Object(object(&grant)), &limits).unwrap();
    let refusal = Connector::bind(manifest, "test", grant, &limits).unwrap_err();
    refusal.findings.iter().map(|finding| finding.rule.id).collect()
}

/// A value fits its slot, and all of them together leave no room for a call.
fn long_values() -> Vec<&'static str> {
    let mut manifest = base();
    manifest["tools"][0]["request"]["query"]["book"] = json!({ "$setting": "book" });
    let manifest = report(&manifest).manifest.unwrap();
    let limits = TrustLimits::default();
    let bind = |book: usize| {
        let grant = json!({
            "origins": { "server": "https://me.example" },
            "settings": { "book": "x".repeat(book), "page": 3, "tone": "warm" },
        });
        let grant = Grant::read(&connector_core::json::Value::Object(object(&grant)), &limits).unwrap();
        Connector::bind(manifest.clone(), "test", grant, &limits)
    };
    assert!(bind(4_000).is_ok());
    let refusal = bind(4_100).unwrap_err();
    assert_eq!(refusal.code, Code::GrantInvalid);
    assert!(refusal.findings.iter().all(|finding| finding.pointer == "/settings"));
    let found = refusal.findings.iter().map(|finding| finding.rule.id).collect();
    // In a query alone, where no rule of a path helps.
    assert!(bind(9_000).is_err());
    found
}

#[test]
fn every_rule_that_refuses_is_met() {
    let mut met: BTreeSet<&str> = bindings().into_iter().collect();
    met.extend(grants());
    met.extend(long_values());
    met.extend(settings().into_iter().flat_map(|(_, expected)| expected).map(|(rule, _)| rule));
    met.extend(documents().into_iter().flat_map(|(_, expected)| expected).map(|(rule, _)| rule));
    met.extend(cases().iter().flat_map(|case| found(&report(&changed(&case.changes)))).map(|(rule, _)| rule));
    let rules = catalogue::all();
    let errors: BTreeSet<&str> =
        rules.iter().filter(|rule| rule.severity == Severity::Error).map(|rule| rule.id).collect();
    for (id, _) in ELSEWHERE {
        assert!(errors.contains(id) && !met.contains(id), "{id} is met after all, or is no rule");
    }
    let unmet: Vec<_> = errors
        .iter()
        .filter(|id| !met.contains(**id) && ELSEWHERE.iter().all(|(known, _)| known != *id))
        .collect();
    assert!(unmet.is_empty(), "no test meets {unmet:?}");
}

#[test]
fn rules_are_told_apart_and_show_the_way_out() {
    let rules = catalogue::all();
    let ids: BTreeSet<_> = rules.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), rules.len(), "an id stands twice");
    for rule in rules {
        let (area, what) = rule.id.split_once('.').unwrap();
        let plain = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        assert!(plain(area) && plain(what), "{}", rule.id);
        assert!(rule.says.ends_with('.') && rule.help.ends_with('.'), "{}", rule.id);
    }
}
