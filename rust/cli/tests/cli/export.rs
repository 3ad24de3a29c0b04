//! `connector tools` and `connector grammar`.

use serde_json::{Value, json};

use crate::rpc::Rpc;
use crate::support::{Said, of_project};

/// The command with a first-party manifest and the origin that it asks for.
fn run(command: &[&str]) -> Said {
    let file = of_project("example/connectors/wikipedia.json").display().to_string();
    let (name, flags) = command.split_first().unwrap();
    let whole = [&[*name, file.as_str(), "--origin", "wiki=https://en.wikipedia.org"], flags].concat();
    crate::support::run(&whole)
}

#[test]
fn tools_are_printed_as_llama_rn_takes_them() {
    let said = run(&["tools", "--format", "json"]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    let export: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(export["mode"], "tools");
    let tools = export["tools"].as_array().unwrap();
    assert!(!tools.is_empty());
    for (tool, name) in tools.iter().zip(export["names"].as_array().unwrap()) {
        assert_eq!(tool["function"]["name"], name["modelName"]);
        assert_eq!(tool.to_string().chars().count() as u64, name["chars"].as_u64().unwrap());
    }
    let text = run(&["tools"]);
    assert_eq!(text.status, 0);
    assert!(text.out.contains("characters"), "{}", text.out);
}

#[test]
fn what_has_no_room_and_what_is_not_there_is_refused() {
    let said = run(&["tools", "--max-chars", "10"]);
    assert_eq!(said.status, 1);
    assert!(said.err.contains("export.too_large") && said.err.contains("wikipedia."), "{}", said.err);
    let said = run(&["tools", "--only", "nothing"]);
    assert_eq!(said.status, 1);
    assert!(said.err.contains("export.unknown"), "{}", said.err);
    let said = run(&["grammar", "--choice", "nothing"]);
    assert!(said.status == 1 && said.err.contains("export.unknown"), "{}", said.err);
}

#[test]
fn grammars_are_printed_for_calls_and_for_arguments() {
    let said = run(&["grammar"]);
    assert_eq!(said.status, 0);
    assert!(said.out.starts_with("root ::= \"<tool_call>\\n{\\\"name\\\":\" ws"), "{}", said.out);
    let said = run(&["grammar", "--envelope", "json", "--choice", "auto", "--parallel"]);
    assert!(said.status == 0 && said.out.starts_with("root ::= \"[\" call"), "{}", said.out);
    assert!(said.err.contains("lazy"));
    let export = run(&["tools", "--format", "json"]).out;
    let export: Value = serde_json::from_str(&export).unwrap();
    let name = export["names"][0]["name"].as_str().unwrap();
    let said = run(&["grammar", "--arguments", name]);
    assert!(said.status == 0 && said.out.starts_with("root ::= \"{"), "{}", said.out);
    let text = said.out;
    let said = run(&["grammar", "--arguments", name, "--format", "json"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["gbnf"].as_str().map(str::trim_end), Some(text.trim_end()));
    assert!(json["exact"].is_boolean() && json["inexact"].is_array(), "{json}");
    // No flag is passed over.
    for more in [["--only", name], ["--choice", "auto"], ["--envelope", "json"], ["--parallel", "--parallel"]]
    {
        let more = if more[0] == more[1] { &more[..1] } else { &more[..] };
        let said = run(&[&["grammar", "--arguments", name], more].concat());
        assert!(said.status == 2 && said.err.contains("cannot be used with"), "{more:?}: {}", said.err);
    }
}

#[test]
fn a_session_plans_what_was_exported_and_nothing_else() {
    let tool = |name: &str| {
        json!({
            "name": name, "description": "Does it.", "effect": "read",
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
            "request": {"method": "GET", "origin": "api", "path": [name], "query": {"q": {"$param": "q"}}}
        })
    };
    let manifest = |id: &str| {
        json!({
            "manifestVersion": 1, "id": id, "version": "1", "title": "T", "description": "D",
            "origins": {"api": "https://api.example"}, "tools": [tool("find"), tool("list")]
        })
        .to_string()
    };
    let mut rpc = Rpc::plain();
    let session = rpc.call("session.open", &json!({}))["session"].clone();
    let install = |id: &str| json!({"session": session, "text": manifest(id), "source": "app"});
    let full = rpc.call("session.install", &install("notes"))["contract"].clone();
    let export = |only: Value| json!({"session": session, "capabilities": {"tools": true, "toolCalls": true}, "only": only});
    let all = rpc.call("export.tools", &export(json!(["notes.find", "notes.list"])));
    assert_eq!(all["contract"], full, "a full export has the contract that installing gave");
    let one = rpc.call("export.tools", &export(json!(["notes.find"])))["contract"].clone();
    let plan =
        |contract: &Value, call: &Value| json!({"session": session, "contract": contract, "call": call});
    let (find, list) = (
        json!({"name": "notes.find", "arguments": {"q": "a"}}),
        json!({"name": "notes.list", "arguments": {"q": "a"}}),
    );
    rpc.call("call.plan", &plan(&one, &find));
    assert_eq!(rpc.error("call.plan", &plan(&one, &list))["data"]["code"], "call.not_exported");
    let grammar = json!({"session": session, "envelope": "json", "toolChoice": "notes.list"});
    let grammar = rpc.call("export.grammar", &grammar)["contract"].clone();
    let text = r#"{"name":"notes_list","arguments":{"q":"a"}}"#;
    let read = |contract: &Value| json!({"session": session, "contract": contract, "text": text});
    assert_eq!(rpc.error("call.read", &read(&one))["data"]["code"], "call.invalid");
    let calls = rpc.call("call.read", &read(&grammar));
    let call = json!({"name": calls["calls"][0]["name"], "arguments": calls["calls"][0]["arguments"]});
    assert_eq!(call, list);
    rpc.call("call.plan", &plan(&grammar, &call));
    assert_eq!(rpc.error("call.plan", &plan(&grammar, &find))["data"]["code"], "call.not_exported");
    rpc.call("session.install", &install("tea"));
    for contract in [&one, &grammar] {
        assert_eq!(rpc.error("call.plan", &plan(contract, &list))["data"]["code"], "contract.stale");
        assert_eq!(rpc.error("call.read", &read(contract))["data"]["code"], "contract.stale");
    }
}
