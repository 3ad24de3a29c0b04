//! `connector preview`: the exact request, not sent.

use serde_json::json;

use crate::support::{NOTES, connector, file, run, said_with_input};

const GRANT: [&str; 8] = [
    "--origin",
    "server=http://192.168.1.7:8080",
    "--setting",
    "notebook=my work",
    "--setting",
    "shelf=3",
    "--allow",
    "local-network",
];

fn preview(more: &[&str]) -> crate::support::Said {
    let path = file("notes.json", NOTES);
    let mut args = vec!["preview", path.as_str()];
    args.extend(more);
    args.extend(GRANT);
    let mut said = run(&args);
    (said.out, said.err) = (said.out.replace(&path, "notes.json"), said.err.replace(&path, "notes.json"));
    said
}

#[test]
fn a_person_sees_what_goes_on_the_wire() {
    let said = preview(&["find", r#"{"words": "green tea/50%"}"#, "--allow", "cleartext-credentials"]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert_eq!(
        said.out,
        "notes from file:notes.json (Notes)
notes.find, read
GET http://192.168.1.7:8080/my%20work/notes?q=green%20tea%2F50%25
Host: 192.168.1.7:8080
Authorization: Bearer <credential token>
User-Agent: connector-core/0.1.0
Accept: application/json, text/*;q=0.9, */*;q=0.1
Accept-Encoding: gzip, deflate
"
    );
    let said = preview(&["notes.add", r#"{"text": "a\nb"}"#, "--allow", "cleartext-credentials"]);
    assert!(said.out.ends_with("\n\n{\"text\":\"a\\nb\"}\nneeds a confirmation: effect\n"), "{}", said.out);
}

#[test]
fn a_program_gets_the_preview_as_json() {
    let said = preview(&["add", r#"{"text": "x"}"#, "--format", "json", "--allow", "cleartext-credentials"]);
    assert_eq!(said.status, 0);
    let preview = said.json();
    let members: Vec<&String> = preview.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "tool",
            "effect",
            "connector",
            "source",
            "origin",
            "method",
            "url",
            "headers",
            "body",
            "display",
            "needsConfirmation"
        ]
    );
    assert_eq!(preview["needsConfirmation"], json!(["effect"]));
    assert_eq!(preview["url"], "http://192.168.1.7:8080/my%20work/notes?shelf=3");
    assert_eq!(preview["origin"], "http://192.168.1.7:8080");
    assert_eq!(preview["body"], r#"{"text":"x"}"#);
    let authorization = json!({"name": "Authorization", "value": "Bearer <credential token>", "fixed": false, "credential": true});
    assert!(preview["headers"].as_array().unwrap().contains(&authorization), "{preview}");
}

#[test]
fn arguments_may_come_from_stdin() {
    let path = file("notes.json", NOTES);
    let mut command = connector();
    command.args(["preview", &path, "find", "-", "--allow", "cleartext-credentials"]).args(GRANT);
    let said = said_with_input(&mut command, br#"{"words": "tea"}"#);
    assert_eq!(said.status, 0, "{}", said.err);
    assert!(said.out.contains("/notes?q=tea\n"), "{}", said.out);
    let said = said_with_input(&mut command, &vec![b' '; (256 << 10) + 1]);
    assert_eq!(said.status, 1);
    assert!(said.err.starts_with("error[json.too_large]: stdin "), "{}", said.err);
    let said = said_with_input(&mut command, b"\xff");
    assert!(said.err.starts_with("error[call.invalid]: "), "{}", said.err);
    assert_eq!(run(&["preview", "-", "find", "-"]).status, 2, "stdin cannot be both");
}

#[test]
fn refusals_have_a_code_and_show_the_way_out() {
    for (more, code, tells) in [
        (&["find", "{}", "--allow", "cleartext-credentials"][..], "call.arguments", "for the model: "),
        (&["find", "[1]"], "call.invalid", "for the model: "),
        (&["nothing"], "call.not_exported", "help: it has notes.find, notes.add, notes.clear"),
        (&["find", r#"{"words": "tea"}"#], "grant.denied", "help: open what is closed with --allow WORD"),
        (&["clear", "{}", "--origin", "other=https://x.example"], "grant.invalid", "/origins/other: "),
        (&["clear", "{}", "--setting", "other=x"], "grant.invalid", "/settings/other: "),
    ] {
        let said = preview(more);
        assert_eq!((said.status, said.out.as_str()), (1, ""), "{more:?}");
        assert!(said.err.starts_with(&format!("error[{code}]: ")), "{more:?}: {}", said.err);
        assert!(said.err.contains(tells), "{more:?}: {}", said.err);
    }
    let path = file("notes.json", NOTES);
    let unbound = run(&["preview", &path, "clear", "--setting", "shelf=x"]);
    assert_eq!(unbound.status, 1);
    for breach in ["[origin.unbound]", "the setting `notebook` is not given", "/settings/shelf: "] {
        assert!(unbound.err.contains(breach), "{breach}: {}", unbound.err);
    }
    for wrong in [
        &["--origin", "server"][..],
        &["--setting", "=x"],
        &["--allow", "everything"],
        &["--origin", "a=b", "--origin", "a=c"],
    ] {
        let args: Vec<&str> = ["preview", &path, "clear"].iter().chain(wrong).copied().collect();
        assert_eq!(run(&args).status, 2, "{wrong:?}");
    }
}
