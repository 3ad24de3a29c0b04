//! What needs a terminal: questions. Driven through `script` (util-linux), where it is there.

#![cfg(target_os = "linux")]

use std::process::Command;

use crate::support::{Api, NOTES, Said, TOKEN, file, notes_api, said_with_input};

/// Runs `connector` with these arguments in a terminal of its own and types this text.
fn in_terminal(args: &[&str], typed: &str) -> Option<Said> {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: `script` is not here");
        return None;
    }
    let quote = |arg: &&str| format!("'{}'", arg.replace('\'', "'\\''"));
    let line = [env!("CARGO_BIN_EXE_connector")].iter().chain(args).map(quote).collect::<Vec<_>>().join(" ");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("NOTES_TOKEN", TOKEN).env("TERM", "xterm");
    command.env_remove("NO_COLOR");
    Some(said_with_input(&mut command, typed.as_bytes()))
}

fn add(api: &Api, secret: &str, typed: &str) -> Option<Said> {
    let path = file("notes.json", NOTES);
    let origin = format!("server={}", api.origin());
    let args = [
        "call",
        &path,
        "add",
        r#"{"text": "x"}"#,
        "--origin",
        &origin,
        "--setting",
        "notebook=garden",
        "--setting",
        "shelf=3",
        "--allow",
        "loopback",
        "--allow",
        "cleartext-credentials",
        "--secret",
        secret,
    ];
    in_terminal(&args, typed)
}

#[test]
fn a_person_is_asked_and_only_yes_is_yes() {
    let api = notes_api();
    for answer in ["no\n", "y\n", "\n", "yes please\n"] {
        let Some(said) = add(&api, "token=env:NOTES_TOKEN", answer) else { return };
        assert_eq!(said.status, 1, "{answer:?}: {}", said.out);
        assert!(said.out.contains("Send it? Write `yes`:"), "{}", said.out);
        assert!(said.out.contains("plan.confirmation_required"), "{}", said.out);
        assert_eq!(api.requests().len(), 0);
    }
    let said = add(&api, "token=env:NOTES_TOKEN", "yes\n").unwrap();
    assert_eq!(said.status, 0, "{}", said.out);
    assert!(said.out.contains("\u{1b}[1mPOST http://127.0.0.1:"), "the preview, with colour: {}", said.out);
    assert!(said.out.contains("\"status\":201"), "{}", said.out);
    assert_eq!(api.requests().len(), 1);
}

#[test]
fn a_secret_is_asked_for_and_not_shown() {
    let api = notes_api();
    let typed = format!("{TOKEN}\nyes\n");
    let Some(said) = add(&api, "token=prompt", &typed) else { return };
    assert_eq!(said.status, 0, "{}", said.out);
    assert!(said.out.contains("token: "), "{}", said.out);
    assert_eq!(api.requests()[0].header("authorization").as_deref(), Some("Bearer tk-4711-secret"));
}
