//! No value, no secret, in anything that may be logged: records, refusals, `Debug` output. Found by search, not by eye.

use connector_runtime::core::Refusal;
use connector_runtime::core::audit::verify;
use connector_runtime::core::call::ToolCall;
use connector_runtime::{Session, SessionOptions};
use connector_testkit::{Script, Step};
use serde_json::{Value, json};

use crate::support::{
    Network, PATIENCE, answering, call, confirmation, grant, http, install, least_and, ok, origin,
    read_grant, secret,
};

/// What must not be found: a secret, argument values, a setting, text of the server.
const SECRET: &str = "SEC-4f1d9a";
const ARGUMENT: &str = "ARG-77c02e";
const SETTING: &str = "SET-0b83dd";
const ANSWER: &str = "ANS-e91f55";
const KEY: &str = "UNDECLARED-5a5a";

/// What was said on the way, as whoever logs it would.
#[derive(Default)]
struct Log(Vec<String>);

impl Log {
    fn refusal(&mut self, refusal: &Refusal) {
        self.0.push(format!("{refusal} {refusal:?}"));
    }

    fn hold(&self, what: &str) {
        assert!(!self.0.is_empty(), "{what}: nothing was said");
        for line in &self.0 {
            for (kind, word) in [
                ("secret", SECRET),
                ("argument", ARGUMENT),
                ("setting", SETTING),
                ("answer", ANSWER),
                ("key", KEY),
            ] {
                let found =
                    [word.to_owned(), word.to_lowercase()].into_iter().any(|word| line.contains(&word));
                assert!(!found, "{what}: a {kind} in {line}");
            }
        }
    }
}

fn noisy() -> Value {
    let slot = json!({ "$credential": "token", "scheme": "Bearer" });
    let mut manifest = crate::support::with_token("notes", &slot);
    manifest["settings"] = json!({ "book": { "title": "Book" } });
    for tool in manifest["tools"].as_array_mut().unwrap() {
        tool["request"]["headers"]["X-Text"] = json!({ "$param": "text" });
        tool["request"]["path"] = json!(["v1", { "$setting": "book" }, { "$param": "text" }]);
        if tool["name"] != "drop" {
            tool["request"].as_object_mut().unwrap().shift_remove("body");
            tool["request"].as_object_mut().unwrap().shift_remove("query");
        }
        tool["response"] = json!({ "fields": { "id": "/id" }, "error": { "message": "/message" } });
    }
    manifest
}

fn granted(more: &Value) -> Value {
    let mut granted =
        least_and("notes", &json!({ "settings": { "book": SETTING }, "cleartextCredentials": true }));
    for (name, value) in more.as_object().unwrap() {
        granted[name] = value.clone();
    }
    granted
}

fn open(options: SessionOptions, log: &mut Log) -> Session {
    log.0.push(format!("{options:?}"));
    let session = Session::open(options);
    install(&session, &noisy(), &granted(&json!({}))).unwrap();
    session.set_credential("notes", "token", secret(SECRET)).unwrap();
    session
}

/// Plans and executes one call and writes down everything that has a `Debug` or a reason.
async fn say(session: &Session, name: &str, arguments: &str, log: &mut Log) {
    let contract = session.list().unwrap().contract.to_string();
    let call = ToolCall { name: name.to_owned(), arguments: arguments.to_owned() };
    log.0.push(format!("{call:?}"));
    match session.plan(&call, Some(&contract), None) {
        Err(refusal) => log.refusal(&refusal),
        Ok(view) => {
            log.0.push(format!("{view:?} {:?}", view.preview));
            if let Err(refusal) = session.execute(&view.plan, Some(ARGUMENT), None, None).await {
                log.refusal(&refusal);
            }
            let confirmation = confirmation(&view);
            let running = session.execute(&view.plan, confirmation.as_deref(), None, None);
            match tokio::time::timeout(PATIENCE, running).await.unwrap() {
                Ok(answer) => log.0.push(format!("{answer:?}")),
                Err(refusal) => log.refusal(&refusal),
            }
        }
    }
    records(session, log);
}

fn records(session: &Session, log: &mut Log) {
    let (records, head) = session.audit().unwrap();
    assert!(verify(&records, head));
    log.0.extend(records.iter().map(|record| format!("{record:?} {}", record.to_value().to_text())));
    log.0.push(format!("{:?}", session.list().unwrap()));
}

fn answer(status: u16, body: &'static str) -> Script {
    answering(move |_| http(status, "application/json", &[], body.as_bytes()))
}

#[tokio::test]
async fn no_ending_of_a_call_says_a_value() {
    let read = || Step::ReadRequest;
    let send = |text: &str| Step::send(text);
    let location = format!("HTTP/1.1 302 Found\r\nLocation: http://elsewhere.local/{ANSWER}\r\n\r\n");
    let endings: Vec<(&str, Script)> = vec![
        ("an answer", answering(|_| ok(&json!({ "id": ANSWER, "echo": SECRET })))),
        ("an error", answer(500, r#"{"message": "ANS-e91f55 for SEC-4f1d9a"}"#)),
        ("a refused credential", answer(401, r#"{"message": "ANS-e91f55"}"#)),
        ("an answer that cannot be read", answer(200, r#"{"id": "ANS-e91f55"#)),
        ("no answer", vec![read(), Step::Reset]),
        ("no HTTP", vec![read(), send("ANS-e91f55\r\n\r\n")]),
        ("a redirect", vec![read(), Step::send(location)]),
        (
            "a coding",
            vec![
                read(),
                send("HTTP/1.1 200 OK\r\nContent-Encoding: ANS-e91f55\r\nContent-Length: 1\r\n\r\nx"),
            ],
        ),
        (
            "two lengths",
            vec![
                read(),
                send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\nX: ANS-e91f55\r\n\r\nx"),
            ],
        ),
        ("a cut body", vec![read(), send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nANS-e91f55")]),
        (
            "a long head",
            vec![read(), Step::send(format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", ANSWER.repeat(5_000)))],
        ),
    ];
    let mut lines = 0;
    for (what, script) in endings {
        for tool in ["notes.find", "notes.add", "notes.drop"] {
            let mut log = Log::default();
            let mut network = Network::new();
            let _server = network.serve(&origin("notes"), script.clone()).await;
            let session = open(network.options(), &mut log);
            say(&session, tool, &json!({ "text": ARGUMENT }).to_string(), &mut log).await;
            log.hold(what);
            lines += log.0.len();
        }
    }
    println!("searched {lines} lines of endings");
}

#[tokio::test]
async fn no_refusal_of_a_call_says_a_value() {
    let mut log = Log::default();
    let mut network = Network::new();
    network.forbidden(&origin("notes"));
    let session = open(network.options(), &mut log);
    for (name, arguments) in [
        ("notes.find", format!(r#"{{"text": "{ARGUMENT}/.."}}"#)),
        ("notes.find", format!(r#"{{"text": "{ARGUMENT}\n"}}"#)),
        ("notes.find", format!(r#"{{"text": "{}"}}"#, ARGUMENT.repeat(1_000))),
        ("notes.find", format!(r#"{{"text": "x", "{KEY}": "{ARGUMENT}"}}"#)),
        ("notes.find", format!(r#"{{"text": ["{ARGUMENT}"]}}"#)),
        ("notes.find", format!(r#"{{"{KEY}": 1, "{KEY}": 2}}"#)),
        ("notes.find", format!(r#"{{"text": "{ARGUMENT}" "#)),
        ("notes.find", format!("\"{ARGUMENT}\"")),
        ("notes.find", format!(r#"{{"text": {}1}}"#, "9".repeat(400))),
        (KEY, "{}".to_owned()),
        ("notes.ARG-77c02e", "{}".to_owned()),
        ("notes.add", format!(r#"{{"text": "{ARGUMENT}"}}"#)),
    ] {
        say(&session, name, &arguments, &mut log).await;
    }
    let given = call("notes.find", &json!({ "text": ARGUMENT }));
    for contract in [None, Some(KEY)] {
        log.refusal(&session.plan(&given, contract, None).unwrap_err());
    }
    log.refusal(&session.execute(KEY, Some(KEY), Some(KEY), None).await.err().unwrap());
    records(&session, &mut log);
    log.hold("calls");
    println!("searched {} lines of refusals", log.0.len());
}

#[test]
fn no_refusal_of_a_person_s_words_says_them() {
    let mut log = Log::default();
    let session = open(Network::new().options(), &mut log);
    for text in [format!("{SECRET}\n"), SECRET.repeat(2_000), format!(" {SECRET}"), format!("{SECRET}é")] {
        log.refusal(&session.set_credential("notes", "token", secret(&text)).unwrap_err());
    }
    log.0.push(format!("{:?}", secret(SECRET)));
    for more in [
        json!({ "settings": { "book": format!("{SETTING}/x") } }),
        json!({ "settings": { "book": SETTING, "other": SETTING } }),
        json!({ "settings": { "book": "" } }),
        json!({ "settings": { "book": [SETTING] } }),
        json!({ "origins": { "server": format!("http://{SECRET}:x@notes.local") } }),
        json!({ "origins": { "server": format!("http://notes.local/?{SECRET}") } }),
        json!({ "only": [KEY] }),
    ] {
        let other = Network::new().session();
        log.refusal(&install(&other, &noisy(), &granted(&more)).unwrap_err());
        log.refusal(&session.set_grant("notes", grant(&granted(&more))).unwrap_err());
        records(&other, &mut log);
    }
    for shape in
        [json!({ "settings": SETTING }), json!({ "localNetwork": SETTING }), json!({ "confirm": [SETTING] })]
    {
        log.refusal(&read_grant(&shape).unwrap_err());
    }
    records(&session, &mut log);
    log.hold("grants and secrets");
}
