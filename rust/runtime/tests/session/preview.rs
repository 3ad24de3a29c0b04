//! What the preview shows is what goes on the wire.

use std::cell::Cell;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_runtime::core::Code;
use connector_runtime::{PlanView, Session};
use connector_testkit::{Entry, Event, Server};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::base::base;
use crate::support::{
    Network, Stage, answering, call, execute, fine, install, least, manifest, ok, plan, promised_in, run,
    secret,
};

#[tokio::test]
async fn the_idempotency_key_is_in_the_preview_and_on_the_wire() {
    let mut manifest = manifest("notes");
    manifest["tools"][1]["request"]["idempotency"] = json!({ "header": "Idempotency-Key" });
    manifest["tools"][1]["limits"] = json!({ "retries": 1 });
    let busy = crate::support::http(503, "application/json", &[], b"{}");
    let script = vec![
        connector_testkit::Step::ReadRequest,
        connector_testkit::Step::Send(busy),
        connector_testkit::Step::Restart,
    ];
    let stage = Stage::of(&manifest, &least("notes"), script).await;
    let key = |view: &PlanView| {
        let header = view.preview.headers.iter().find(|header| header.name == "Idempotency-Key");
        header.expect("the key in the preview").value.clone()
    };
    let x = json!({ "text": "x" });
    let (view, twin) =
        (plan(&stage.session, "notes.add", &x).unwrap(), plan(&stage.session, "notes.add", &x).unwrap());
    assert_ne!(key(&view), key(&twin), "each plan has its own");
    execute(&stage.session, &view).await.unwrap();
    let sent: Vec<_> = stage
        .server
        .log()
        .requests()
        .iter()
        .map(|request| request.header("idempotency-key").unwrap())
        .collect();
    assert_eq!(sent, [key(&view), key(&view)], "the same on the repeat");
}

#[tokio::test]
async fn the_preview_says_who_calls_whom() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "a\u{202e}b\nc" })).unwrap();
    let preview = &view.preview;
    assert_eq!((&*preview.tool, preview.effect.as_str()), ("notes.add", "write"));
    assert_eq!(
        (&*preview.connector, &*preview.source, &*preview.origin),
        ("notes", "app", "http://notes.local")
    );
    assert_eq!((preview.method.as_str(), &*preview.url), ("POST", "http://notes.local/add"));
    assert_eq!(preview.body.as_deref(), Some("{\"text\":\"a\u{202e}b\\nc\"}"));
    let display = preview.display();
    assert!(
        display.starts_with("notes from app (Notes)\nnotes.add, write\nPOST http://notes.local/add\n"),
        "{display}"
    );
    assert!(!display.contains('\u{202e}'), "{display}");
    let fixed: Vec<_> =
        preview.headers.iter().filter(|header| header.fixed).map(|header| &*header.name).collect();
    assert_eq!(fixed, ["Host", "Accept-Encoding", "Content-Length"]);
    run(&stage.session, "notes.add", &json!({ "text": "x" })).await.unwrap();
}

/// One session for all random calls, with the servers of its two origins, on one runtime.
struct Everything {
    runtime: Runtime,
    session: Session,
    servers: [Server; 2],
    contract: String,
}

const TOKEN: &str = "tok-91f=";
const KEY: &str = "k\"e&y+1";

fn everything() -> Everything {
    let runtime = Runtime::new().unwrap();
    let (session, servers) = runtime.block_on(async {
        let answer = || {
            answering(|request| {
                let mut answer = ok(&json!({ "results": [] }));
                if request.method() == "HEAD" {
                    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
                    answer.truncate(end);
                }
                answer
            })
        };
        let mut network = Network::new();
        let servers = [
            network.serve("https://api.notes.example", answer()).await,
            network.serve("http://notes.local:8080", answer()).await,
        ];
        let mut options = network.options();
        options.limits.calls_per_minute = 1_000_000;
        (Session::open(options), servers)
    });
    let granted = json!({
        "origins": { "server": "http://notes.local:8080/base/path" },
        "settings": { "book": "wörk 1", "page": 7, "tone": "warm" },
        "localNetwork": true, "cleartextCredentials": true
    });
    let mut manifest = base();
    for tool in manifest["tools"].as_array_mut().unwrap() {
        tool.as_object_mut().unwrap().shift_remove("limits");
    }
    let contract = install(&session, &manifest, &granted).unwrap().contract.to_string();
    session.set_credential("notes", "token", secret(TOKEN)).unwrap();
    session.set_credential("notes", "key", secret(KEY)).unwrap();
    Everything { runtime, session, servers, contract }
}

impl Everything {
    fn count(&self) -> usize {
        let is_request = |entry: &Entry| matches!(entry.event, Event::Request(_));
        self.servers.iter().flat_map(|server| server.log().entries()).filter(is_request).count()
    }

    /// Plans and carries out a call and holds its preview against the wire; gives whether it could be built.
    fn hold(&self, tool: &str, arguments: &Value) -> Result<bool, TestCaseError> {
        let view = match self.session.plan(&call(tool, arguments), Some(&self.contract), None) {
            Ok(view) => view,
            Err(refusal) => {
                let mended =
                    matches!(refusal.code, Code::RequestValue | Code::RequestTooLarge | Code::CallInvalid);
                prop_assert!(mended, "{}", refusal);
                return Ok(false);
            }
        };
        let before = self.count();
        let answer = self.runtime.block_on(execute(&self.session, &view));
        prop_assert!(answer.is_ok_and(|answer| answer.status == 200));
        prop_assert_eq!(self.count(), before + 1);
        let wire = self.servers.iter().filter_map(|server| {
            let mut requests = server.log().requests();
            requests.pop().map(|request| String::from_utf8_lossy(&request.raw).into_owned())
        });
        let (head, body) = match tool {
            "notes.drop" => (STANDARD.encode(format!("api:{KEY}")), "k%22e%26y%2B1"),
            _ => (KEY.to_owned(), "\"k\\\"e&y+1\""),
        };
        let head = [("token", TOKEN), ("key", &*head)];
        let promise = promised_in(&view.preview, &head, &[("key", body)]);
        prop_assert!(wire.into_iter().any(|wire| wire == promise), "{}", promise);
        Ok(true)
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ -~]{0,12}",
        2 => "[a-z0-9./%\\\\;:@&=+$, -]{0,12}",
        1 => proptest::string::string_regex("(?s).{0,8}").unwrap(),
        1 => Just("x".repeat(9_000)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53) + 1..1 << 53).prop_map(Value::from),
        (-1e6..1e6).prop_map(|number: f64| json!(number)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("[a-zA-Z$_-]{1,6}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn optional(
    name: &'static str,
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    proptest::option::of(value).prop_map(move |value| value.into_iter().map(|value| (name, value)).collect())
}

fn calls() -> impl Strategy<Value = (&'static str, Value)> {
    let integer = || (-(1_i64 << 53) + 1..1 << 53).prop_map(Value::from);
    let texts = || proptest::collection::vec(text(), 1..4).prop_map(Value::from);
    let object = || {
        proptest::collection::vec(("[a-z$]{1,5}", value()), 0..4)
            .prop_map(|m| Value::Object(m.into_iter().collect()))
    };
    let gather = |parts: Vec<Vec<(&'static str, Value)>>| {
        Value::Object(parts.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    prop_oneof![
        (
            "[!-~]{1,10}",
            prop_oneof![Just(Value::Null), integer()],
            optional("labels", texts()),
            optional("whole", any::<bool>().prop_map(Value::from))
        )
            .prop_map(move |(words, limit, labels, whole)| {
                ("notes.find", gather(vec![vec![("words", words.into()), ("limit", limit)], labels, whole]))
            }),
        (
            text(),
            optional("text", prop_oneof![Just(Value::Null), text().prop_map(Value::from)]),
            optional("extra", object())
        )
            .prop_map(move |(title, text, extra)| (
                "notes.add",
                gather(vec![vec![("title", title.into())], text, extra])
            )),
        (integer(), optional("reason", text().prop_map(Value::from)))
            .prop_map(move |(id, reason)| ("notes.drop", gather(vec![vec![("id", id)], reason]))),
        optional("text", text().prop_map(Value::from))
            .prop_map(move |text| ("notes.say", gather(vec![text]))),
        Just(("notes.ping", json!({}))),
    ]
}

/// Random arguments for a manifest with a slot in every position, over real servers.
#[test]
fn the_wire_is_the_preview_for_any_arguments() {
    let everything = everything();
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let (sent, refused) = (Cell::new(0), Cell::new(0));
    runner
        .run(&calls(), |(tool, arguments)| {
            // An argument that reads like a placeholder cannot be told from one in the preview; it is no secret.
            let sent_it = everything.hold(tool, &arguments)?;
            let counter = if sent_it { &sent } else { &refused };
            counter.set(counter.get() + 1);
            Ok(())
        })
        .unwrap();
    println!("random calls: {} sent, {} refused", sent.get(), refused.get());
    assert_eq!(everything.count(), sent.get());
    assert!(sent.get() > refused.get());
}
