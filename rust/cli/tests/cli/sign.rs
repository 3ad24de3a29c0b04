//! `connector hash`, `sign` and `verify`.

use std::fs;

use crate::support::{NOTES, connector, file, folder, run, said};

#[test]
fn a_hash_is_that_of_the_exact_bytes() {
    let said = run(&["hash", &file("a.json", "abc")]);
    assert_eq!(said.out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n");
    assert_eq!(run(&["hash", "nowhere.json"]).status, 1);
}

#[test]
fn a_signed_file_verifies_and_any_other_does_not() {
    let folder = folder();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let made = run(&["sign", &path("author"), "--make-key", "--no-password"]);
    assert_eq!(made.status, 0, "{}", made.err);
    let public = made.out.trim();
    assert!(fs::read_to_string(path("author.pub")).unwrap().contains(public));
    let again = run(&["sign", &path("author"), "--make-key", "--no-password"]);
    assert_eq!(again.status, 1, "a key is never written over");
    fs::write(path("notes.json"), NOTES).unwrap();
    let signed = run(&["sign", &path("notes.json"), "--key", &path("author.key")]);
    assert_eq!(signed.status, 0, "{}", signed.err);
    for key in [public, &path("author.pub")] {
        let verified = run(&["verify", &path("notes.json"), "--key", key]);
        assert!(verified.status == 0 && verified.out.contains(public), "{}", verified.err);
    }
    fs::write(path("notes.json"), format!("{NOTES} ")).unwrap();
    let changed = run(&["verify", &path("notes.json"), "--key", public]);
    assert!(changed.status == 1 && changed.err.contains("[signature.invalid]"), "{}", changed.err);
    run(&["sign", &path("other"), "--make-key", "--no-password"]);
    fs::write(path("notes.json"), NOTES).unwrap();
    let stranger = run(&["verify", &path("notes.json"), "--key", &path("other.pub")]);
    assert!(stranger.status == 1 && stranger.err.contains("[signature.key]"), "{}", stranger.err);
    // What is installed from a source that must sign, under a key for this id.
    let store = path("store");
    let install = |more: &[&str]| {
        let (notes, origin) = (path("notes.json"), "server=https://notes.example");
        let args = [
            "install",
            &notes,
            "--store",
            &store,
            "--origin",
            origin,
            "--setting",
            "notebook=a",
            "--setting",
            "shelf=1",
        ];
        run(&[&args, more].concat())
    };
    let unsigned = install(&["--require-signature"]);
    assert!(unsigned.err.contains("[signature.missing]"), "{}", unsigned.err);
    let (signature, wrong, right) =
        (path("notes.json.minisig"), format!("{public}=tasks"), format!("{public}=tasks,notes"));
    let foreign = install(&["--signature", &signature, "--trust", &wrong]);
    assert!(foreign.err.contains("[signature.key]"), "{}", foreign.err);
    let fine = install(&["--signature", &signature, "--trust", &right, "--require-signature"]);
    assert_eq!(fine.status, 0, "{}", fine.err);
    let listed = run(&["list", "--store", &store]).out;
    assert!(listed.contains(&format!("signed by {public}")), "{listed}");
    // Signed never becomes unsigned.
    assert!(install(&[]).err.contains("[merge.source]"));
}

#[test]
fn a_key_under_a_password_needs_it() {
    let folder = folder();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let with = |password: &str, args: &[&str]| said(connector().args(args).env("KEY_PASSWORD", password));
    let name = path("author");
    let made = with("open sesame", &["sign", &name, "--make-key", "--password", "env:KEY_PASSWORD"]);
    assert_eq!(made.status, 0, "{}", made.err);
    fs::write(path("notes.json"), NOTES).unwrap();
    let (notes, key) = (path("notes.json"), path("author.key"));
    let sign = ["sign", &notes, "--key", &key, "--password", "env:KEY_PASSWORD"];
    let wrong = with("close sesame", &sign);
    assert!(wrong.status == 1 && wrong.err.contains("[signature.invalid]"), "{}", wrong.err);
    assert_eq!(with("open sesame", &sign).status, 0);
    assert_eq!(run(&["verify", &notes, "--key", made.out.trim()]).status, 0);
    let literal = run(&["sign", &notes, "--key", &key, "--password", "open sesame"]);
    assert!(literal.status == 2 && !literal.err.contains("sesame"), "{}", literal.err);
}
