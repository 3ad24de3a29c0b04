//! Installing: all or nothing, once, from one source.

use connector_runtime::core::Code;
use serde_json::{Value, json};

use crate::support::{code, grant, install, least, least_and, manifest, offline, outcomes, secret};

#[test]
fn installing_again_changes_nothing() {
    let session = offline();
    let first = install(&session, &manifest("notes"), &least("notes")).unwrap();
    let again = install(&session, &manifest("notes"), &least("notes")).unwrap();
    assert_eq!(first, again);
    assert_eq!(session.list().unwrap().connectors.len(), 1);
    let names: Vec<_> = first.tools.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["notes.find", "notes.add", "notes.drop"], "in the order of the file");
}

#[test]
fn an_id_belongs_to_its_first_source() {
    let session = offline();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let bytes = manifest("notes").to_string();
    let other = session.install(bytes.as_bytes(), "web", grant(&least("notes")), None);
    assert_eq!(code(other), "merge.source");
    assert_eq!(session.list().unwrap().connectors[0].source(), "app");
}

#[test]
fn an_id_that_only_differs_in_case_or_hyphens_belongs_to_it_too() {
    let session = offline();
    install(&session, &manifest("my-notes"), &least("my-notes")).unwrap();
    for twin in ["My-Notes", "my_notes"] {
        assert_eq!(code(install(&session, &manifest(twin), &least("my-notes"))), "merge.source", "{twin}");
    }
    session.remove("my-notes", None).unwrap();
    assert_eq!(code(install(&session, &manifest("my_notes"), &least("my-notes"))), "merge.source");
    assert_eq!(session.list().unwrap().connectors.len(), 0);
    install(&session, &manifest("my-notes"), &least("my-notes")).unwrap();
}

#[test]
fn another_manifest_or_grant_under_the_same_id_is_a_replacement() {
    let session = offline();
    let before = install(&session, &manifest("notes"), &least("notes")).unwrap();
    let mut other = manifest("notes");
    other["version"] = json!("2");
    assert_eq!(code(install(&session, &other, &least("notes"))), "merge.supersedes");
    let wider = least_and("notes", &json!({ "loopback": true }));
    assert_eq!(code(install(&session, &manifest("notes"), &wider)), "grant.wider");
    // The same JSON in other bytes is another manifest.
    let spaced = format!("{} ", manifest("notes"));
    let outcome = session.install(spaced.as_bytes(), "app", grant(&least("notes")), None);
    assert_eq!(code(outcome), "merge.supersedes");
    assert_eq!(session.list().unwrap().contract, before.contract);
}

#[test]
fn an_install_names_the_tool_set_that_it_saw_or_none() {
    let session = offline();
    let install = |id: &str, seen: Option<&str>| {
        session.install(manifest(id).to_string().as_bytes(), "app", grant(&least(id)), seen)
    };
    let first = install("notes", None).unwrap().contract.to_string();
    let second = install("tasks", Some(&first)).unwrap().contract.to_string();
    for seen in [&*first, "", "none", &*"0".repeat(64)] {
        assert_eq!(code(install("mail", Some(seen))), "contract.stale", "{seen}");
    }
    assert_eq!(session.list().unwrap().connectors.len(), 2);
    install("mail", Some(&second)).unwrap();
}

#[test]
fn the_tool_set_does_not_depend_on_the_order_of_installs() {
    let ids = ["notes", "tasks", "mail"];
    let set = |order: [usize; 3]| {
        let session = offline();
        for index in order {
            install(&session, &manifest(ids[index]), &least(ids[index])).unwrap();
        }
        (session.list().unwrap().contract, session.audit().unwrap().1)
    };
    let all = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(set);
    assert!(all.iter().all(|(contract, _)| *contract == all[0].0));
    assert!(all.iter().skip(1).all(|(_, head)| *head != all[0].1), "the audit chain tells the order");
}

#[test]
fn a_manifest_that_breaks_rules_is_refused_with_all_findings() {
    let session = offline();
    let mut broken = manifest("notes");
    broken["title"] = json!(1);
    broken["tools"][0]["effect"] = json!("maybe");
    let refusal = install(&session, &broken, &least("notes")).unwrap_err();
    assert_eq!(refusal.code, Code::ManifestInvalid);
    let pointers: Vec<_> = refusal.findings.iter().map(|finding| finding.pointer.as_str()).collect();
    assert!(pointers.contains(&"/title") && pointers.contains(&"/tools/0/effect"), "{pointers:?}");
    assert!(session.list().unwrap().connectors.is_empty());
    assert_eq!(outcomes(&session), [("install ?".to_owned(), "manifest.invalid".to_owned())]);
}

#[test]
fn a_grant_that_does_not_fit_is_refused_and_nothing_is_installed() {
    let cases: [(&str, Value); 6] = [
        ("no server", json!({ "localNetwork": true })),
        ("a server that the grant does not open", json!({ "origins": { "server": "http://notes.local" } })),
        ("a public server over http", json!({ "origins": { "server": "http://notes.example" } })),
        (
            "an origin that the manifest lacks",
            least_and(
                "notes",
                &json!({ "origins": { "server": "http://notes.local", "other": "https://a.example" } }),
            ),
        ),
        ("a setting that the manifest lacks", least_and("notes", &json!({ "settings": { "book": "x" } }))),
        ("a tool that the manifest lacks", least_and("notes", &json!({ "only": ["find", "other"] }))),
    ];
    for (what, granted) in cases {
        let session = offline();
        let refusal = install(&session, &manifest("notes"), &granted).err();
        // `http` on a public name is refused when its address is known, where the name could be local.
        let late = what == "a public server over http";
        match refusal {
            Some(refusal) => {
                assert_eq!(refusal.code, Code::GrantInvalid, "{what}");
                assert!(!refusal.findings.is_empty(), "{what}");
                assert!(session.list().unwrap().connectors.is_empty());
            }
            None => assert!(late, "{what}"),
        }
    }
}

#[test]
fn an_unknown_connector_has_neither_grant_nor_credentials() {
    let session = offline();
    assert_eq!(code(session.set_grant("notes", grant(&least("notes")))), "connector.unknown");
    assert_eq!(code(session.set_credential("notes", "token", secret("x"))), "connector.unknown");
    assert_eq!(code(session.has_credential("notes", "token")), "connector.unknown");
    assert_eq!(code(session.delete_credential("notes", "token")), "connector.unknown");
}
