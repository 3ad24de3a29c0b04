//! Sessions on a store over the seam, from one process to the next.

use std::fs;

use serde_json::{Value, json};

use crate::rpc::Rpc;
use crate::support::folder;

fn tea(version: &str, more: &Value) -> Value {
    let mut manifest = json!({
        "manifestVersion": 1, "id": "tea", "version": version, "title": "Tea", "description": "Teas.",
        "origins": { "shop": "https://tea.example" },
        "credentials": { "token": { "title": "Token", "origin": "shop" } },
        "tools": [{
            "name": "brew", "description": "Brew one.", "effect": "write",
            "parameters": { "type": "object", "properties": { "leaf": { "type": "string", "maxLength": 9 } }, "required": ["leaf"] },
            "request": { "method": "POST", "origin": "shop", "path": ["brew", { "$param": "leaf" }],
                "headers": { "Authorization": { "$credential": "token", "scheme": "Bearer" } } }
        }]
    });
    for (name, value) in more.as_object().unwrap() {
        manifest[name] = value.clone();
    }
    manifest
}

fn install(session: &Value, manifest: &Value, more: &Value) -> Value {
    let mut params = json!({"session": session, "text": manifest.to_string(), "source": "app"});
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    params
}

#[test]
fn what_is_installed_outlives_the_process() {
    let store = folder().join("store");
    let open = json!({"store": store});
    let mut rpc = Rpc::plain();
    let opened = rpc.call("session.open", &open);
    assert_eq!(
        (&opened["counter"], &opened["broken"], &opened["interrupted"]),
        (&json!(0), &json!([]), &json!([]))
    );
    let session = opened["session"].clone();
    let installed = rpc.call("session.install", &install(&session, &tea("1", &json!({})), &json!({})));
    // Another process waits, and is told.
    assert_eq!(Rpc::plain().refusal("session.open", &open), "store.locked");
    rpc.call("session.close", &json!({"session": session}));
    let mut other = Rpc::plain();
    let session = other.call("session.open", &open)["session"].clone();
    let listed = other.call("session.list", &json!({"session": session}));
    assert_eq!(listed["contract"], installed["contract"]);
    assert_eq!(listed["connectors"][0]["id"], "tea");
    let audit = other.call("audit.read", &json!({"session": session}));
    assert_eq!(audit["records"][0]["deed"], "install");
    let verified = other.call("audit.verify", &json!({"session": session, "head": audit["head"]}));
    assert_eq!(verified["kept"], 1);
    assert_eq!(
        other.refusal("audit.verify", &json!({"session": session, "head": "0".repeat(63) + "1"})),
        "audit.broken"
    );
}

#[test]
fn a_cut_trail_is_told_by_every_session() {
    let store = folder().join("store");
    let open = json!({"store": store});
    let mut rpc = Rpc::plain();
    let session = rpc.call("session.open", &open)["session"].clone();
    rpc.call("session.install", &install(&session, &tea("1", &json!({})), &json!({})));
    rpc.call("session.remove", &json!({"session": session, "id": "tea"}));
    assert_eq!(rpc.call("audit.verify", &json!({"session": session}))["kept"], 2);
    rpc.call("session.close", &json!({"session": session}));
    let log = store.join("audit.log");
    let lines = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, lines.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n").unwrap();
    for _ in 0..2 {
        let opened = rpc.call("session.open", &open);
        let session = opened["session"].clone();
        assert_eq!(opened["damage"][0]["code"], "audit.broken", "{opened}");
        rpc.call("session.install", &install(&session, &tea("1", &json!({})), &json!({})));
        rpc.call("session.remove", &json!({"session": session, "id": "tea"}));
        assert_eq!(rpc.refusal("audit.verify", &json!({"session": session})), "audit.broken");
        rpc.call("session.close", &json!({"session": session}));
    }
    let opened = rpc.call("session.open", &open);
    let session = opened["session"].clone();
    let head = rpc.call("audit.read", &json!({"session": session}))["head"].clone();
    rpc.call("audit.verify", &json!({"session": session, "head": head}));
    rpc.call("session.close", &json!({"session": session}));
    assert_eq!(rpc.call("session.open", &open)["damage"], json!([]));
}

#[test]
fn a_review_and_its_approval() {
    let mut rpc = Rpc::plain();
    let session = rpc.call("session.open", &json!({"store": folder().join("store")}))["session"].clone();
    let first = tea("1", &json!({}));
    let hash = connector_hash(&first);
    let contract = rpc.call("session.install", &install(&session, &first, &json!({})))["contract"].clone();
    let mut wider = tea("2", &json!({"supersedes": hash}));
    wider["tools"][0]["parameters"]["properties"]["leaf"]["maxLength"] = json!(10);
    let seen = json!({"contract": contract});
    assert_eq!(rpc.refusal("session.install", &install(&session, &wider, &seen)), "merge.widening");
    let review = rpc.call("session.review", &install(&session, &wider, &json!({})));
    assert_eq!(review["changes"][0]["kind"], "widened");
    assert_eq!(review["changes"][0]["witness"], json!({"leaf": "aaaaaaaaaa"}));
    let approved = json!({"contract": contract, "approval": review["approval"]});
    let next = rpc.call("session.install", &install(&session, &wider, &approved))["contract"].clone();
    assert_ne!(next, contract);
    assert_eq!(
        rpc.refusal(
            "session.install",
            &install(&session, &wider, &json!({"contract": next, "approval": review["approval"]}))
        ),
        "approval.invalid"
    );
    assert_eq!(
        rpc.refusal("session.remove", &json!({"session": session, "id": "tea", "contract": contract})),
        "contract.stale"
    );
    // Removed, and again from elsewhere: the id stays with its source.
    rpc.call(
        "credential.set",
        &json!({"session": session, "id": "tea", "name": "token", "secret": "s3cret"}),
    );
    rpc.call("session.remove", &json!({"session": session, "id": "tea", "contract": next}));
    let mut elsewhere = install(&session, &wider, &json!({}));
    elsewhere["source"] = json!("web");
    assert_eq!(rpc.refusal("session.install", &elsewhere), "merge.source");
    rpc.call("session.install", &install(&session, &wider, &json!({})));
    let has = json!({"session": session, "id": "tea", "name": "token"});
    assert_eq!(rpc.call("credential.has", &has)["present"], false);
}

fn connector_hash(manifest: &Value) -> String {
    crate::support::run(&["hash", &crate::support::file("tea.json", manifest.to_string())])
        .out
        .trim()
        .to_owned()
}

#[test]
fn an_older_lock_file_another_key_and_a_changed_manifest() {
    let store = folder().join("store");
    let key = |byte: u8| {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode([byte; 32])
    };
    let open = |rpc: &mut Rpc, more: &Value| {
        let mut params = json!({"store": store});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        params["storeKey"] = params.get("storeKey").cloned().unwrap_or(json!(key(1)));
        params.as_object().map(|_| rpc.send("session.open", &params)).map(|id| rpc.answer(id)).unwrap()
    };
    let mut rpc = Rpc::plain();
    let session = open(&mut rpc, &json!({}))["result"]["session"].clone();
    rpc.call("session.install", &install(&session, &tea("1", &json!({})), &json!({})));
    let older = fs::read(store.join("lock.json")).unwrap();
    rpc.call("session.remove", &json!({"session": session, "id": "tea"}));
    rpc.call("session.install", &install(&session, &tea("1", &json!({})), &json!({})));
    rpc.call("session.close", &json!({"session": session}));
    let code = |answer: &Value| answer["error"]["data"]["code"].as_str().unwrap_or_default().to_owned();
    assert_eq!(code(&open(&mut rpc, &json!({"storeKey": key(2)}))), "store.tampered");
    let newer = fs::read(store.join("lock.json")).unwrap();
    fs::write(store.join("lock.json"), &older).unwrap();
    assert_eq!(code(&open(&mut rpc, &json!({"seenCounter": 3}))), "store.rolled_back");
    fs::write(store.join("lock.json"), &newer).unwrap();
    for manifest in fs::read_dir(store.join("manifests")).unwrap() {
        fs::write(manifest.unwrap().path(), "{}").unwrap();
    }
    let opened = open(&mut rpc, &json!({"seenCounter": 3}))["result"].clone();
    assert_eq!(
        (&opened["broken"][0]["id"], &opened["broken"][0]["code"]),
        (&json!("tea"), &json!("store.manifest"))
    );
    let listed = rpc.call("session.list", &json!({"session": opened["session"]}));
    assert_eq!((&listed["connectors"], &listed["broken"][0]["id"]), (&json!([]), &json!("tea")));
}

#[test]
fn schemas_are_compared() {
    let mut rpc = Rpc::plain();
    let old = json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}});
    let new = |maximum: u32| json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": maximum}}});
    let narrower = rpc.call("schema.narrower", &json!({"old": old, "new": new(8)}));
    assert_eq!(narrower, json!({"verdict": "narrower"}));
    let wider = rpc.call("schema.narrower", &json!({"old": old, "newText": new(10).to_string()}));
    assert_eq!(wider, json!({"verdict": "wider", "witness": {"n": 10}, "pointer": "/properties/n"}));
    let error = rpc.error("schema.narrower", &json!({"old": {"type": "nothing"}, "new": old}));
    assert_eq!(error["data"]["code"], "schema.invalid");
}
