//! What a tool stands on, and the bounds of its calls.

use std::time::Duration;

use connector_core::TrustLimits;
use connector_core::request::Redirects;
use serde_json::json;

use crate::base::{base, report};

#[test]
fn a_tool_stands_on_what_it_uses_as_written() {
    let mut written = base();
    written["tools"][0]["description"] = json!("Find\u{200b} notes.");
    let manifest = report(&written).manifest.unwrap();
    let find = &manifest.tools()[0];
    assert_eq!(find.description(), "Find notes.");
    let source = manifest.effect_source(find).unwrap();
    assert_eq!(source.tool.to_text(), written["tools"][0].to_string());
    assert_eq!(
        source.connector.map(|(name, value)| (name, value.map(|value| value.to_text()))),
        [
            ("title", Some("\"Notes\"".into())),
            ("description", Some("\"Find and add notes.\"".into())),
            ("homepage", Some("\"https://notes.example\"".into())),
        ]
    );
    let names =
        |parts: &[(&connector_core::shape::Identifier, &connector_core::json::Value)]| -> Vec<String> {
            parts.iter().map(|(name, value)| format!("{name} {value}")).collect()
        };
    assert_eq!(names(&[source.origin]), [r#"api "https://api.notes.example""#]);
    assert_eq!(
        names(&source.settings),
        [
            r#"book {"title":"Notebook","description":"Only this notebook is used."}"#,
            r#"page {"title":"Page size","type":"integer"}"#,
            r#"tone {"title":"Tone","choices":["plain","warm"]}"#,
        ]
    );
    assert_eq!(names(&source.credentials), [r#"token {"title":"API token","origin":"api"}"#]);
    let add = manifest.effect_source(&manifest.tools()[1]).unwrap();
    assert_eq!((names(&add.settings).len(), names(&add.credentials).len()), (1, 1));
}

#[test]
fn budgets_are_those_of_the_host_lowered() {
    let manifest = report(&base()).manifest.unwrap();
    let host = TrustLimits::default();
    let [find, add, drop, ..] = manifest.tools() else { panic!("the base has tools") };
    let budget = find.budget(&host);
    assert_eq!((budget.total, budget.connect), (Duration::from_secs(10), Duration::from_secs(5)));
    assert_eq!((budget.decoded_bytes, budget.wire_bytes), (100_000, 100_000));
    assert_eq!(
        (budget.retries, budget.redirects, find.calls_per_minute(&host)),
        (2, Redirects::SameOrigin, 10)
    );
    assert!(find.is_repeatable() && add.is_repeatable() && !drop.is_repeatable());
    let budget = add.budget(&host);
    assert_eq!(
        (budget.total, budget.retries, budget.redirects),
        (Duration::from_secs(20), 1, Redirects::None)
    );
    assert_eq!(
        (budget.decoded_bytes, budget.wire_bytes, add.calls_per_minute(&host)),
        (4 << 20, 1 << 20, 30)
    );
    let budget = drop.budget(&TrustLimits { total_timeout: Duration::from_secs(3), ..host });
    assert_eq!(
        (budget.total, budget.connect, budget.retries),
        (Duration::from_secs(3), Duration::from_secs(3), 0)
    );
}

#[test]
fn reads_are_repeated_twice_unless_the_manifest_says_otherwise() {
    let mut written = base();
    written["tools"][0]["limits"] = json!({});
    written["tools"][1]["effect"] = json!("read");
    written["tools"][1].as_object_mut().unwrap().remove("limits");
    let manifest = report(&written).manifest.unwrap();
    let host = TrustLimits::default();
    assert_eq!(manifest.tools()[0].budget(&host).retries, 2);
    assert_eq!(manifest.tools()[1].budget(&host).retries, 0);
    assert!(manifest.tools()[1].claims_that_post_reads() && !manifest.tools()[0].claims_that_post_reads());
}
