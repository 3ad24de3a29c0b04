//! Exports and what is read back under them.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::TrustLimits;
use crate::grant::Grant;
use crate::json::Value;
use crate::manifest;
use crate::toolset::{Connector, Contract, Envelope, ToolSet};

/// Tools of two connectors, one with an optional member before a required one.
fn set() -> ToolSet {
    let mut set = ToolSet::default();
    for (id, tools) in [("notes", vec![("find", "words"), ("add", "text")]), ("tea", vec![("brew", "leaf")])]
    {
        let tools: Vec<serde_json::Value> = tools
            .iter()
            .map(|(name, member)| {
                json!({
                    "name": name, "description": format!("{name} it."), "effect": "read",
                    "parameters": {"type": "object", "required": [member], "properties": {
                        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                        (*member): {"type": "string", "minLength": 1}
                    }},
                    "request": {"method": "GET", "origin": "api", "path": [name],
                        "query": {"q": {"$param": member}, "n": {"$param": "limit", "absent": "omit"}}},
                    "response": {"fields": {"id": "/id"}}
                })
            })
            .collect();
        let manifest = json!({
            "manifestVersion": 1, "id": id, "version": "1", "title": "T", "description": "D",
            "origins": {"api": format!("https://{id}.example")}, "tools": tools
        });
        let limits = TrustLimits::default();
        let report = manifest::check(manifest.to_string().as_bytes(), &limits);
        let manifest = report.manifest.unwrap_or_else(|| panic!("{:?}", report.findings));
        let connector = Connector::bind(manifest, "app", Grant::default(), &limits).unwrap();
        set = set.install(Arc::new(connector), None).unwrap();
    }
    set
}

fn capabilities() -> Capabilities {
    Capabilities { tools: true, tool_calls: true, ..Capabilities::default() }
}

fn tools(only: Option<&[SmolStr]>, max: Option<usize>) -> Result<ToolsExport, Refusal> {
    export_tools(&set(), &capabilities(), only, max, &TrustLimits::default())
}

fn grammar(envelope: Envelope, choice: ToolChoice, parallel: bool) -> GrammarExport {
    export_grammar(&set(), &GrammarOptions { envelope, choice, parallel }, None).unwrap()
}

fn text(contract: &Contract, text: &str) -> Result<Vec<ReadCall>, Refusal> {
    read_text(&set(), contract, text, &TrustLimits::default())
}

fn result(contract: &Contract, value: &serde_json::Value) -> Result<Vec<ReadCall>, Refusal> {
    read_result(&set(), contract, &value_of(value), &TrustLimits::default())
}

fn value_of(value: &serde_json::Value) -> Value {
    crate::json::read_text(&value.to_string()).unwrap()
}

fn shown(calls: Result<Vec<ReadCall>, Refusal>) -> String {
    match calls {
        Ok(calls) => {
            let each =
                |call: &ReadCall| format!("{}{}", call.name, Value::Object(call.arguments.clone()).to_text());
            calls.iter().map(each).collect::<Vec<_>>().join(" ")
        }
        Err(refusal) => format!("{}: {}", refusal.code, refusal.reason),
    }
}

#[test]
fn a_tool_is_shown_in_the_shape_of_completion_and_its_contract_names_it() {
    let export = tools(Some(&["notes.find".into()]), None).unwrap();
    assert_eq!(export.mode, Mode::Tools);
    assert_eq!(
        export.tools[0].value.to_text(),
        r#"{"type":"function","function":{"name":"notes_find","description":"find it.","parameters":{"type":"object","required":["words"],"properties":{"limit":{"type":"integer","minimum":1,"maximum":50},"words":{"type":"string","minLength":1}}}}}"#
    );
    assert_eq!(export.contract.names().collect::<Vec<_>>(), ["notes.find"]);
    assert_eq!(tools(None, None).unwrap().contract, set().contract());
}

#[test]
fn only_what_is_installed_and_granted_is_exported() {
    assert_eq!(tools(Some(&["notes.none".into()]), None).unwrap_err().code, Code::ExportUnknown);
    assert_eq!(tools(Some(&["notes_find".into()]), None).unwrap_err().code, Code::ExportUnknown);
    let named = GrammarOptions {
        envelope: Envelope::Json,
        choice: ToolChoice::Named("tea.brew".into()),
        parallel: false,
    };
    let refusal = export_grammar(&set(), &named, Some(&["notes.find".into()])).unwrap_err();
    assert_eq!(refusal.code, Code::ExportUnknown);
}

#[test]
fn what_is_too_large_lists_the_sizes() {
    let export = tools(None, None).unwrap();
    let list: Vec<Value> = export.tools.iter().map(|tool| tool.value.clone()).collect();
    let exactly = Value::Array(list).to_text().chars().count();
    assert!(tools(None, Some(exactly)).is_ok());
    let refusal = tools(None, Some(exactly - 1)).unwrap_err();
    assert_eq!(refusal.code, Code::ExportTooLarge);
    assert_eq!(refusal.findings.len(), 3);
    for name in ["notes.find", "notes.add", "tea.brew"] {
        assert!(refusal.reason.contains(name));
    }
}

#[test]
fn a_model_that_is_shown_no_tools_gets_an_honest_sentence() {
    let none = Capabilities { tool_calls: true, system_role: true, ..Capabilities::default() };
    let export = export_tools(&set(), &none, None, None, &TrustLimits::default()).unwrap();
    assert_eq!((export.mode, export.tools.len(), export.contract.names().len()), (Mode::Unavailable, 0, 0));
    assert!(export.message.unwrap().contains("cannot call"));
    let shows = Capabilities { tools: true, ..Capabilities::default() };
    let export = export_tools(&set(), &shows, None, None, &TrustLimits::default()).unwrap();
    assert_eq!((export.mode, export.tools.len()), (Mode::Grammar, 3));
}

#[test]
fn the_tokens_of_the_model_reach_it_nowhere() {
    let capabilities = Capabilities { special_tokens: vec!["it.".into(), "words".into()], ..capabilities() };
    let export = export_tools(&set(), &capabilities, None, None, &TrustLimits::default()).unwrap();
    for tool in export.tools {
        let text = tool.value.to_text();
        assert!(!text.contains("words") && !text.contains("it."), "{text}");
    }
}

#[test]
fn a_choice_says_what_may_be_called_and_when_the_grammar_begins() {
    let auto = grammar(Envelope::Hermes, ToolChoice::Auto, false);
    assert_eq!((auto.lazy, auto.triggers.as_slice()), (true, ["<tool_call>"].as_slice()));
    assert_eq!(auto.preserved, ["<tool_call>", "</tool_call>"]);
    for parallel in [false, true] {
        let auto = grammar(Envelope::Json, ToolChoice::Auto, parallel);
        assert_eq!(
            auto.preserved, auto.triggers,
            "llama.rn throws over a trigger that is a token and not preserved"
        );
        assert_eq!(auto.triggers, [if parallel { "[{\"name\":" } else { "{\"name\":" }]);
        assert!(grammar(Envelope::Json, ToolChoice::Required, parallel).preserved.is_empty());
    }
    assert!(auto.is_exact());
    let required = grammar(Envelope::Json, ToolChoice::Required, true);
    assert!(!required.lazy && required.triggers.is_empty());
    let named = grammar(Envelope::Hermes, ToolChoice::Named("tea.brew".into()), false);
    assert_eq!(named.contract.names().collect::<Vec<_>>(), ["tea.brew"]);
    assert!(!named.gbnf.contains("notes"));
    let none = grammar(Envelope::Hermes, ToolChoice::None, false);
    assert_eq!((none.gbnf.as_str(), none.contract.names().len()), ("", 0));
    assert_eq!(shown(text(&none.contract, "<tool_call>x")), "");
    assert_eq!(
        shown(result(
            &none.contract,
            &json!({"tool_calls": [{"function": {"name": "tea_brew", "arguments": "{}"}}]})
        )),
        "call.not_exported: the call names a tool that the export did not show"
    );
}

#[test]
fn every_form_of_export_has_a_contract_of_its_own() {
    let mut ids = vec![tools(None, None).unwrap().contract.id()];
    for envelope in [Envelope::Hermes, Envelope::Json] {
        for choice in [ToolChoice::Auto, ToolChoice::Required] {
            ids.extend(
                [false, true].map(|parallel| grammar(envelope, choice.clone(), parallel).contract.id()),
            );
        }
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 9);
}

#[test]
fn tool_calls_are_read_with_their_ids_and_full_names() {
    let contract = tools(None, None).unwrap().contract;
    let calls = json!({"text": "", "tool_calls": [
        {"type": "function", "function": {"name": "tea_brew", "arguments": "{\"leaf\":\"a\"}"}, "id": null},
        {"type": "function", "function": {"name": "notes_find", "arguments": {"words": "x"}}, "id": "c7"},
        {"type": "function", "function": {"name": "notes_add", "arguments": "{}"}}
    ]});
    let read = result(&contract, &calls).unwrap();
    assert_eq!(read[1].id.as_deref(), Some("c7"));
    assert_eq!(read[0].id, None);
    assert_eq!(shown(Ok(read)), r#"tea.brew{"leaf":"a"} notes.find{"words":"x"} notes.add{}"#);
    assert_eq!(shown(result(&contract, &json!({"text": "No call."}))), "");
    assert_eq!(shown(result(&contract, &json!({"text": "No call.", "tool_calls": null}))), "");
}

#[test]
fn one_bad_call_spoils_all_of_them() {
    let contract = tools(Some(&["notes.find".into()]), None).unwrap().contract;
    let call = |name: &str, arguments: &str| json!({"function": {"name": name, "arguments": arguments}});
    for (bad, code) in [
        (call("tea_brew", "{}"), "call.not_exported"),
        (call("notes-find", "{}"), "call.not_exported"),
        (call("notes_find", "{\"words\":"), "call.invalid"),
        (call("notes_find", "[]"), "call.invalid"),
        (call("notes_find", "{} {}"), "call.invalid"),
        (call("notes_find", "{\"a\":1,\"a\":2}"), "call.invalid"),
        (json!({"name": "notes_find"}), "call.invalid"),
        (json!({"function": {"name": "notes_find", "arguments": 5}}), "call.invalid"),
        (call("notes_find", ""), "call.invalid: a call has no arguments"),
        (call("notes_find", " \u{a0}"), "call.invalid: a call has no arguments"),
        (json!({"function": {"name": "notes_find"}}), "call.invalid: a call has no arguments"),
        (
            json!({"function": {"name": "notes_find", "arguments": null}}),
            "call.invalid: a call has no arguments",
        ),
        (
            json!({"function": {"name": "notes_find", "arguments": {"words": "x".repeat(300_000)}}}),
            "call.invalid",
        ),
    ] {
        let answer = json!({"tool_calls": [call("notes_find", "{}"), bad]});
        assert!(shown(result(&contract, &answer)).starts_with(code), "{answer}");
    }
    for cut in ["interrupted", "stopped_limit", "context_full"] {
        for set in [json!(true), json!(1), json!("true"), json!({})] {
            let answer = json!({"tool_calls": [call("notes_find", "{}")], (cut): set});
            assert!(shown(result(&contract, &answer)).contains("was cut"), "{answer}");
        }
        for unset in [json!(false), json!(0), json!(null)] {
            let answer = json!({"tool_calls": [call("notes_find", "{}")], (cut): unset});
            assert_eq!(shown(result(&contract, &answer)), "notes.find{}");
        }
    }
    let many = |count: usize| json!({"tool_calls": vec![call("notes_find", "{}"); count]});
    assert_eq!(result(&contract, &many(64)).unwrap().len(), 64);
    assert!(shown(result(&contract, &many(65))).contains("more calls than"));
}

#[test]
fn text_is_read_only_under_a_grammar() {
    let call = "<tool_call>\n{\"name\": \"tea_brew\", \"arguments\": {\"leaf\": \"a\"}}\n</tool_call>";
    let tools = tools(None, None).unwrap().contract;
    assert!(shown(text(&tools, call)).starts_with("call.invalid: text is read as calls only after"));
    assert_eq!(shown(result(&tools, &json!({"text": call}))), "");
    let hermes = grammar(Envelope::Hermes, ToolChoice::Required, false).contract;
    assert_eq!(shown(text(&hermes, call)), r#"tea.brew{"leaf":"a"}"#);
    assert_eq!(shown(result(&hermes, &json!({"text": call}))), r#"tea.brew{"leaf":"a"}"#);
    assert!(shown(result(&hermes, &json!({"text": call, "interrupted": true}))).contains("was cut"));
}

#[test]
fn text_around_doubled_fenced_and_cut_calls_are_refused_by_name() {
    let one = "{\"name\":\"tea_brew\",\"arguments\":{\"leaf\":\"}</tool_call>\\\"\"}}";
    let tagged = format!("<tool_call>\n{one}\n</tool_call>");
    let hermes = grammar(Envelope::Hermes, ToolChoice::Required, false).contract;
    let json = grammar(Envelope::Json, ToolChoice::Required, false).contract;
    assert!(shown(text(&hermes, &tagged)).starts_with("tea.brew{"));
    assert!(shown(text(&json, one)).starts_with("tea.brew{"));
    for (contract, written, says) in [
        (&hermes, format!("```\n{tagged}\n```"), "stands in code"),
        (&hermes, format!("{tagged}\n{tagged}"), "second call"),
        (&hermes, format!("{tagged} done"), "other text follows"),
        (&hermes, format!("So: {tagged}"), "does not begin with a call"),
        (&hermes, tagged.replace("\n</tool_call>", ""), "not closed"),
        (&hermes, tagged[..30].to_owned(), "before it is whole"),
        (&hermes, one.to_owned(), "does not begin with a call"),
        (&json, format!("```json\n{one}\n```"), "stands in code"),
        (&json, format!("{one}{one}"), "second call"),
        (&json, format!("{one}."), "other text follows"),
        (&json, one[..one.len() - 1].to_owned(), "before it is whole"),
        (&json, tagged.clone(), "stands in tags"),
        (&json, format!("[{one}]"), "not an object"),
        (&json, String::new(), "a call was required"),
        (&json, " \n".to_owned(), "a call was required"),
        (&hermes, String::new(), "a call was required"),
        (&json, "I brew no tea.".to_owned(), "does not begin"),
        (&hermes, format!("~~~ text\n{tagged}\n~~~"), "stands in code"),
        (&json, one.replace("}}", "},\"x\":1}"), "other members"),
    ] {
        let read = shown(text(contract, &written));
        assert!(read.starts_with("call.invalid: ") && read.contains(says), "{written}: {read}");
    }
}

#[test]
fn several_calls_are_read_where_several_were_asked_for() {
    let one = r#"{"name": "tea_brew", "arguments": {"leaf": "a"}}"#;
    let tagged = format!("<tool_call>\n{one}\n</tool_call>");
    let hermes = grammar(Envelope::Hermes, ToolChoice::Required, true).contract;
    let read = shown(text(&hermes, &format!("{tagged}\n{tagged}")));
    assert_eq!(read, r#"tea.brew{"leaf":"a"} tea.brew{"leaf":"a"}"#);
    let json = grammar(Envelope::Json, ToolChoice::Required, true).contract;
    assert_eq!(shown(text(&json, &format!("[{one}, {one}]"))), read);
    assert!(shown(text(&json, &format!("[{one}, {}]", &one[..20]))).starts_with("call.invalid"));
    assert!(shown(text(&hermes, &format!("{tagged}\n{}", &tagged[..20]))).starts_with("call.invalid"));
}

#[test]
fn before_a_trigger_there_may_be_other_text() {
    let one = r#"{"name": "tea_brew", "arguments": {"leaf": "a"}}"#;
    let tagged = format!("<tool_call>\n{one}\n</tool_call>");
    let hermes = grammar(Envelope::Hermes, ToolChoice::Auto, false).contract;
    assert_eq!(shown(text(&hermes, &format!("I brew tea.\n{tagged}"))), r#"tea.brew{"leaf":"a"}"#);
    assert_eq!(shown(text(&hermes, "I brew no tea.")), "");
    assert!(shown(text(&hermes, &format!("```\n{tagged}\n```"))).contains("stands in code"));
    assert!(shown(text(&hermes, &format!("{tagged} and more"))).starts_with("call.invalid"));
    let json = grammar(Envelope::Json, ToolChoice::Auto, false).contract;
    assert_eq!(shown(text(&json, &format!("Tea: {one}"))), r#"tea.brew{"leaf":"a"}"#);
}

#[test]
fn another_tool_set_makes_a_contract_stale() {
    let contract = ToolSet::default().contract();
    assert_eq!(text(&contract, "x").unwrap_err().code, Code::ContractStale);
}

#[test]
fn nothing_in_open_code_is_a_call() {
    let one = r#"{"name": "tea_brew", "arguments": {"leaf": "a"}}"#;
    let tagged = format!("<tool_call>\n{one}\n</tool_call>");
    for (envelope, call) in [(Envelope::Json, one), (Envelope::Hermes, tagged.as_str())] {
        let contract = grammar(envelope, ToolChoice::Auto, false).contract;
        for before in [
            "```js\n",
            "```tool_call\n",
            "~~~\n",
            "``` json title=x\n",
            "````\n```\n",
            "```\n// call\n",
            "> ```\n> ",
            "- ```\n  ",
            "So: ```json\n",
            "`",
        ] {
            let written =
                format!("See {before}{call}").replacen("See >", "See\n>", 1).replacen("See -", "See\n-", 1);
            let written =
                if before.starts_with(['`', '~']) { written.replacen("See ", "See\n", 1) } else { written };
            assert!(shown(text(&contract, &written)).contains("stands in code"), "{written}");
            // Nor where llama.rn's parser took it for one.
            let taken = json!({"text": written, "tool_calls": [{"function": {"name": "tea_brew", "arguments": "{}"}}]});
            assert!(shown(result(&contract, &taken)).contains("stands in code"), "{written}");
        }
        for before in ["```js\nx\n```\n", "I call `brew`: ", "~~~\n~~~\n"] {
            assert_eq!(
                shown(text(&contract, &format!("{before}{call}"))),
                r#"tea.brew{"leaf":"a"}"#,
                "{before}"
            );
        }
    }
}

#[test]
fn no_more_calls_are_taken_than_the_grammar_writes() {
    let one = r#"{"name":"tea_brew","arguments":{"leaf":"a"}}"#;
    let tagged = format!("<tool_call>\n{one}\n</tool_call>");
    let call = json!({"function": {"name": "tea_brew", "arguments": "{}"}});
    for envelope in [Envelope::Json, Envelope::Hermes] {
        let several = grammar(envelope, ToolChoice::Required, true).contract;
        let single = grammar(envelope, ToolChoice::Required, false).contract;
        let written = |count: usize| match envelope {
            Envelope::Json => format!("[{}]", vec![one; count].join(",")),
            Envelope::Hermes => vec![tagged.as_str(); count].join("\n"),
        };
        assert_eq!(text(&several, &written(8)).unwrap().len(), 8);
        for count in [9, 65] {
            assert!(shown(text(&several, &written(count))).contains("more calls than"), "{count}");
        }
        let two = json!({"tool_calls": [call, call]});
        assert!(shown(result(&single, &two)).contains("a second call follows"));
        assert_eq!(result(&several, &two).unwrap().len(), 2);
        assert!(
            shown(result(&several, &json!({"tool_calls": vec![call.clone(); 9]})))
                .contains("more calls than")
        );
        for empty in [json!({}), json!({"text": ""}), json!({"text": null, "tool_calls": []})] {
            assert!(shown(result(&single, &empty)).contains("a call was required"), "{empty}");
        }
        assert!(shown(result(&single, &json!({"text": 5}))).contains("not a string"));
    }
    let json = grammar(Envelope::Json, ToolChoice::Required, true).contract;
    assert!(shown(text(&json, "[]")).contains("a call was required"));
}

#[test]
fn a_call_is_spelled_as_the_grammar_spells_it() {
    let json = grammar(Envelope::Json, ToolChoice::Required, false).contract;
    let one = r#"{"name": "tea_brew","arguments": {"leaf":"a, b: \n\u001fé", "limit": 5}}"#;
    assert!(shown(text(&json, one)).starts_with("tea.brew{"));
    for other in [
        r#"{"arguments":{"leaf":"a"},"name":"tea_brew"}"#,
        r#"{"name":"tea.brew","arguments":{"leaf":"a"}}"#,
        r#"{"name":"tea_br\u0065w","arguments":{"leaf":"a"}}"#,
        r#"{"name":"tea_brew","arguments":{"leaf":"\u0061"}}"#,
        r#"{"name":"tea_brew","arguments":{"leaf":"\/"}}"#,
        r#"{"name":"tea_brew","arguments":{"leaf":"\u001F"}}"#,
        r#"{"name":  "tea_brew","arguments":{"leaf":"a"}}"#,
        r#"{ "name":"tea_brew","arguments":{"leaf":"a"}}"#,
        "{\"name\":\t\"tea_brew\",\"arguments\":{\"leaf\":\"a\"}}",
        "{\"name\":\"tea_brew\",\"arguments\":{\"leaf\":\"a\"}}\n",
    ] {
        assert!(shown(text(&json, other)).contains("not spelled as"), "{other}");
    }
    let several = grammar(Envelope::Json, ToolChoice::Required, true).contract;
    assert!(shown(text(&several, &format!("[{one} , {one}]"))).contains("not spelled as"));
    let hermes = grammar(Envelope::Hermes, ToolChoice::Required, true).contract;
    let tagged = format!("<tool_call>\n{one}\n</tool_call>");
    for other in [
        tagged.replace('\n', " "),
        format!("{tagged}\n"),
        format!("{tagged}\n\n{tagged}"),
        format!("{tagged}{tagged}"),
    ] {
        assert!(shown(text(&hermes, &other)).contains("not spelled as"), "{other}");
    }
}
