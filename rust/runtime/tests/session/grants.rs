//! A later grant may only be narrower; changing it ends what was made under the old one.

use connector_runtime::Offer;
use connector_runtime::core::Code;
use serde_json::{Value, json};

use crate::support::{
    Stage, answering, code, execute, fine, grant, install, least, least_and, manifest, offline, ok, plan,
    run, silent,
};

/// A manifest with a setting.
fn booked() -> Value {
    let mut manifest = manifest("notes");
    manifest["settings"] = json!({ "book": { "title": "Notebook" } });
    manifest["tools"][0]["request"]["query"]["book"] = json!({ "$setting": "book" });
    manifest
}

/// Each member of a grant, in the middle of what it can allow: what is narrower, and what is wider.
fn members() -> Vec<(&'static str, Value, Vec<Value>, Vec<Value>)> {
    let flag = || (json!(true), vec![json!(false), json!(true)], Vec::new());
    let shut = || (json!(false), vec![json!(false)], vec![json!(true)]);
    let mut members = Vec::new();
    for name in ["overlayNetwork", "loopback", "cleartextCredentials"] {
        for (value, narrower, wider) in [flag(), shut()] {
            members.push((name, value, narrower, wider));
        }
    }
    let effects = |names: &[&str]| json!(names);
    members.extend([
        (
            "confirm",
            effects(&["write"]),
            vec![
                effects(&["write"]),
                effects(&["write", "read"]),
                effects(&["destructive", "write"]),
                Value::Null,
            ],
            vec![effects(&[]), effects(&["read"]), effects(&["destructive"])],
        ),
        ("confirm", Value::Null, vec![effects(&["write", "destructive"])], vec![effects(&[])]),
        ("confirm", effects(&["read"]), vec![effects(&["read", "write"])], vec![Value::Null, effects(&[])]),
        (
            "flows",
            json!(["tasks", "mail"]),
            vec![json!(["tasks"]), json!([]), json!(["mail", "tasks"]), Value::Null],
            vec![json!(["tasks", "mail", "other"]), json!(["other"])],
        ),
        ("flows", Value::Null, vec![json!([])], vec![json!(["tasks"])]),
        (
            "only",
            json!(["find", "add"]),
            vec![json!(["find"]), json!([]), json!(["notes.find", "notes.add"]), json!(["add", "find"])],
            vec![json!(["find", "drop"]), json!(["drop"]), json!(["notes.drop"]), Value::Null],
        ),
        ("only", Value::Null, vec![json!(["find"]), json!(["find", "add", "drop"])], Vec::new()),
        (
            "origins",
            json!({ "server": "http://notes.local" }),
            vec![json!({ "server": "http://notes.local" })],
            vec![json!({ "server": "http://other.local" }), json!({ "server": "https://notes.local" })],
        ),
        (
            "settings",
            json!({ "book": "work" }),
            vec![json!({ "book": "work" })],
            vec![json!({ "book": "home" })],
        ),
    ]);
    members
}

fn with(member: &str, value: &Value) -> Value {
    let mut granted = least_and("notes", &json!({ "settings": { "book": "work" } }));
    if value.is_null() {
        granted.as_object_mut().unwrap().shift_remove(member);
    } else {
        granted[member] = value.clone();
    }
    granted
}

#[test]
fn a_later_grant_is_narrower_or_equal_in_every_member() {
    let (mut narrow, mut wide) = (0, 0);
    for (member, value, narrower, wider) in members() {
        for later in wider {
            let session = offline();
            install(&session, &booked(), &with(member, &value)).unwrap();
            let refusal = session.set_grant("notes", grant(&with(member, &later))).unwrap_err();
            assert_eq!(refusal.code, Code::GrantWider, "{member}: {value} to {later}");
            assert!(refusal.reason.contains(&format!("`{member}`")), "{}", refusal.reason);
            let in_force = session.list().unwrap().connectors[0].grant_hash();
            assert_eq!(in_force, grant_hash(&with(member, &value)), "the old grant stays");
            wide += 1;
        }
        for later in narrower {
            let session = offline();
            install(&session, &booked(), &with(member, &value)).unwrap();
            session.set_grant("notes", grant(&with(member, &later))).unwrap();
            let in_force = session.list().unwrap().connectors[0].grant_hash();
            assert_eq!(in_force, grant_hash(&with(member, &later)), "{member}: {value} to {later}");
            narrow += 1;
        }
    }
    println!("grants: {narrow} narrower or equal, {wide} wider");
}

/// The address range of the local network is a member too, but then the server must be public.
#[test]
fn the_local_network_is_not_opened_later() {
    let session = offline();
    let public =
        |local: bool| json!({ "origins": { "server": "https://notes.example" }, "localNetwork": local });
    install(&session, &manifest("notes"), &public(false)).unwrap();
    let refusal = session.set_grant("notes", grant(&public(true))).unwrap_err();
    assert_eq!(refusal.code, Code::GrantWider);
    let session = offline();
    install(&session, &manifest("notes"), &public(true)).unwrap();
    session.set_grant("notes", grant(&public(false))).unwrap();
}

fn grant_hash(granted: &Value) -> connector_runtime::core::json::Sha256 {
    let session = offline();
    install(&session, &booked(), granted).unwrap();
    session.list().unwrap().connectors[0].grant_hash()
}

#[tokio::test]
async fn a_changed_grant_ends_its_plans_and_no_others() {
    let stage = Stage::new(fine()).await;
    let (session, x) = (&stage.session, json!({ "text": "x" }));
    install(session, &manifest("tasks"), &least("tasks")).unwrap();
    let (mine, other) = (plan(session, "tasks.find", &x).unwrap(), plan(session, "notes.find", &x).unwrap());
    session.set_grant("tasks", grant(&least_and("tasks", &json!({ "only": ["find"] })))).unwrap();
    assert_eq!(code(session.execute(&mine.plan, None, None, None).await), "plan.stale");
    assert!(execute(session, &other).await.is_ok());
}

#[tokio::test]
async fn the_same_grant_again_ends_nothing() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.find", &json!({ "text": "x" })).unwrap();
    stage.session.set_grant("notes", grant(&least("notes"))).unwrap();
    assert!(execute(&stage.session, &view).await.is_ok());
}

#[tokio::test]
async fn a_changed_grant_ends_its_connections() {
    let stage = Stage::new(answering(|_| ok(&json!({})))).await;
    let x = json!({ "text": "x" });
    run(&stage.session, "notes.find", &x).await.unwrap();
    run(&stage.session, "notes.find", &x).await.unwrap();
    assert_eq!(stage.server.log().connections(), 1, "a connection is kept");
    stage.session.set_grant("notes", grant(&least_and("notes", &json!({ "only": ["find"] })))).unwrap();
    stage.closed().await;
    run(&stage.session, "notes.find", &x).await.unwrap();
    assert_eq!(stage.server.log().connections(), 2);
}

#[tokio::test]
async fn a_changed_grant_ends_what_runs_under_it() {
    let stage = Stage::new(silent()).await;
    let view = plan(&stage.session, "notes.find", &json!({ "text": "x" })).unwrap();
    let (outcome, ()) = tokio::join!(execute(&stage.session, &view), async {
        stage.request().await;
        stage.session.set_grant("notes", grant(&least_and("notes", &json!({ "only": ["add"] })))).unwrap();
    });
    assert_eq!(code(outcome), "net.cancelled");
    stage.closed().await;
}

#[test]
fn a_grant_counts_by_what_it_says_not_by_how_it_is_written() {
    let same = [
        json!({ "flows": ["a", "b"], "only": ["find", "add"], "confirm": ["write"], "loopback": false }),
        json!({ "only": ["notes.add", "find"], "confirm": ["destructive", "write"], "flows": ["b", "a"] }),
    ];
    let [one, two] = same.map(|more| {
        let session = offline();
        install(&session, &manifest("notes"), &least_and("notes", &more)).unwrap();
        session.list().unwrap().connectors[0].grant_hash()
    });
    assert_eq!(one, two);
}

/// A removal is no way to a wider grant: what was allowed last is remembered, and a person is asked.
#[test]
fn a_removal_forgets_no_grant() {
    let session = offline();
    let least = least("notes");
    for more in [
        json!({ "loopback": true }),
        json!({ "cleartextCredentials": true }),
        json!({ "confirm": [] }),
        json!({ "flows": ["mail"] }),
        json!({ "overlayNetwork": true }),
    ] {
        install(&session, &manifest("notes"), &least).unwrap();
        session.remove("notes", None).unwrap();
        let wider = least_and("notes", &more);
        let member = more.as_object().unwrap().keys().next().unwrap().clone();
        assert_eq!(
            install(&session, &manifest("notes"), &wider).unwrap_err().code,
            Code::GrantWider,
            "{more}"
        );
        // What is refused is not remembered.
        assert_eq!(
            install(&session, &manifest("notes"), &wider).unwrap_err().code,
            Code::GrantWider,
            "{more}"
        );
        let text = manifest("notes").to_string();
        let offer = Offer { manifest: text.as_bytes(), source: "app", grant: grant(&wider), signature: None };
        let reviewed = session.review(&offer).unwrap();
        assert!(reviewed.needs_approval);
        let pointer = format!("/grant/{member}");
        let change = reviewed.changes.iter().find(|change| change.pointer == pointer).unwrap();
        assert_eq!(change.kind.as_str(), "grant");
        assert!(change.after.is_some() && change.before != change.after, "{change:?}");
        session.install_offer(&offer, None, Some(&reviewed.approval)).unwrap();
        session.set_grant("notes", grant(&least)).unwrap();
        session.remove("notes", None).unwrap();
    }
}

#[test]
fn a_first_review_tells_what_the_grant_allows() {
    let session = offline();
    let text = manifest("notes").to_string();
    let granted = grant(&least_and("notes", &json!({ "flows": ["mail"], "confirm": [] })));
    let offer = Offer { manifest: text.as_bytes(), source: "app", grant: granted, signature: None };
    let reviewed = session.review(&offer).unwrap();
    assert!(!reviewed.needs_approval);
    let told: Vec<&str> = reviewed.changes.iter().map(|change| change.pointer.as_str()).collect();
    for pointer in ["/grant/localNetwork", "/grant/flows", "/grant/confirm"] {
        assert!(told.contains(&pointer), "{pointer}: {told:?}");
    }
}
