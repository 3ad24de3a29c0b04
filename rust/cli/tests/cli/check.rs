//! `connector check`: every problem in one run, for people and for programs.

use serde_json::{Value, json};

use crate::rpc::Rpc;
use crate::support::{NOTES, connector, file, of_project, run, said, said_with_input};

/// Five breaches and a warning, far apart.
const BAD: &str = "{
  \"manifestVersion\": 1,
  \"id\": \"my notes\",
  \"version\": \"1.0.0\",
  \"title\": \"Notes\",
  \"description\": 7,
  \"origins\": { \"server\": \"http://notes.example\" },
\t\"colour\": \"red\",
  \"tools\": [
    { \"name\": \"find\", \"description\": \"x\", \"effect\": \"write\",
      \"request\": { \"method\": \"GET\", \"origin\": \"server\", \"path\": [\"a\", \"..\"], \"query\": { \"api_key\": \"x\" } } }
  ]
}
";

fn rules(report: &Value) -> Vec<(&str, u64, u64)> {
    let finding = |finding: &'_ Value| {
        let place = (finding["line"].as_u64().unwrap(), finding["column"].as_u64().unwrap());
        (finding["rule"].as_str().unwrap().to_owned().leak() as &str, place.0, place.1)
    };
    let mut found: Vec<_> = report["findings"].as_array().unwrap().iter().map(finding).collect();
    found.sort_unstable_by_key(|found| (found.1, found.2));
    found
}

#[test]
fn a_good_manifest_is_named_with_its_hash() {
    let path = file("notes.json", NOTES);
    let said = run(&["check", &path]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines[0], "ok: notes 1.0.0, 3 tools");
    assert!(lines[1].starts_with("sha256 ") && lines[1].len() == 7 + 64 && lines.len() == 2, "{}", said.out);

    let report = run(&["check", &path, "--format", "json"]);
    assert_eq!(report.status, 0);
    let report = report.json();
    assert_eq!(report["ok"], true);
    assert_eq!(report["findings"], json!([]));
    assert_eq!(report["manifest"]["tools"], json!(["notes.find", "notes.add", "notes.clear"]));
    assert_eq!(format!("sha256 {}", report["manifest"]["sha256"].as_str().unwrap()), lines[1]);
}

#[test]
fn every_problem_of_a_file_is_reported_in_one_run() {
    let path = file("bad.json", BAD);
    let said = run(&["check", &path, "--format", "json"]);
    assert_eq!((said.status, said.err.as_str()), (1, ""));
    let report = said.json();
    assert_eq!(report["ok"], false);
    assert!(report.get("manifest").is_none());
    assert_eq!(
        rules(&report),
        [
            ("name.identifier", 3, 9),
            ("text.not_a_string", 6, 18),
            ("origin.https", 7, 26),
            ("shape.unknown_member", 8, 2),
            ("request.path_dots", 11, 71),
            ("request.query_secret", 11, 89),
        ]
    );
    for finding in report["findings"].as_array().unwrap() {
        let members: Vec<&String> = finding.as_object().unwrap().keys().collect();
        assert_eq!(members, ["rule", "severity", "pointer", "line", "column", "message", "help"]);
    }
    let rpc = Rpc::plain().call("manifest.check", &json!({ "text": BAD }));
    assert_eq!(rpc, report, "the seam gives the same report");
}

#[test]
fn for_a_person_each_problem_stands_under_its_line() {
    let path = file("bad.json", BAD);
    let said = run(&["check", &path]);
    assert_eq!((said.status, said.err.as_str()), (1, ""));
    let shown = said.out.replace(&path, "bad.json");
    let blocks: Vec<&str> = shown.split("\n\n").collect();
    assert_eq!(
        blocks[0],
        "error[name.identifier]: \"my notes\" is not 1 to 128 of `[A-Za-z0-9_-]`
 --> bad.json:3:9
  |
3 |   \"id\": \"my notes\",
  |         ^^^^^^^^^^
  = at: /id
  = help: Use letters, digits, `_` and `-` only; names are refused, never repaired."
    );
    assert!(blocks[1].starts_with("warning[text.not_a_string]: "), "{}", blocks[1]);
    assert!(blocks[1].contains("\n6 |   \"description\": 7,\n  |                  ^\n"), "{}", blocks[1]);
    // A tab is one column, and is shown as one.
    assert!(blocks[3].contains("\n8 |  \"colour\": \"red\",\n  |  ^^^^^^^^\n"), "{}", blocks[3]);
    // Of a long line the part around the place is shown; the margin grows with the number.
    assert!(blocks[4].contains("\n  --> bad.json:11:71\n   |\n11 | …"), "{}", blocks[4]);
    let lines: Vec<&str> = blocks[4].lines().collect();
    let column = lines[4].find("^^^^").unwrap();
    let shown: String = lines[3].chars().skip(column).take(4).collect();
    assert_eq!(shown, "\"..\"");
    assert_eq!(blocks[6], "refused: bad.json has 5 errors, 1 warning\n");
}

#[test]
fn what_the_file_holds_does_not_write_to_the_terminal() {
    let hostile = "{\n  \"manifestVersion\": 1,\n  \"a\\u001b]0;owned\\u0007\\u202eb\": \"\u{202e}\u{200b}\u{1b}[31m\",\n  \"\u{1b}[2J";
    let names = "{\"manifestVersion\": 1, \"a\\u001b]0;owned\\u0007\\u202eb\": 1, \"id\": \"\\u001b[31m\"}";
    for text in [hostile, names] {
        let path = file("hostile.json", text);
        let said = said(connector().args(["check", &path]).env("NO_COLOR", "1"));
        assert_eq!(said.status, 1);
        let written = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{200b}".contains(c));
        assert!(!said.out.contains(written), "{:?}", said.out);
    }
}

#[test]
fn stdin_is_a_file_too() {
    let said = said_with_input(connector().args(["check", "-"]), NOTES.as_bytes());
    assert_eq!(said.status, 0);
    assert!(said.out.starts_with("ok: notes"), "{}", said.out);
    let said = said_with_input(connector().args(["check", "-"]), b"{");
    assert!(said.out.contains("--> stdin:1:"), "{}", said.out);
}

#[test]
fn wrong_use_ends_with_2() {
    for args in
        [&["check"][..], &["chekc", "x"], &["check", "x", "--format", "xml"], &[], &["check", "x", "y"]]
    {
        let said = run(args);
        assert_eq!(said.status, 2, "{args:?}");
        assert_eq!(said.out, "", "{args:?}");
        assert!(said.err.starts_with("error: ") || said.err.contains("Usage: connector"), "{}", said.err);
    }
}

#[test]
fn the_first_party_connectors_pass() {
    let mut count = 0;
    for entry in std::fs::read_dir(of_project("example/connectors")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let said = run(&["check", path.to_str().unwrap()]);
            assert_eq!(said.status, 0, "{}", said.out);
            assert_eq!(said.out.lines().count(), 2, "no warning either: {}", said.out);
            count += 1;
        }
    }
    assert!(count >= 7, "{count} connectors");
}

#[test]
fn a_file_of_thousands_of_problems_is_reported_within_bounds() {
    let members: Vec<String> = (0..20_000).map(|number| format!("\"member{number}\": {number}")).collect();
    // All on one line, where each excerpt has to be cut out of it.
    let path = file("many.json", format!("{{\"manifestVersion\": 1, {}}}", members.join(", ")));
    let said = run(&["check", &path]);
    assert_eq!(said.status, 1);
    assert!(said.out.contains("\n... and "), "the rest is counted");
    assert!(said.out.lines().count() < 9_000 && said.out.len() < 2 << 20);
}
