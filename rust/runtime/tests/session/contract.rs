//! A call names the contract of an export: of the current tool set, and one that showed the tool.

use serde_json::json;

use crate::support::{
    Stage, call, code, fine, grant, install, least, least_and, manifest, offline, outcomes,
};

#[test]
fn a_call_without_a_contract_is_stale() {
    let session = offline();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let call = call("notes.find", &json!({ "text": "x" }));
    for contract in [None, Some(""), Some("none"), Some(&*"0".repeat(64))] {
        assert_eq!(code(session.plan(&call, contract, None)), "contract.stale", "{contract:?}");
    }
}

#[test]
fn a_contract_ends_with_its_tool_set() {
    let session = offline();
    let first = install(&session, &manifest("notes"), &least("notes")).unwrap().contract.to_string();
    let call = call("notes.find", &json!({ "text": "x" }));
    assert!(session.plan(&call, Some(&first), None).is_ok());
    let second = install(&session, &manifest("tasks"), &least("tasks")).unwrap().contract.to_string();
    assert_eq!(code(session.plan(&call, Some(&first), None)), "contract.stale");
    assert!(session.plan(&call, Some(&second), None).is_ok());
}

#[test]
fn a_contract_of_another_session_is_unknown() {
    let (here, there) = (offline(), offline());
    install(&here, &manifest("notes"), &least("notes")).unwrap();
    // The same manifest with another server: the same names, another tool set.
    let elsewhere = json!({ "origins": { "server": "http://elsewhere.local" }, "localNetwork": true });
    let contract = install(&there, &manifest("notes"), &elsewhere).unwrap().contract.to_string();
    let call = call("notes.find", &json!({ "text": "x" }));
    assert_eq!(code(here.plan(&call, Some(&contract), None)), "contract.stale");
}

#[test]
fn what_the_export_did_not_show_is_not_called() {
    let session = offline();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let contract = session.list().unwrap().contract.to_string();
    for name in
        ["notes.other", "tasks.find", "find", "notes", ".find", "notes.", "", "notes.find.find", "Notes.find"]
    {
        let refusal = session.plan(&call(name, &json!({})), Some(&contract), None).unwrap_err();
        assert_eq!(refusal.code.as_str(), "call.not_exported", "{name:?}");
        assert!(refusal.advice.is_some(), "the model can mend it");
    }
}

#[test]
fn a_grant_that_was_narrowed_denies_what_the_contract_showed() {
    let session = offline();
    let contract = install(&session, &manifest("notes"), &least("notes")).unwrap().contract.to_string();
    let narrow = least_and("notes", &json!({ "only": ["find"] }));
    session.set_grant("notes", grant(&narrow)).unwrap();
    // The tool set is the same, and so is the contract.
    let add = call("notes.add", &json!({ "text": "x" }));
    assert_eq!(code(session.plan(&add, Some(&contract), None)), "grant.denied");
    assert!(session.plan(&call("notes.find", &json!({ "text": "x" })), Some(&contract), None).is_ok());
    let listed = session.list().unwrap();
    assert_eq!(listed.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["notes.find"]);
    let newer = listed.contract.to_string();
    assert_eq!(code(session.plan(&add, Some(&newer), None)), "call.not_exported");
}

#[test]
fn the_arguments_are_one_object_that_the_schema_accepts() {
    let session = offline();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let contract = session.list().unwrap().contract.to_string();
    let plan = |arguments: &str| {
        let call = connector_runtime::core::call::ToolCall {
            name: "notes.find".into(),
            arguments: arguments.into(),
        };
        session.plan(&call, Some(&contract), None)
    };
    assert!(plan(r#"{"text": "x"}"#).is_ok());
    for text in ["[]", "\"{}\"", "{", "{} {}", "null", r#"{"text": "x", "text": "y"}"#, r#"{"text": 1e999}"#]
    {
        assert_eq!(code(plan(text)), "call.invalid", "{text}");
    }
    for text in ["", "{}", r#"{"text": 1}"#, r#"{"text": "x", "more": 1}"#, r#"{"text": null}"#] {
        assert_eq!(code(plan(text)), "call.arguments", "{text}");
    }
}

#[tokio::test]
async fn a_refused_plan_is_recorded_without_the_words_of_the_model() {
    let stage = Stage::new(fine()).await;
    let contract = stage.session.list().unwrap().contract.to_string();
    for name in ["notes.find", "my-secret.tool"] {
        stage.session.plan(&call(name, &json!({ "word": "x" })), Some(&contract), None).unwrap_err();
    }
    let expected =
        [("install notes", "ok"), ("call notes.find", "call.arguments"), ("call ?", "call.not_exported")];
    assert_eq!(outcomes(&stage.session), expected.map(|(what, code)| (what.to_owned(), code.to_owned())));
    assert!(stage.server.log().entries().is_empty());
}
