//! Credentials that the host is asked for.

use super::*;

/// A session that asks for its credential, which is not set.
fn asking(respond: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static, total_ms: u64) -> Stage {
    let authority = Authority::new().unwrap();
    let api = Api::tls(&authority, &["api.example"], respond);
    let options = json!({"askCredentials": true, "limits": {"totalTimeoutMs": total_ms, "totalTimeoutCeilingMs": total_ms}});
    let mut stage = Stage::at(api, &authority, &options);
    let credential = json!({"session": stage.session, "id": "a", "name": "token"});
    stage.rpc.call("credential.delete", &credential);
    assert_eq!(
        stage.rpc.call("credential.has", &credential),
        json!({"present": false}),
        "to look is not to ask"
    );
    stage
}

/// Longer than the client has patience: a call that is not woken fails its test.
const LONG: u64 = 600_000;

/// A server that takes this token.
fn takes(token: &'static str) -> impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static {
    move |request| match request.header("authorization") {
        Some(given) if given == format!("Bearer {token}") => answer("200 OK", "{}"),
        _ => answer("401 Unauthorized", "{}"),
    }
}

impl Stage {
    /// Sends the execution of a read and gives its id.
    fn start(&mut self, more: &Value) -> u64 {
        let plan = self.plan("a.list");
        let params = self.execute_params(&plan, more);
        self.rpc.send("call.execute", &params)
    }

    /// Waits until the core asks.
    fn asked(&mut self, rejected: bool) {
        let message = self.rpc.wait(|message| message["method"] == "credential.needed");
        let params = json!({"session": self.session, "id": "a", "name": "token", "rejected": rejected});
        assert_eq!(message, json!({"jsonrpc": "2.0", "method": "credential.needed", "params": params}));
    }

    fn set(&mut self, secret: &str) {
        let params = json!({"session": self.session, "id": "a", "name": "token", "secret": secret});
        self.rpc.call("credential.set", &params);
    }
}

#[test]
fn a_credential_that_is_missing_is_asked_for_where_the_host_wants_it() {
    let mut stage = asking(takes("first"), LONG);
    let running = stage.start(&json!({}));
    stage.asked(false);
    assert_eq!(stage.rpc.call("text.clean", &json!({"text": "a"}))["text"], "a", "the seam stays open");
    stage.set("first");
    assert_eq!(stage.rpc.answer(running)["result"]["status"], 200);
    let again = stage.start(&json!({}));
    assert_eq!(stage.rpc.answer(again)["result"]["status"], 200);
    let (rest, _) = stage.rpc.end();
    assert_eq!(rest, [] as [Value; 0], "it is not asked for twice");
}

#[test]
fn several_calls_that_wait_for_one_credential_ask_once() {
    let mut stage = asking(takes("first"), LONG);
    let running: Vec<u64> = (0..6).map(|_| stage.start(&json!({}))).collect();
    stage.asked(false);
    // All of them wait: more than the process has threads for calls.
    stage.set("first");
    for id in running {
        assert_eq!(stage.rpc.answer(id)["result"]["status"], 200);
    }
}

#[test]
fn a_credential_that_the_server_refuses_is_asked_for_once_more() {
    let mut stage = asking(takes("second"), LONG);
    let running = stage.start(&json!({}));
    stage.asked(false);
    stage.set("first");
    stage.asked(true);
    stage.set("second");
    assert_eq!(stage.rpc.answer(running)["result"]["status"], 200);
    assert_eq!(stage.api.requests().len(), 2);
    let rejected = stage.start(&json!({}));
    assert_eq!(stage.rpc.answer(rejected)["result"]["status"], 200);

    let mut stage = asking(takes("second"), LONG);
    let running = stage.start(&json!({}));
    stage.asked(false);
    stage.set("first");
    stage.asked(true);
    stage.set("first");
    assert_eq!(code(&stage.rpc.answer(running)), "credential.rejected", "the same secret is not sent again");
    assert_eq!(stage.api.requests().len(), 1);
}

#[test]
fn nobody_is_asked_for_longer_than_the_call_may_take() {
    let mut stage = asking(takes("first"), 300);
    let running = stage.start(&json!({}));
    stage.asked(false);
    assert_eq!(code(&stage.rpc.answer(running)), "credential.missing");
    let running = stage.start(&json!({}));
    stage.asked(false);
    stage.set("wrong");
    stage.asked(true);
    assert_eq!(code(&stage.rpc.answer(running)), "credential.rejected");
}

#[test]
fn a_call_that_waits_for_a_credential_can_be_cancelled() {
    let mut stage = asking(takes("first"), LONG);
    let running = stage.start(&json!({"callId": "mine"}));
    stage.asked(false);
    let cancel = json!({"session": stage.session, "callId": "mine"});
    assert_eq!(stage.rpc.call("call.cancel", &cancel), json!({"cancelled": true}));
    assert_eq!(code(&stage.rpc.answer(running)), "net.cancelled");
    let running = stage.start(&json!({}));
    stage.asked(false);
    let closed = stage.rpc.call("session.close", &stage.of_session());
    assert_eq!(closed, json!({}));
    assert_eq!(code(&stage.rpc.answer(running)), "net.cancelled");

    let mut stage = asking(takes("first"), LONG);
    let running = stage.start(&json!({}));
    stage.asked(false);
    let (rest, status) = stage.rpc.end();
    assert_eq!((rest.len(), status), (1, Some(0)));
    assert_eq!((&rest[0]["id"], code(&rest[0])), (&json!(running), "net.cancelled"));
    assert_eq!(stage.api.requests().len(), 0);
}
