//! Whatever a file holds, and whether it is one at all: a clear error with a stable code, and status 1.

use std::fs;

use serde_json::json;

use crate::support::{NOTES, file, folder, run};

/// The rule of the only finding, from the report for programs; the text form must name it too.
fn only_rule(path: &str) -> String {
    let report = run(&["check", path, "--format", "json"]);
    assert_eq!((report.status, report.err.as_str()), (1, ""), "{path}");
    let report = report.json();
    assert_eq!(report["ok"], false);
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report}");
    let rule = findings[0]["rule"].as_str().unwrap().to_owned();
    let text = run(&["check", path]);
    assert_eq!((text.status, text.err.as_str()), (1, ""), "{path}");
    assert!(text.out.starts_with(&format!("error[{rule}]: ")), "{}", text.out);
    assert!(text.out.lines().all(|line| line.chars().count() < 400), "{}", text.out);
    rule
}

/// A file of zeros that takes no room on the disk.
pub(crate) fn sparse(bytes: u64) -> String {
    let path = folder().join("huge.json");
    fs::File::create(&path).unwrap().set_len(bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn no_json_at_all() {
    let cases: [(&str, &[u8], &str); 12] = [
        ("empty", b"", "json.syntax"),
        ("blank", b" \n\t\r\n", "json.syntax"),
        ("text", b"manifestVersion: 1\n", "json.syntax"),
        ("cut", b"{\"manifestVersion\": 1,", "json.syntax"),
        ("comment", b"{} // x", "json.syntax"),
        ("two documents", b"{}{}", "json.syntax"),
        ("zeros", &[0; 4096], "json.syntax"),
        ("binary", b"\x7fELF\x02\x01\x01\x00\xff\xfe\x80\x00\x1b[31m", "json.encoding"),
        ("invalid UTF-8", b"{\"id\": \"\xc3\x28\"}", "json.encoding"),
        ("UTF-16", b"\xff\xfe{\x00}\x00", "json.encoding"),
        ("byte order mark", b"\xef\xbb\xbf{}", "json.bom"),
        ("doubled member", b"{\"manifestVersion\": 1, \"manifestVersion\": 1}", "json.duplicate_member"),
    ];
    for (name, bytes, expected) in cases {
        let path = file("bad.json", bytes);
        if expected == "json.duplicate_member" {
            let report = run(&["check", &path, "--format", "json"]).json();
            let rules: Vec<&str> =
                report["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect();
            assert!(rules.contains(&expected), "{name}: {rules:?}");
        } else {
            assert_eq!(only_rule(&path), expected, "{name}");
        }
    }
}

#[test]
fn too_deep_and_too_large() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    assert_eq!(only_rule(&file("deep.json", deep)), "json.too_deep");
    let objects = "{\"a\":".repeat(10_000) + "1" + &"}".repeat(10_000);
    assert_eq!(only_rule(&file("objects.json", objects)), "json.too_deep");
    assert_eq!(only_rule(&sparse(300 << 20)), "json.too_large");
    let padded = |bytes: usize| NOTES.to_owned() + &" ".repeat(bytes - NOTES.len());
    assert_eq!(only_rule(&file("over.json", padded((1 << 20) + 1))), "json.too_large");
    assert_eq!(run(&["check", &file("full.json", padded(1 << 20))]).status, 0, "the limit itself is taken");
}

#[test]
fn another_version_is_refused_before_anything_else_is_judged() {
    for version in ["2", "1.0", "\"1\"", "1e0", "null"] {
        let text = format!("{{\"manifestVersion\": {version}, \"what\": 1}}");
        assert_eq!(only_rule(&file("version.json", text)), "manifest.manifest_version", "{version}");
    }
    assert_eq!(only_rule(&file("version.json", "{\"what\": 1}")), "manifest.manifest_version");
}

#[test]
fn no_file_to_read() {
    let folder = folder();
    let shown = folder.to_str().unwrap().to_owned();
    let missing = format!("{shown}/no-such-file.json");
    let mut cases = vec![(missing, "there is no such file"), (shown, "it is a directory, not a file")];
    if cfg!(target_os = "linux") {
        cases.push(("/proc/self/mem".to_owned(), "Input/output error"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let closed = file("closed.json", NOTES);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::read(&closed).is_err() {
            cases.push((closed, "it may not be read"));
        } else {
            println!("skipped: this user may read every file");
        }
    }
    for (path, reason) in &cases {
        let said = run(&["check", path]);
        assert_eq!((said.status, said.out.as_str()), (1, ""), "{path}");
        assert!(
            said.err.starts_with(&format!("error[file.unreadable]: cannot read {path}: {reason}")),
            "{}",
            said.err
        );
        let report = run(&["check", path, "--format", "json"]);
        assert_eq!((report.status, report.err.as_str()), (1, ""));
        let report = report.json();
        assert_eq!((&report["ok"], &report["findings"]), (&json!(false), &json!([])));
        assert_eq!(report["error"]["code"], "file.unreadable");
        for command in ["preview", "call"] {
            let said = run(&[command, path, "find"]);
            assert_eq!((said.status, said.out.as_str()), (1, ""), "{command} {path}");
            assert!(said.err.starts_with("error[file.unreadable]: "), "{}", said.err);
        }
    }
}

#[test]
fn line_ends_of_every_kind_keep_their_place() {
    let crlf = NOTES.replace('\n', "\r\n");
    assert_eq!(run(&["check", &file("crlf.json", &crlf)]).status, 0);
    let bad = crlf.replace("\"1.0.0\"", "\"1 0 0\"");
    let said = run(&["check", &file("crlf.json", bad)]);
    assert_eq!(said.status, 1);
    assert!(
        said.out.contains(":4:14\n  |\n4 |   \"version\": \"1 0 0\",\n  |              ^^^^^^^\n"),
        "{}",
        said.out
    );
    assert!(!said.out.contains('\r'));
}

#[test]
fn a_call_refuses_the_same_files_before_it_connects() {
    for (bytes, code) in [(&b"{"[..], "manifest.invalid"), (b"\xff", "manifest.invalid")] {
        let path = file("bad.json", bytes);
        for command in ["preview", "call"] {
            let said = run(&[command, &path, "find"]);
            assert_eq!((said.status, said.out.as_str()), (1, ""));
            assert!(said.err.starts_with(&format!("error[{code}]: ")), "{}", said.err);
        }
    }
    let huge = sparse(300 << 20);
    let said = run(&["call", &huge, "find"]);
    assert_eq!(said.status, 1);
    assert!(said.err.starts_with("error[json.too_large]: "), "{}", said.err);
}
