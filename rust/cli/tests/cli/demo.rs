//! `connector demo`.

use crate::support::{connector, file, of_project, run, said};

#[test]
fn the_demo_runs_the_whole_path_and_refuses_three_attacks() {
    let said = said(connector().arg("demo").current_dir(of_project("")));
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    let text = &said.out;
    let mut at = 0;
    for expected in [
        "1. A manifest is checked and installed",
        "example/connectors/vikunja.json",
        "list_tasks",
        "2. A model reads",
        "| GET http://127.0.0.1:",
        "| Authorization: Bearer <credential token>",
        "model reads  {\"tool\":\"vikunja.list_tasks\",\"status\":200,\"data\":[{\"id\":1,",
        "3. A model writes",
        "| PUT http://127.0.0.1:",
        "| {\"title\":\"Buy tea / milk? 100%\"}",
        "| needs a confirmation: effect",
        "status       201",
        "4. Three attacks",
        "refused      call.arguments",
        "refused      plan.confirmation_required",
        "not one byte left the device",
        "302, Location: http://169.254.169.254/",
        "refused      net.redirect",
        "5. The audit trail",
        "install  vikunja ",
        "call     vikunja.list_tasks   ok ",
        "started  vikunja.create_task  started ",
        "call     vikunja.get_task     call.arguments ",
        "call     vikunja.delete_task  plan.confirmation_required ",
        "call     vikunja.get_me       net.redirect ",
        "verified",
    ] {
        let found = text[at..]
            .find(expected)
            .unwrap_or_else(|| panic!("{expected:?} comes next in\n{}", &text[at..]));
        at += found + expected.len();
    }
    assert!(!text.contains("tk_demo"), "no secret is shown");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?} columns");
    assert!(text.lines().all(|line| line.trim_end() == line), "no line ends in blanks");
    assert!(!text.contains("\n\n\n"), "no two empty lines");
}

#[test]
fn it_finds_its_manifest_from_any_folder_of_the_project() {
    for folder in ["rust/cli", "docs"] {
        let said = said(connector().arg("demo").current_dir(of_project(folder)));
        assert_eq!(said.status, 0, "{}", said.err);
    }
    let manifest = of_project("example/connectors/vikunja.json");
    assert_eq!(run(&["demo", manifest.to_str().unwrap()]).status, 0);
}

#[test]
fn without_its_manifest_it_says_where_to_run_it() {
    let outside = said(connector().arg("demo").current_dir(std::env::temp_dir()));
    assert_eq!(outside.status, 1);
    assert!(outside.err.starts_with("error[file.unreadable]: "), "{}", outside.err);
    assert!(outside.err.contains("help: run it in the folder of this project"), "{}", outside.err);
    let wrong = run(&["demo", &file("bad.json", "{}")]);
    assert_eq!(wrong.status, 1);
    assert!(wrong.err.starts_with("error[manifest.invalid]: "), "{}", wrong.err);
}

#[test]
fn colour_stands_only_where_it_is_wanted() {
    let folder = of_project("");
    let escapes = |set: &[(&str, &str)]| {
        let mut command = connector();
        command.arg("demo").current_dir(&folder).envs(set.iter().copied());
        said(&mut command).out.contains('\u{1b}')
    };
    assert!(!escapes(&[]), "a pipe is no terminal");
    assert!(escapes(&[("CLICOLOR_FORCE", "1")]));
    assert!(!escapes(&[("NO_COLOR", "1")]));
}
