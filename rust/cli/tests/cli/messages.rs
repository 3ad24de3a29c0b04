//! The framing: JSON-RPC 2.0, one message a line, and what becomes of everything else.

use serde_json::{Value, json};

use crate::rpc::Rpc;
use crate::support::run;

const MAX: usize = 8 << 20;

fn line(id: u64) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"text.clean\",\"params\":{{\"text\":\"a\"}}}}\n")
}

#[test]
fn an_answer_carries_the_id_as_it_came() {
    let mut rpc = Rpc::plain();
    for id in [json!(7), json!("seven"), json!(-1), json!(null), json!("\u{1F375}")] {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "text.clean", "params": {"text": "a"}});
        rpc.send_raw((request.to_string() + "\r\n").as_bytes());
        assert_eq!(
            rpc.message(),
            json!({"jsonrpc": "2.0", "id": id, "result": {"text": "a", "truncated": false}})
        );
    }
}

#[test]
fn a_notification_gets_no_answer_not_even_an_error() {
    let mut rpc = Rpc::plain();
    rpc.notify("text.clean", &json!({"text": "a"}));
    rpc.notify("text.clean", &json!({"txt": "a"}));
    rpc.notify("no.such", &json!({}));
    rpc.send_raw(line(1).as_bytes());
    let (rest, status) = rpc.end();
    assert_eq!(rest.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [1]);
    assert_eq!(status, Some(0));
}

#[test]
fn what_is_no_message_is_an_error_and_the_next_line_is_served() {
    let mut rpc = Rpc::plain();
    let deep = format!("{}{}\n", "[".repeat(10_000), "]".repeat(10_000));
    for (bytes, id, code, tells) in [
        (&b"{\n"[..], json!(null), -32700, "json.syntax"),
        (b"\xff\n", json!(null), -32700, "json.encoding"),
        (b"\xef\xbb\xbf{}\n", json!(null), -32700, "json.bom"),
        (deep.as_bytes(), json!(null), -32700, "json.too_deep"),
        (b"[]\n", json!(null), -32600, "one object"),
        (b"\"x\"\n", json!(null), -32600, "one object"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}\n", json!(null), -32600, "an id is"),
        (b"{\"id\":5,\"method\":\"x\"}\n", json!(5), -32600, "jsonrpc"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":7}\n", json!(5), -32600, "method"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"x\",\"params\":[]}\n", json!(5), -32600, "params"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"x\",\"parms\":{}}\n", json!(5), -32600, "no others"),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":5,\"id\":6,\"method\":\"x\"}\n",
            json!(5),
            -32600,
            "json.duplicate_member",
        ),
    ] {
        rpc.send_raw(bytes);
        rpc.send_raw(b"\n  \n");
        let answer = rpc.message();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(tells), "{answer}");
        rpc.send_raw(line(1).as_bytes());
        assert_eq!(rpc.message()["result"]["text"], "a");
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_and_dropped() {
    let mut rpc = Rpc::plain();
    let padded = |bytes: usize| {
        let message = line(3);
        let message = message.trim_end();
        [message.as_bytes(), &vec![b' '; bytes - message.len()], b"\n"].concat()
    };
    rpc.send_raw(&padded(MAX));
    assert_eq!(rpc.message()["id"], 3, "the limit itself is taken");
    rpc.send_raw(&padded(MAX + 1));
    let answer = rpc.message();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)));
    assert!(answer["error"]["message"].as_str().unwrap().contains("json.too_large"));
    rpc.send_raw(&padded(5 * MAX));
    assert_eq!(rpc.message()["error"]["code"], -32700);
    rpc.send_raw(line(4).as_bytes());
    assert_eq!(rpc.message()["id"], 4);
    // The last line needs no line break, and one that is too long no end.
    rpc.send_raw(line(5).trim_end().as_bytes());
    assert_eq!(rpc.end().0[0]["id"], 5);
    let mut rpc = Rpc::plain();
    rpc.send_raw(&vec![b'x'; MAX + 7]);
    assert_eq!(rpc.end().0[0]["error"]["code"], -32700);
}

#[test]
fn methods_that_are_not_there_are_named_so() {
    let mut rpc = Rpc::hooked();
    for method in ["", "rpc.discover", "manifest.Check", "session.replace", "export.all"] {
        assert_eq!(rpc.number(method, &json!({})), -32601, "{method}");
    }
}

#[test]
fn members_that_a_method_does_not_know_are_errors() {
    let mut rpc = Rpc::hooked();
    for method in METHODS {
        let error = rpc.error(method, &json!({"colour": 1}));
        assert_eq!(error["code"], -32602, "{method}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("no member \"colour\""), "{method}: {message}");
    }
    for (method, params) in [
        ("manifest.check", json!({})),
        ("manifest.check", json!({"text": "{}", "base64": ""})),
        ("manifest.check", json!({"text": {}})),
        ("manifest.check", json!({"base64": "*"})),
        ("schema.accepts", json!({"schema": {}})),
        ("schema.accepts", json!({"schema": {}, "schemaText": "{}", "value": 1})),
        ("schema.compile", json!({"schema": {}, "world": "half-open"})),
        ("request.encode", json!({"position": "fragment", "value": 1})),
        ("request.encode", json!({"position": "path"})),
        ("request.encode", json!({"position": "path", "value": "a", "options": []})),
        ("response.map", json!({"response": {}, "status": 99, "headers": [], "bodyBase64": ""})),
        ("response.map", json!({"response": {}, "status": 200, "headers": [["a"]], "bodyBase64": ""})),
        (
            "response.map",
            json!({"response": {}, "status": 200, "headers": [], "bodyBase64": "", "limits": {"x": 1}}),
        ),
        ("schema.grammar", json!({})),
        ("session.open", json!({"limits": {"manifestBytes": -1}})),
        ("session.open", json!({"limits": {"responseDecodedBytes": 9_007_199_254_740_991_u64}})),
        ("session.open", json!({"limits": []})),
        ("session.open", json!({"storeKey": "AAAA"})),
        ("session.open", json!({"seenCounter": 1})),
        ("session.open", json!({"policies": {"web": {"signature": "perhaps"}}})),
        ("session.open", json!({"policies": {"web": {"signature": "required", "more": 1}}})),
        ("session.open", json!({"trustedKeys": [{"key": "x"}]})),
        ("schema.narrower", json!({"old": {}})),
        ("schema.narrower", json!({"old": {}, "new": {}, "newText": "{}"})),
        ("session.list", json!({"session": "s99"})),
        ("session.list", json!({"session": "S1"})),
    ] {
        assert_eq!(rpc.number(method, &params), -32602, "{method} {params}");
    }
    let session = rpc.call("session.open", &json!({}))["session"].clone();
    for missing in
        [json!({"session": session, "call": {"name": "a.b", "arguments": {}}}), json!({"session": session})]
    {
        assert_eq!(rpc.number("call.plan", &missing), -32602, "`contract` is needed");
    }
    for less in [0, 1] {
        let execute = json!({"session": session, "plan": "x", "maxChars": less});
        assert_eq!(rpc.number("call.execute", &execute), -32602, "no result fits");
    }
    let call = json!({"session": session, "contract": "x", "call": {"name": "a.b", "arguments": [1]}});
    assert_eq!(rpc.number("call.plan", &call), -32602, "arguments are an object or its text");
}

/// Every method of this build.
pub(crate) const METHODS: [&str; 32] = [
    "manifest.check",
    "schema.compile",
    "schema.accepts",
    "schema.narrower",
    "schema.grammar",
    "schema.safe",
    "canonical.hash",
    "origin.parse",
    "address.classify",
    "request.encode",
    "text.clean",
    "response.map",
    "session.open",
    "session.close",
    "session.install",
    "session.grant",
    "session.remove",
    "session.review",
    "session.list",
    "credential.set",
    "credential.delete",
    "credential.has",
    "export.tools",
    "export.grammar",
    "call.read",
    "call.plan",
    "call.execute",
    "call.cancel",
    "audit.read",
    "audit.verify",
    "ledger.read",
    "test.advance",
];

#[test]
fn the_hooks_are_there_only_where_they_are_asked_for() {
    let mut rpc = Rpc::plain();
    assert_eq!(rpc.number("test.advance", &json!({})), -32601);
    assert_eq!(rpc.number("test.panic", &json!({})), -32601);
    for member in [json!({"testRoots": "x"}), json!({"testResolve": {}}), json!({"testConnect": {}})] {
        assert_eq!(rpc.number("session.open", &member), -32602);
    }
    let mut rpc = Rpc::hooked();
    for wrong in [
        json!({"testRoots": "x"}),
        json!({"testResolve": {"a:1": "nxdomain"}}),
        json!({"testResolve": {"a:1": ["x"]}}),
        json!({"testResolve": {"a:1": [["no address"]]}}),
        json!({"testConnect": {"1.2.3.4": "127.0.0.1:1"}}),
    ] {
        assert_eq!(rpc.number("session.open", &wrong), -32602, "{wrong}");
    }
}

#[test]
fn a_panic_in_a_method_ends_neither_the_process_nor_a_session() {
    let mut rpc = Rpc::hooked();
    let session = rpc.call("session.open", &json!({}))["session"].clone();
    for _ in 0..3 {
        assert_eq!(rpc.number("test.panic", &json!({})), -32603);
    }
    assert_eq!(rpc.call("session.list", &json!({"session": session}))["tools"], json!([]));
    assert_eq!(rpc.end().1, Some(0));
}

#[test]
fn many_requests_may_be_sent_before_an_answer_is_read() {
    let mut rpc = Rpc::plain();
    let mut lines = String::new();
    for id in 1..=2_000 {
        lines += &line(id);
    }
    rpc.send_raw(lines.as_bytes());
    for id in 1..=2_000 {
        assert_eq!(rpc.message()["id"], id, "in the order of the requests");
    }
}

#[test]
fn the_process_ends_when_nobody_reads_its_answers() {
    use std::io::Write;
    use std::process::Stdio;
    let mut command = crate::support::connector();
    command.arg("rpc").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(line(1).as_bytes()).unwrap();
    // Its input stays open.
    let output = child.wait_with_output().unwrap();
    let said = crate::support::Said::of(&output);
    assert_eq!(said.status, 1);
    assert!(said.err.starts_with("error[output.failed]: "), "{}", said.err);
    drop(stdin);
}

#[test]
fn wrong_use_ends_with_2() {
    assert_eq!(run(&["rpc", "--hooks"]).status, 2);
    assert_eq!(run(&["rpc", "x"]).status, 2);
}
