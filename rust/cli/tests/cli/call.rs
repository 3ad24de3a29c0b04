//! `connector call`: a real request; secrets from where they may come from, and never from the command line.

use crate::support::{Api, NOTES, Said, TOKEN, connector, file, json, notes_api, said};

struct Call {
    command: std::process::Command,
}

/// A call of a tool of [`NOTES`] at this server.
fn call(api: &Api, tool: &str, arguments: &str) -> Call {
    let path = file("notes.json", NOTES);
    let mut command = connector();
    command.args(["call", &path, tool, arguments, "--origin", &format!("server={}", api.origin())]);
    command.args(["--setting", "notebook=garden", "--setting", "shelf=3"]);
    command.args(["--allow", "loopback", "--allow", "cleartext-credentials"]);
    Call { command }
}

impl Call {
    fn with(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    /// The token in a variable.
    fn with_token(mut self, token: &str) -> Self {
        self.command.args(["--secret", "token=env:NOTES_TOKEN"]).env("NOTES_TOKEN", token);
        self
    }

    /// Whatever it says, the secret is not in it.
    fn run(mut self) -> Said {
        let said = said(&mut self.command);
        assert!(!said.out.contains(TOKEN) && !said.err.contains(TOKEN), "{} {}", said.out, said.err);
        said
    }
}

#[test]
fn a_read_prints_the_text_for_the_model_and_nothing_else() {
    let api = notes_api();
    let said = call(&api, "find", r#"{"words": "green tea"}"#).with_token(TOKEN).run();
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    // The server sent the token back; the model does not get it.
    assert_eq!(
        said.out,
        "{\"tool\":\"notes.find\",\"status\":200,\"data\":[{\"title\":\"Tea\"},\"[credential]\"]}\n"
    );
    assert_eq!(api.seen(), ["GET /garden/notes?q=green%20tea"]);
}

#[test]
fn an_error_of_the_server_is_an_answer_with_status_1() {
    let api = Api::new(|_| json("404 Not Found", r#"{"detail": "no such notebook"}"#));
    let said = call(&api, "find", r#"{"words": "tea"}"#).with_token(TOKEN).run();
    assert_eq!((said.status, said.err.as_str()), (1, ""));
    let error = "{\"tool\":\"notes.find\",\"status\":404,\"text\":\"Error (404): no such notebook\"}\n";
    assert_eq!(said.out, error);
}

#[test]
fn a_credential_that_the_server_refuses_is_rejected() {
    let api = notes_api();
    let said = call(&api, "find", r#"{"words": "tea"}"#).with_token("another").run();
    assert_eq!((said.status, said.out.as_str()), (1, ""));
    assert!(said.err.starts_with("error[credential.rejected]: "), "{}", said.err);
    assert_eq!(api.requests().len(), 1, "the same secret is not sent twice");
}

#[test]
fn a_write_needs_a_confirmation() {
    let api = notes_api();
    let said = call(&api, "add", r#"{"text": "x"}"#).with_token(TOKEN).run();
    assert_eq!((said.status, said.out.as_str()), (1, ""));
    assert!(said.err.contains("needs a confirmation: effect\n"), "the preview is shown: {}", said.err);
    assert!(said.err.contains("error[plan.confirmation_required]: "), "{}", said.err);
    assert!(said.err.contains("--yes"), "{}", said.err);
    assert_eq!(api.requests().len(), 0, "nothing was sent");

    let said = call(&api, "add", r#"{"text": "x"}"#).with_token(TOKEN).with(&["--yes"]).run();
    assert_eq!(said.status, 0, "{}", said.err);
    assert_eq!(said.out, "{\"tool\":\"notes.add\",\"status\":201,\"data\":{\"id\":7}}\n");
    assert!(said.err.contains("\n{\"text\":\"x\"}\n"), "the preview is shown all the same: {}", said.err);
    assert_eq!(api.seen(), ["POST /garden/notes?shelf=3"]);
    assert_eq!(api.requests()[0].body(), br#"{"text":"x"}"#);
}

#[test]
#[cfg(unix)]
fn a_secret_may_come_from_a_file_descriptor() {
    let api = notes_api();
    let token = file("token", format!("{TOKEN}\n"));
    let by_descriptor = call(&api, "clear", "{}").with(&["--yes", "--secret", "token=fd:7"]).command;
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "token=$1; shift; exec \"$@\" 7<\"$token\"", "sh", &token]);
    shell.arg(by_descriptor.get_program()).args(by_descriptor.get_args());
    let said = said(&mut shell);
    assert_eq!(said.status, 0, "{}", said.err);
    assert_eq!(said.out, "{\"tool\":\"notes.clear\",\"status\":204,\"text\":\"OK (204)\"}\n");
    assert_eq!(api.requests()[0].header("authorization").as_deref(), Some("Bearer tk-4711-secret"));
    let closed = call(&api, "clear", "{}").with(&["--yes", "--secret", "token=fd:77"]).run();
    assert_eq!(closed.status, 1);
    assert!(closed.err.contains("error[file.unreadable]: "), "{}", closed.err);
}

#[test]
fn a_secret_on_the_command_line_is_wrong_use_and_is_not_repeated() {
    let api = notes_api();
    for secret in
        [TOKEN, &format!("token={TOKEN}"), &format!("token=secret:{TOKEN}"), &format!("token=fd:{TOKEN}")]
    {
        let said = call(&api, "clear", "{}").with(&["--yes", "--secret", secret]).run();
        assert_eq!(said.status, 2);
        assert_eq!(said.err, "error: --secret takes NAME=env:VARIABLE, NAME=fd:NUMBER or NAME=prompt\n");
    }
    let twice = call(&api, "clear", "{}").with_token(TOKEN).with_token(TOKEN).run();
    assert_eq!(twice.status, 2);
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn a_secret_that_is_not_there_is_missing() {
    let api = notes_api();
    for (more, code, tells) in [
        (&[][..], "credential.missing", "--secret NAME=env:VARIABLE"),
        (
            &["--secret", "token=env:NO_SUCH_VARIABLE"],
            "credential.missing",
            "the variable NO_SUCH_VARIABLE is not set",
        ),
        (&["--secret", "other=env:PATH"], "credential.unknown", "no credential of this name"),
    ] {
        let said = call(&api, "find", r#"{"words": "tea"}"#).with(more).run();
        assert_eq!((said.status, said.out.as_str()), (1, ""), "{more:?}");
        assert!(
            said.err.starts_with(&format!("error[{code}]: ")) && said.err.contains(tells),
            "{}",
            said.err
        );
    }
    let said = call(&api, "find", r#"{"words": "tea"}"#).with_token("").run();
    assert!(said.err.starts_with("error[credential.invalid]: "), "{}", said.err);
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn what_the_network_refuses_has_a_code() {
    let api = Api::new(|_| json("302 Found\r\nLocation: http://169.254.169.254/", "{}"));
    let said = call(&api, "find", r#"{"words": "tea"}"#).with_token(TOKEN).run();
    assert_eq!((said.status, said.out.as_str()), (1, ""));
    assert!(said.err.starts_with("error[net.redirect]: "), "{}", said.err);

    let gone = api.origin();
    drop(api);
    let path = file("notes.json", NOTES);
    let mut command = connector();
    command.args([
        "call",
        &path,
        "clear",
        "--yes",
        "--origin",
        &format!("server={gone}"),
        "--setting",
        "notebook=x",
    ]);
    command.args(["--setting", "shelf=1", "--allow", "loopback", "--allow", "cleartext-credentials"]);
    command.args(["--secret", "token=env:NOTES_TOKEN"]).env("NOTES_TOKEN", TOKEN);
    let said = crate::support::said(&mut command);
    assert_eq!((said.status, said.out.as_str()), (1, ""));
    assert!(said.err.contains("error[net.connect]: "), "{}", said.err);
}

#[test]
fn the_wait_that_a_server_asks_for_is_told() {
    let api = Api::new(|_| json("429 Too Many Requests\r\nRetry-After: 60", "{}"));
    let said = call(&api, "find", r#"{"words": "tea"}"#).with_token(TOKEN).run();
    assert_eq!(said.status, 1);
    assert_eq!(said.err, "The server asks to wait 60 s before another call.\n");
}

#[cfg(unix)]
#[test]
fn a_write_that_is_interrupted_tells_that_its_outcome_is_unknown() {
    use connector_testkit::Step;
    use std::io::Read;
    use std::process::Stdio;

    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let api = Api::plain(vec![Step::ReadRequest, Step::AwaitClose]);
        let mut call = call(&api, "add", r#"{"text": "x"}"#).with_token(TOKEN).with(&["--yes"]);
        let mut child = call.command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while api.requests().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{signal}");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains("error[outcome_unknown]: "), "{said}");
    }
}
