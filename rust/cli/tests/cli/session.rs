//! Sessions over the seam, with TLS, names and addresses by the hooks for tests.

mod asking;
mod running;

use connector_testkit::{Authority, Request, Script, Step};
use serde_json::{Value, json};

use crate::rpc::Rpc;
use crate::support::{Api, NOTES, TOKEN, json as answer};

/// A public address; the hooks connect it to the test server after it was judged.
const PUBLIC: &str = "93.184.215.14";

/// A manifest of a fixed origin.
fn manifest(id: &str) -> String {
    let tool = |name: &str, effect: &str, method: &str, more: Value| {
        let mut tool = json!({
            "name": name,
            "description": "Does it.",
            "effect": effect,
            "request": {"method": method, "origin": "api", "path": [name],
                        "headers": {"Authorization": {"$credential": "token", "scheme": "Bearer"}}},
            "limits": {"retries": 0}
        });
        for (name, value) in more.as_object().unwrap() {
            tool[name] = value.clone();
        }
        tool
    };
    let parameters =
        json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let mut find = tool("find", "read", "GET", json!({"parameters": parameters}));
    find["request"]["query"] = json!({"q": {"$param": "text"}});
    json!({
        "manifestVersion": 1,
        "id": id,
        "version": "1",
        "title": "Test",
        "description": "For tests.",
        "origins": {"api": "https://api.example"},
        "credentials": {"token": {"title": "Token", "origin": "api"}},
        "tools": [find, tool("list", "read", "GET", json!({})), tool("add", "write", "POST", json!({})), tool("drop", "destructive", "DELETE", json!({}))]
    })
    .to_string()
}

/// A session with one connector `a` and its credential, at a server of its own.
struct Stage {
    rpc: Rpc,
    session: Value,
    contract: Value,
    api: Api,
}

impl Stage {
    fn new(respond: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let authority = Authority::new().unwrap();
        let api = Api::tls(&authority, &["api.example"], respond);
        Self::at(api, &authority, &json!({}))
    }

    fn scripted(script: Script) -> Self {
        let authority = Authority::new().unwrap();
        let api = Api::scripted(&authority, &["api.example"], script);
        Self::at(api, &authority, &json!({}))
    }

    fn at(api: Api, authority: &Authority, options: &Value) -> Self {
        Self::over(Rpc::hooked(), api, authority, options)
    }

    /// A session of its own in a process that may have others.
    fn over(mut rpc: Rpc, api: Api, authority: &Authority, options: &Value) -> Self {
        let mut params = json!({
            "testRoots": authority.pem(),
            "testResolve": {"api.example:443": [[PUBLIC]]},
            "testConnect": {format!("{PUBLIC}:443"): api.address()}
        });
        for (name, value) in options.as_object().unwrap() {
            params[name] = value.clone();
        }
        let session = rpc.call("session.open", &params)["session"].clone();
        let mut stage = Self { rpc, session, contract: Value::Null, api };
        stage.install("a");
        stage
    }

    fn install(&mut self, id: &str) {
        let params = json!({"session": self.session, "text": manifest(id), "source": "test"});
        self.contract = self.rpc.call("session.install", &params)["contract"].clone();
        let params = json!({"session": self.session, "id": id, "name": "token", "secret": TOKEN});
        assert_eq!(self.rpc.call("credential.set", &params), json!({}));
    }

    fn plan_params(&self, tool: &str, arguments: &Value) -> Value {
        json!({"session": self.session, "contract": self.contract, "call": {"name": tool, "arguments": arguments}})
    }

    fn plan(&mut self, tool: &str) -> Value {
        let params = self.plan_params(tool, &json!({}));
        self.rpc.call("call.plan", &params)
    }

    /// Executes a plan with its digest.
    fn execute_params(&self, plan: &Value, more: &Value) -> Value {
        let mut params =
            json!({"session": self.session, "plan": plan["plan"], "confirmation": plan["digest"]});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        params
    }

    fn execute(&mut self, tool: &str) -> Value {
        let plan = self.plan(tool);
        let params = self.execute_params(&plan, &json!({}));
        self.rpc.call("call.execute", &params)
    }

    fn of_session(&self) -> Value {
        json!({"session": self.session})
    }
}

fn ok(_: &Request) -> Vec<u8> {
    answer("200 OK", r#"{"it": "works"}"#)
}

#[test]
fn a_closed_world_leads_every_name_and_address_to_one_server() {
    let authority = Authority::new().unwrap();
    let api = Api::tls(&authority, &["api.example"], ok);
    let everything = json!({"testResolve": {"*": [[PUBLIC]]}, "testConnect": {"*": api.address()}});
    let mut stage = Stage::at(api, &authority, &everything);
    assert_eq!(stage.execute("a.list")["status"], 200);
}

/// A server that takes a request and never answers.
fn silent() -> Script {
    vec![Step::ReadRequest, Step::AwaitClose]
}

fn code(answer: &Value) -> &str {
    answer["error"]["data"]["code"].as_str().unwrap_or("none")
}

#[test]
fn a_whole_session_under_tls() {
    let mut stage = Stage::new(|request| {
        assert_eq!(request.header("authorization"), Some(format!("Bearer {TOKEN}")));
        answer("200 OK", &format!("{{\"echo\": \"{TOKEN}\", \"target\": \"{}\"}}", request.target()))
    });
    let listed = stage.rpc.call("session.list", &stage.of_session());
    assert_eq!(listed["contract"], stage.contract, "the contract of a full export");
    let connector = &listed["connectors"][0];
    let members: Vec<&String> = connector.as_object().unwrap().keys().collect();
    assert_eq!(members, ["id", "version", "title", "source", "sha256"]);
    let tools: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["a.add", "a.drop", "a.find", "a.list"], "sorted");
    assert!(
        listed["tools"]
            .as_array()
            .unwrap()
            .iter()
            .all(|tool| tool["effectHash"].as_str().unwrap().len() == 64)
    );

    let credential = json!({"session": stage.session, "id": "a", "name": "token"});
    assert_eq!(stage.rpc.call("credential.has", &credential), json!({"present": true}));

    // Arguments as an object, and as the text that a model wrote.
    for arguments in [json!({"text": "green tea"}), json!("{\"text\": \"green tea\"}")] {
        let params = stage.plan_params("a.find", &arguments);
        let plan = stage.rpc.call("call.plan", &params);
        let members: Vec<&String> = plan.as_object().unwrap().keys().collect();
        assert_eq!(members, ["plan", "digest", "needsConfirmation", "preview"]);
        assert_eq!(plan["needsConfirmation"], json!([]));
        let preview = &plan["preview"];
        assert_eq!(preview["url"], "https://api.example/find?q=green%20tea");
        assert_eq!(
            (&preview["method"], &preview["effect"], &preview["body"]),
            (&json!("GET"), &json!("read"), &Value::Null)
        );
        let params = json!({"session": stage.session, "plan": plan["plan"]});
        let result = stage.rpc.call("call.execute", &params);
        let members: Vec<&String> = result.as_object().unwrap().keys().collect();
        assert_eq!(members, ["text", "truncated", "status", "isError"]);
        assert_eq!(
            result["text"],
            r#"{"tool":"a.find","status":200,"data":{"echo":"[credential]","target":"/find?q=green%20tea"}}"#
        );
        assert_eq!(
            (&result["status"], &result["isError"], &result["truncated"]),
            (&json!(200), &json!(false), &json!(false))
        );
    }

    assert_eq!(stage.rpc.call("credential.delete", &credential), json!({}));
    assert_eq!(stage.rpc.call("credential.has", &credential), json!({"present": false}));
    let plan = stage.plan("a.list");
    let params = stage.execute_params(&plan, &json!({}));
    assert_eq!(stage.rpc.refusal("call.execute", &params), "credential.missing");

    let trail = stage.rpc.call("audit.read", &stage.of_session());
    let records = trail["records"].as_array().unwrap();
    assert_eq!(records.last().unwrap()["hash"], trail["head"]);
    let deeds: Vec<&str> = records.iter().map(|record| record["deed"].as_str().unwrap()).collect();
    assert_eq!(deeds, ["install", "call", "call", "call"], "the refused call too");
    assert!(
        !trail.to_string().contains(TOKEN) && !trail.to_string().contains("green"),
        "neither secret nor value"
    );

    assert_eq!(stage.rpc.call("session.close", &stage.of_session()), json!({}));
    assert_eq!(stage.rpc.refusal("session.list", &stage.of_session()), "session.closed");
    assert_eq!(stage.rpc.refusal("session.close", &stage.of_session()), "session.closed");
    assert_eq!(stage.api.seen(), ["GET /find?q=green%20tea"; 2]);
}

#[test]
fn sessions_know_nothing_of_each_other() {
    let mut stage = Stage::new(ok);
    let other = stage.rpc.call("session.open", &json!({}))["session"].clone();
    assert_ne!(other, stage.session);
    assert_eq!(stage.rpc.call("session.list", &json!({"session": other}))["connectors"], json!([]));
    let plan = stage.plan("a.list");
    let params = json!({"session": other, "plan": plan["plan"]});
    assert_eq!(stage.rpc.refusal("call.execute", &params), "plan.unknown");
    let params =
        json!({"session": other, "contract": stage.contract, "call": {"name": "a.list", "arguments": {}}});
    assert_eq!(stage.rpc.refusal("call.plan", &params), "contract.stale");
    stage.rpc.call("session.close", &json!({"session": other}));
    assert_eq!(stage.execute("a.list")["status"], 200);
}

#[test]
fn findings_of_an_install_have_line_and_column_where_they_speak_of_its_text() {
    let mut rpc = Rpc::plain();
    let session = rpc.call("session.open", &json!({}))["session"].clone();
    let bad = NOTES.replace("\"1.0.0\"", "\"1 0 0\"").replace("\"effect\": \"read\"", "\"effect\": \"reed\"");
    let error = rpc.error("session.install", &json!({"session": session, "text": bad, "source": "test"}));
    assert_eq!((&error["code"], &error["data"]["code"]), (&json!(1), &json!("manifest.invalid")));
    let findings = error["data"]["findings"].as_array().unwrap();
    let lines: Vec<_> =
        findings.iter().map(|finding| (finding["line"].clone(), finding["column"].clone())).collect();
    assert_eq!(lines, [(json!(4), json!(14)), (json!(14), json!(17))]);

    let grant =
        json!({"origins": {"server": "http://192.168.1.7"}, "settings": {"notebook": "x", "shelf": "x"}});
    let params = json!({"session": session, "text": NOTES, "source": "test", "grant": grant});
    let error = rpc.error("session.install", &params);
    assert_eq!(error["data"]["code"], "grant.invalid");
    let findings = error["data"]["findings"].as_array().unwrap();
    assert!(findings.len() >= 2 && findings.iter().all(|finding| finding.get("line").is_none()), "{error}");
    let shape = json!({"session": session, "text": NOTES, "source": "test", "grant": {"loopback": 1}});
    assert_eq!(rpc.number("session.install", &shape), -32602);
    assert_eq!(
        rpc.call("session.list", &json!({"session": session}))["connectors"],
        json!([]),
        "nothing half done"
    );
}

#[test]
fn a_tool_set_changes_only_as_its_rules_say() {
    let mut stage = Stage::new(ok);
    let session = stage.session.clone();
    let before = stage.contract.clone();
    let again = json!({"session": session, "text": manifest("a"), "source": "elsewhere"});
    assert_eq!(stage.rpc.refusal("session.install", &again), "merge.source");
    let stale =
        json!({"session": session, "text": manifest("b"), "source": "test", "contract": "0".repeat(64)});
    assert_eq!(stage.rpc.refusal("session.install", &stale), "contract.stale");
    let swap = json!({"session": session, "text": manifest("b"), "source": "test", "contract": before});
    let installed = stage.rpc.call("session.install", &swap);
    let names: Vec<&str> =
        installed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["b.find", "b.list", "b.add", "b.drop"], "the tools of the connector, in file order");
    let old = stage.plan_params("a.list", &json!({}));
    assert_eq!(stage.rpc.refusal("call.plan", &old), "contract.stale");
    stage.contract = installed["contract"].clone();

    let narrower = json!({"session": session, "id": "a", "grant": {"only": ["list"]}});
    stage.contract = stage.rpc.call("session.grant", &narrower)["contract"].clone();
    let find = stage.plan_params("a.find", &json!({"text": "x"}));
    assert_eq!(stage.rpc.refusal("call.plan", &find), "call.not_exported");
    let wider = json!({"session": session, "id": "a", "grant": {"only": ["list"], "loopback": true}});
    assert_eq!(stage.rpc.refusal("session.grant", &wider), "grant.wider");
    let unknown = json!({"session": session, "id": "c", "grant": {}});
    assert_eq!(stage.rpc.refusal("session.grant", &unknown), "connector.unknown");
    assert_eq!(stage.rpc.call("session.list", &json!({"session": session}))["contract"], stage.contract);
}

#[test]
fn a_call_is_refused_for_what_it_is() {
    let mut stage = Stage::new(ok);
    for (tool, arguments, expected) in [
        ("a.nothing", json!({}), "call.not_exported"),
        ("find", json!({"text": "x"}), "call.not_exported"),
        ("a.find", json!({}), "call.arguments"),
        ("a.find", json!({"text": 1}), "call.arguments"),
        ("a.find", json!({"text": "x", "s3cret": 1}), "call.arguments"),
        ("a.find", json!("{"), "call.invalid"),
        ("a.find", json!("[]"), "call.invalid"),
        ("a.find", json!("{\"text\": \"a\", \"text\": \"b\"}"), "call.invalid"),
        ("a.find", json!({"text": "x".repeat(10_000)}), "request.too_large"),
    ] {
        let params = stage.plan_params(tool, &arguments);
        let error = stage.rpc.error("call.plan", &params);
        assert_eq!((&error["code"], error["data"]["code"].as_str()), (&json!(1), Some(expected)), "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
        if expected.starts_with("call.") {
            assert!(error["data"]["advice"].is_string(), "the model is told what to do: {error}");
        }
    }
    assert_eq!(stage.api.requests().len(), 0);
}

#[test]
fn a_confirmation_is_the_digest_and_counts_once() {
    let mut stage = Stage::new(ok);
    let plan = stage.plan("a.drop");
    assert_eq!(plan["needsConfirmation"], json!(["effect"]));
    let bare = json!({"session": stage.session, "plan": plan["plan"]});
    assert_eq!(stage.rpc.refusal("call.execute", &bare), "plan.confirmation_required");
    for wrong in ["", "yes", &"0".repeat(64)] {
        let params = json!({"session": stage.session, "plan": plan["plan"], "confirmation": wrong});
        assert_eq!(stage.rpc.refusal("call.execute", &params), "plan.confirmation_required");
    }
    assert_eq!(stage.api.requests().len(), 0);
    let params = stage.execute_params(&plan, &json!({}));
    assert_eq!(stage.rpc.call("call.execute", &params)["status"], 200, "nothing was consumed before");
    assert_eq!(stage.rpc.refusal("call.execute", &params), "plan.unknown");
    assert_eq!(stage.api.seen(), ["DELETE /drop"]);
}

#[test]
fn text_of_one_connector_does_not_flow_into_another_unasked() {
    let mut stage = Stage::new(ok);
    stage.install("b");
    let plan = |stage: &Stage, tool: &str, conversation: &str| {
        let mut params = stage.plan_params(tool, &json!({}));
        params["conversation"] = json!(conversation);
        params
    };
    let params = plan(&stage, "a.list", "one");
    let first = stage.rpc.call("call.plan", &params);
    let params = stage.execute_params(&first, &json!({}));
    stage.rpc.call("call.execute", &params);
    let params = plan(&stage, "b.list", "one");
    assert_eq!(stage.rpc.call("call.plan", &params)["needsConfirmation"], json!(["flow.cross_connector"]));
    let params = plan(&stage, "b.list", "another");
    assert_eq!(stage.rpc.call("call.plan", &params)["needsConfirmation"], json!([]));
}

#[test]
fn the_clock_of_a_session_can_be_moved_on() {
    let authority = Authority::new().unwrap();
    let api = Api::tls(&authority, &["api.example"], ok);
    let mut stage = Stage::at(api, &authority, &json!({"limits": {"callsPerMinute": 1}}));
    let advance = |stage: &mut Stage, ms: u64| {
        let params = json!({"session": stage.session, "ms": ms});
        assert_eq!(stage.rpc.call("test.advance", &params), json!({}));
    };
    assert_eq!(stage.execute("a.list")["status"], 200);
    let plan = stage.plan("a.list");
    let params = stage.execute_params(&plan, &json!({}));
    assert_eq!(stage.rpc.refusal("call.execute", &params), "rate.limited");
    advance(&mut stage, 60_000);
    assert_eq!(stage.rpc.call("call.execute", &params)["status"], 200, "nothing was consumed before");
    let plan = stage.plan("a.list");
    advance(&mut stage, 300_000);
    let params = stage.execute_params(&plan, &json!({}));
    assert_eq!(stage.rpc.refusal("call.execute", &params), "plan.expired");
    let records = stage.rpc.call("audit.read", &stage.of_session())["records"].clone();
    let times: Vec<u64> =
        records.as_array().unwrap().iter().map(|record| record["time"].as_u64().unwrap()).collect();
    assert!(times.last().unwrap() - times[0] >= 60_000, "the wall clock too: {times:?}");
}

#[test]
fn the_address_guard_judges_before_the_map_of_addresses() {
    let refused = |resolve: Value, expected: &str| {
        let authority = Authority::new().unwrap();
        let api = Api::tls(&authority, &["api.example"], ok);
        let options = json!({
            "testResolve": {"api.example:443": resolve},
            "testConnect": {"10.0.0.1:443": api.address(), "[::ffff:10.0.0.1]:443": api.address(), format!("{PUBLIC}:443"): api.address()},
            "limits": {"totalTimeoutMs": 1_500}
        });
        let mut stage = Stage::at(api, &authority, &options);
        let plan = stage.plan("a.list");
        let params = stage.execute_params(&plan, &json!({}));
        assert_eq!(stage.rpc.refusal("call.execute", &params), expected);
        assert_eq!(stage.api.requests().len(), 0);
    };
    refused(json!([["10.0.0.1"]]), "net.address");
    refused(json!([["::ffff:10.0.0.1"]]), "net.address");
    refused(json!([["169.254.169.254", "127.0.0.1"]]), "net.address");
    refused(json!(["nxdomain"]), "net.resolve");
    refused(json!(["hang"]), "net.timeout");
    // Answers come in turn, and the last one repeats: a name that is bound again is judged again.
    let authority = Authority::new().unwrap();
    let closing = |_: &Request| b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    let api = Api::tls(&authority, &["api.example"], closing);
    let options = json!({
        "testResolve": {"api.example:443": [[PUBLIC], ["10.0.0.1"]]},
        "testConnect": {"10.0.0.1:443": api.address(), format!("{PUBLIC}:443"): api.address()}
    });
    let mut stage = Stage::at(api, &authority, &options);
    assert_eq!(stage.execute("a.list")["status"], 200);
    for _ in 0..2 {
        let plan = stage.plan("a.list");
        let params = stage.execute_params(&plan, &json!({}));
        assert_eq!(stage.rpc.refusal("call.execute", &params), "net.address");
    }
}

#[test]
fn only_the_roots_of_the_test_are_trusted() {
    let (known, unknown) = (Authority::new().unwrap(), Authority::new().unwrap());
    let api = Api::tls(&unknown, &["api.example"], ok);
    let mut stage = Stage::at(api, &known, &json!({}));
    let plan = stage.plan("a.list");
    let params = stage.execute_params(&plan, &json!({}));
    assert_eq!(stage.rpc.refusal("call.execute", &params), "net.tls");
    assert_eq!(stage.api.requests().len(), 0);
}

#[test]
fn an_error_of_the_server_is_a_result() {
    let mut stage =
        Stage::new(|_| answer("429 Too Many Requests\r\nRetry-After: 7", r#"{"m": "slow down"}"#));
    let result = stage.execute("a.drop");
    assert_eq!(
        (&result["status"], &result["isError"], &result["retryAfter"]),
        (&json!(429), &json!(true), &json!(7))
    );
    let plan = stage.plan("a.drop");
    let params = stage.execute_params(&plan, &json!({"maxChars": 30}));
    let result = stage.rpc.call("call.execute", &params);
    assert!(result["text"].as_str().unwrap().chars().count() <= 30, "{result}");
    assert_eq!(result["truncated"], true);
}
