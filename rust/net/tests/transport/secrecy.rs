//! No error and no printed form holds a secret, an argument or a URL.

use connector_core::request::{Method, Redirects};
use connector_net::NetError;
use connector_net::hooks::Lookup;
use connector_testkit::{Authority, Identity, Script, Server, Step};

use crate::support::{Call, any_trust, found, plain_client, setup};

const MARKS: [&str; 7] = ["s3cret", "argument", "path-value", "/api", "query", "home.example", "127.0.0.1"];

fn check(error: NetError) {
    let refusals = [error.refusal(), error.refusal_of_write()];
    let text =
        format!("{error} {error:?} {:?} {} {refusals:?} {}", error.failure, error.failure, refusals[0]);
    for mark in MARKS {
        assert!(!text.contains(mark), "{mark} in {text}");
    }
    for refusal in refusals {
        assert!(refusal.reason.ends_with('.') && refusal.reason.len() > 20, "{}", refusal.reason);
    }
}

fn marked(call: Call) -> Call {
    call.method(Method::Post).secret("Authorization", "Bearer s3cret").body("{\"text\": \"argument\"}")
}

fn url(origin: &str) -> String {
    format!("{origin}/api/path-value?query=argument")
}

async fn answered(script: Script) {
    let server = Server::plain(script).await.unwrap();
    let call = marked(Call::get(url(&format!("http://{}", server.address())))).total(300);
    check(call.alone().await.err().unwrap());
    let mut call =
        Call::get(url(&format!("http://{}", server.address()))).secret("Authorization", "s3cret").total(300);
    call.budget.redirects = Redirects::SameOrigin;
    if let Err(error) = call.alone().await {
        check(error);
    }
}

#[tokio::test]
async fn failures_of_the_answer() {
    let echo = "s3cret argument path-value";
    for bytes in [
        format!("{echo}\r\n\r\n"),
        format!("HTTP/1.1 200 {echo}\r\nContent-Length: {echo}\r\n\r\n"),
        format!("HTTP/1.1 302 {echo}\r\nLocation: http://s3cret.example/{echo}\r\n\r\n"),
        format!("HTTP/1.1 302 {echo}\r\nLocation: /api/argument/s3cret\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {echo}\r\nContent-Length: 3\r\n\r\nabc"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {echo}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{echo}"),
        "HTTP/1.1 101 s3cret\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", echo.repeat(5_000)),
        String::new(),
    ] {
        answered(vec![Step::ReadRequest, Step::send(bytes)]).await;
    }
    answered(vec![Step::AwaitClose]).await;
    answered(vec![Step::Reset]).await;
}

#[tokio::test]
async fn failures_before_the_answer() {
    let names = |lookup| vec![("home.example:443", vec![lookup])];
    for lookup in [Lookup::NotFound, Lookup::Hang, found(&["10.0.0.1"]), found(&["169.254.169.254"])] {
        let client = setup(any_trust(), names(lookup), &[]).client();
        check(marked(Call::get(url("https://home.example"))).total(100).send(&client).await.err().unwrap());
    }
    for identity in [
        Identity::self_signed(&["home.example"]),
        Authority::new().unwrap().issue(&["s3cret.example"]),
        Authority::new().unwrap().issue_expired(&["home.example"]),
    ] {
        let server = Server::tls(&identity.unwrap(), vec![Step::AwaitClose]).await.unwrap();
        let map = [("93.184.216.34:443", server.address())];
        let client = setup(any_trust(), names(found(&["93.184.216.34"])), &map).client();
        check(marked(Call::get(url("https://home.example"))).send(&client).await.err().unwrap());
    }
    for call in [
        marked(Call::get("http://s3cret:argument@127.0.0.1/")),
        marked(Call::get("http://127.0.0.1/")).header("X-s3cret", "argument\u{e9}"),
        marked(Call::get("http://127.0.0.1/")).header("Host", "s3cret"),
    ] {
        check(call.send(&plain_client()).await.err().unwrap());
    }
}
