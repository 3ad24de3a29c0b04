//! Calls that run: beside each other, cancelled, under the limits of a host.

use connector_core::LIMITS;

use super::*;

#[test]
fn a_running_call_can_be_cancelled_while_others_are_answered() {
    let mut stage = Stage::scripted(silent());
    let plan = stage.plan("a.list");
    let params = stage.execute_params(&plan, &json!({"callId": "mine"}));
    let running = stage.rpc.send("call.execute", &params);
    // The seam stays open: other methods are answered, and a second call of the name is refused.
    assert_eq!(stage.rpc.call("text.clean", &json!({"text": "a"}))["text"], "a");
    let second = stage.plan("a.list");
    let params = stage.execute_params(&second, &json!({"callId": "mine"}));
    assert_eq!(stage.rpc.refusal("call.execute", &params), "call.invalid");
    let cancel = |name: &str| json!({"session": stage.session, "callId": name});
    let (other, mine) = (cancel("other"), cancel("mine"));
    assert_eq!(stage.rpc.call("call.cancel", &other), json!({"cancelled": false}));
    assert_eq!(stage.rpc.call("call.cancel", &mine), json!({"cancelled": true}));
    let answer = stage.rpc.answer(running);
    assert_eq!(code(&answer), "net.cancelled", "{answer}");
    assert_eq!(stage.rpc.call("call.cancel", &mine), json!({"cancelled": false}));
}

#[test]
fn calls_overlap() {
    let mut slow = Stage::scripted(silent());
    let plan = slow.plan("a.list");
    let params = slow.execute_params(&plan, &json!({"callId": "slow"}));
    let running = slow.rpc.send("call.execute", &params);
    while slow.api.requests().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let Stage { rpc, session, api: _api, .. } = slow;
    let authority = Authority::new().unwrap();
    let api = Api::tls(&authority, &["api.example"], ok);
    let mut fast = Stage::over(rpc, api, &authority, &json!({}));
    for _ in 0..3 {
        assert_eq!(fast.execute("a.list")["status"], 200, "while the slow call is under way");
    }
    assert_eq!(
        fast.rpc.call("call.cancel", &json!({"session": session, "callId": "slow"})),
        json!({"cancelled": true})
    );
    assert_eq!(code(&fast.rpc.answer(running)), "net.cancelled");
}

#[test]
fn the_end_of_input_cancels_running_calls_and_writes_their_answers() {
    let mut stage = Stage::scripted(silent());
    let read = stage.plan("a.list");
    let params = stage.execute_params(&read, &json!({}));
    let reading = stage.rpc.send("call.execute", &params);
    let write = stage.plan("a.add");
    let params = stage.execute_params(&write, &json!({}));
    let writing = stage.rpc.send("call.execute", &params);
    let Stage { rpc, api, .. } = stage;
    while api.requests().len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let (rest, status) = rpc.end();
    assert_eq!(status, Some(0));
    let of = |id: u64| rest.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{rest:?}"));
    assert_eq!(code(of(reading)), "net.cancelled");
    assert_eq!(code(of(writing)), "outcome_unknown", "the server had the request");
    assert_eq!(rest.len(), 2);
}

#[test]
fn closing_a_session_cancels_its_calls() {
    let mut stage = Stage::scripted(silent());
    let plan = stage.plan("a.list");
    let params = stage.execute_params(&plan, &json!({}));
    let running = stage.rpc.send("call.execute", &params);
    while stage.api.requests().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(stage.rpc.call("session.close", &stage.of_session()), json!({}));
    let answer = stage.rpc.answer(running);
    assert_eq!(code(&answer), "net.cancelled", "{answer}");
}

#[test]
fn a_call_as_a_notification_is_made_and_not_answered() {
    let mut stage = Stage::new(ok);
    let plan = stage.plan("a.list");
    let params = stage.execute_params(&plan, &json!({}));
    stage.rpc.notify("call.execute", &params);
    while stage.api.requests().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(stage.rpc.refusal("call.execute", &params), "plan.unknown");
    assert_eq!(stage.rpc.end().0, [] as [Value; 0]);
}

#[test]
fn no_limit_that_a_host_sets_is_a_defect() {
    let authority = Authority::new().unwrap();
    let api = Api::tls(&authority, &["api.example"], ok);
    let mut rpc = Rpc::hooked();
    for (limit, ceiling) in LIMITS {
        let over = json!({ "limits": { *limit: ceiling + 1 } });
        assert_eq!(rpc.error("session.open", &over)["code"], -32602, "{limit}");
        for value in [0, 1, *ceiling] {
            let params = json!({
                "limits": {*limit: value}, "testRoots": authority.pem(),
                "testResolve": {"api.example:443": [[PUBLIC]]}, "testConnect": {format!("{PUBLIC}:443"): api.address()}
            });
            let session = rpc.call("session.open", &params)["session"].clone();
            let install = json!({"session": session, "text": manifest("a"), "source": "test"});
            let mut ask = |method: &str, params: Value| {
                let id = rpc.send(method, &params);
                let answer = rpc.answer(id);
                assert!(
                    answer.get("result").is_some() || answer["error"]["code"] == 1,
                    "{limit} {value}: {answer}"
                );
                answer["result"].clone()
            };
            let contract = ask("session.install", install)["contract"].clone();
            if contract.is_null() {
                continue;
            }
            ask("credential.set", json!({"session": session, "id": "a", "name": "token", "secret": TOKEN}));
            let call = json!({"name": "a.find", "arguments": {"text": "x"}});
            let plan =
                ask("call.plan", json!({"session": session, "contract": contract, "call": call}))["plan"]
                    .clone();
            if !plan.is_null() {
                ask("call.execute", json!({"session": session, "plan": plan}));
            }
            ask("session.close", json!({"session": session}));
        }
    }
}

#[test]
fn a_call_is_cancelled_by_the_very_next_line() {
    for _ in 0..5 {
        let mut stage = Stage::scripted(silent());
        let plan = stage.plan("a.add");
        let params = stage.execute_params(&plan, &json!({"callId": "mine"}));
        let cancel = json!({"session": stage.session, "callId": "mine"});
        let running = stage.rpc.send("call.execute", &params);
        assert_eq!(stage.rpc.call("call.cancel", &cancel), json!({"cancelled": true}));
        let ended = stage.rpc.answer(running);
        assert!(["net.cancelled", "outcome_unknown"].contains(&code(&ended)), "{ended}");
    }
}
