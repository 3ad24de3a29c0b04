//! Checking a manifest, every rule and every schema, against `serde_json` reading the same bytes into a `Value`.

use std::fmt::Write;
use std::hint::black_box;

use connector_core::TrustLimits;
use connector_core::manifest::check;

use crate::table::{Table, in_turns};

pub(crate) fn rows(table: &mut Table) {
    let text = manifest(50, 64 << 10);
    let limits = TrustLimits::default();
    let report = check(text.as_bytes(), &limits);
    assert!(report.manifest.is_some(), "{:?}", report.findings.list().first());
    let pair = in_turns(
        400,
        || drop(black_box(check(black_box(text.as_bytes()), &limits))),
        || drop(black_box(serde_json::from_slice::<serde_json::Value>(black_box(text.as_bytes())).unwrap())),
    );
    table.times("check a 64 KB manifest of 50 tools / serde_json Value", &pair, 3.0);
}

/// A manifest of `tools` tools in the manner of real ones, brought to about `bytes` by its descriptions.
pub(crate) fn manifest(tools: usize, bytes: usize) -> String {
    let fill = (bytes / tools).saturating_sub(1_020);
    let sentence = "Finds the notes that hold all of these words, newest first. ";
    let description: String = sentence.chars().cycle().take(fill).collect();
    let mut list = String::new();
    for index in 0..tools {
        let comma = if index > 0 { "," } else { "" };
        write!(
            list,
            r#"{comma}{{"name":"find_{index}","description":"{description}","effect":"read",
"parameters":{{"type":"object","properties":{{
"words":{{"type":"string","minLength":1,"maxLength":200,"description":"The words to look for."}},
"state":{{"type":"string","enum":["open","done","all"],"description":"Which notes."}},
"since":{{"type":"string","format":"date"}},
"page":{{"type":"integer","minimum":1,"maximum":1000}},
"labels":{{"type":"array","items":{{"type":"string","maxLength":40}},"minItems":1,"maxItems":5}}}},
"required":["words"]}},
"request":{{"method":"GET","origin":"api","path":["v1","notes",{{"$param":"words"}}],
"query":{{"state":{{"$param":"state","absent":"omit"}},"since":{{"$param":"since","absent":"omit"}},
"page":{{"$param":"page","absent":"omit"}},"label":{{"$param":"labels","array":"repeat","absent":"omit"}}}},
"headers":{{"Authorization":{{"$credential":"token","scheme":"Bearer"}}}}}},
"response":{{"from":"/results","each":true,"limit":10,"fields":{{"id":"/id","title":"/title"}},"error":{{"message":"/detail"}}}}}}"#
        )
        .unwrap();
    }
    format!(
        r#"{{"manifestVersion":1,"id":"notes","version":"1.0.0","title":"Notes","description":"Notes.",
"origins":{{"api":"https://api.notes.example"}},"credentials":{{"token":{{"title":"Token","origin":"api"}}}},"tools":[{list}]}}"#
    )
}
