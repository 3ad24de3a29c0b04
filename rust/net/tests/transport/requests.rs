//! What goes on the wire: exactly the outgoing request and the fixed fields.

use std::time::Duration;

use connector_core::Code;
use connector_core::request::{Header, Method};
use connector_net::{Failure, Sent, Unsendable};
use connector_testkit::{Event, Server, Step};

use crate::support::{Call, PATIENCE, answer, ok, plain_client};

async fn raw(call: impl Fn(&Server) -> Call) -> String {
    let server = Server::plain(answer(ok(""))).await.unwrap();
    let call = call(&server);
    call.alone().await.unwrap();
    let host = server.address().to_string();
    String::from_utf8(server.log().received()).unwrap().replace(&host, "HOST")
}

#[tokio::test]
async fn a_get_is_its_fields_between_host_and_accept_encoding() {
    let sent = raw(|server| {
        Call::at(server, "/api/v1/notes?q=a%20b&k&e=")
            .header("X-Request-Kind", "one, two")
            .header("Accept", "application/json")
            .secret("Authorization", "Bearer s3cret")
    });
    assert_eq!(
        sent.await,
        "GET /api/v1/notes?q=a%20b&k&e= HTTP/1.1\r\nHost: HOST\r\nX-Request-Kind: one, two\r\n\
         Accept: application/json\r\nAuthorization: Bearer s3cret\r\nAccept-Encoding: gzip, deflate\r\n\r\n"
    );
}

#[tokio::test]
async fn a_post_has_its_length_and_its_bytes() {
    let sent = raw(|server| {
        Call::at(server, "/")
            .method(Method::Post)
            .header("Content-Type", "application/json")
            .body("{\"a\":1}")
    });
    assert_eq!(
        sent.await,
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n\
         Accept-Encoding: gzip, deflate\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
    );
}

#[tokio::test]
async fn every_method_with_and_without_a_body() {
    for (method, body, end) in [
        (Method::Get, None, "\r\n\r\n"),
        (Method::Head, None, "\r\n\r\n"),
        (Method::Delete, None, "\r\n\r\n"),
        (Method::Post, None, "\r\nContent-Length: 0\r\n\r\n"),
        (Method::Put, None, "\r\nContent-Length: 0\r\n\r\n"),
        (Method::Patch, None, "\r\nContent-Length: 0\r\n\r\n"),
        (Method::Delete, Some("ab"), "\r\nContent-Length: 2\r\n\r\nab"),
        (Method::Put, Some("ab"), "\r\nContent-Length: 2\r\n\r\nab"),
        (Method::Patch, Some(""), "\r\nContent-Length: 0\r\n\r\n"),
    ] {
        let sent = raw(|server| {
            let mut call = Call::at(server, "/x").method(method);
            call.body = body.map(|body| body.as_bytes().to_vec());
            call
        });
        let head = format!("{} /x HTTP/1.1\r\nHost: HOST\r\nAccept-Encoding: gzip, deflate", method.as_str());
        assert_eq!(sent.await, format!("{head}{end}"));
    }
}

#[tokio::test]
async fn a_large_body_arrives_whole() {
    let server = Server::plain(answer(ok("done"))).await.unwrap();
    let body: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 251) as u8).collect();
    let received = Call::at(&server, "/").method(Method::Post).body(&body).alone().await.unwrap();
    assert_eq!(received.body, b"done");
    assert_eq!(server.log().requests()[0].body(), body);
}

#[tokio::test]
async fn the_target_is_the_url_as_the_core_wrote_it() {
    for target in [
        "/",
        "/?",
        "/a?",
        "/a//b/",
        "/%E2%82%AC",
        "/a;b=c,d@e:f$g!h~i*j'k(l)",
        "/?a=%00%0D%0A",
        "/a|b?c=|d",
        "/?q=a[]=1",
        "/?a?b/c",
        "/caf%C3%A9?x=%F0%9F%98%80",
    ] {
        let sent = raw(|server| Call::at(server, target)).await;
        assert!(sent.starts_with(&format!("GET {target} HTTP/1.1\r\n")), "{target}: {sent}");
    }
    let sent = raw(|server| Call::at(server, "/a?b#fragment")).await;
    assert!(sent.starts_with("GET /a?b HTTP/1.1\r\n"), "a fragment stays here: {sent}");
}

#[tokio::test]
async fn what_cannot_be_a_request_is_not_sent() {
    let server = Server::plain(answer(ok(""))).await.unwrap();
    let at = || Call::at(&server, "/");
    let userinfo = Call::get(format!("http://user:pw@{}/", server.address()));
    for (call, why) in [
        (userinfo, Unsendable::Url),
        (Call::get(format!("http://user@{}/", server.address())), Unsendable::Url),
        (Call::get("ftp://127.0.0.1/"), Unsendable::Url),
        (Call::get("data:text/plain,a"), Unsendable::Url),
        (at().body("a"), Unsendable::Body),
        (at().method(Method::Head).body("a"), Unsendable::Body),
        (at().header("Host", "evil.example"), Unsendable::HeaderName),
        (at().header("content-length", "3"), Unsendable::HeaderName),
        (at().header("Accept-Encoding", "br"), Unsendable::HeaderName),
        (at().header("Transfer-Encoding", "chunked"), Unsendable::HeaderName),
        (at().header("Connection", "close"), Unsendable::HeaderName),
        (at().header("Upgrade", "h2c"), Unsendable::HeaderName),
        (at().header("Expect", "100-continue"), Unsendable::HeaderName),
        (at().header("X-A", "1").header("x-a", "2"), Unsendable::HeaderName),
        (at().header("X A", "1"), Unsendable::HeaderName),
        (at().header("X-A:", "1"), Unsendable::HeaderName),
        (at().header("", "1"), Unsendable::HeaderName),
        (at().header("X-A", "a\r\nX-B: b"), Unsendable::HeaderValue),
        (at().header("X-A", "a\0b"), Unsendable::HeaderValue),
        (at().header("X-A", "caf\u{e9}"), Unsendable::HeaderValue),
        (at().header("X-A", " a"), Unsendable::HeaderValue),
        (at().header("X-A", "a\t"), Unsendable::HeaderValue),
    ] {
        let error = call.alone().await.err().unwrap();
        assert_eq!(error.failure, Failure::Request(why), "{:?} {:?}", call.url, call.headers);
        assert_eq!((error.code(), error.sent), (Code::RequestValue, Sent::Not));
    }
    assert_eq!(server.log().connections(), 0);
}

#[tokio::test]
async fn cookies_are_not_kept() {
    let cookie = "HTTP/1.1 200 OK\r\nSet-Cookie: session=abc; Path=/\r\nContent-Length: 0\r\n\r\n";
    let script = vec![Step::ReadRequest, Step::send(cookie), Step::Restart];
    let server = Server::plain(script).await.unwrap();
    let client = plain_client();
    for _ in 0..3 {
        Call::at(&server, "/").send(&client).await.unwrap();
    }
    let sent = String::from_utf8(server.log().received()).unwrap().to_lowercase();
    assert_eq!(server.log().requests().len(), 3);
    assert!(!sent.contains("cookie") && !sent.contains("session"), "{sent}");
}

#[tokio::test]
async fn a_connection_is_used_again_by_the_same_client_and_by_no_other() {
    let server = Server::answering(|_| ok("x").into_bytes()).await.unwrap();
    let (first, second) = (plain_client(), plain_client());
    for _ in 0..3 {
        Call::at(&server, "/").send(&first).await.unwrap();
    }
    assert_eq!(server.log().connections(), 1);
    Call::at(&server, "/").send(&second).await.unwrap();
    assert_eq!(server.log().connections(), 2);
}

#[tokio::test]
async fn a_connection_is_not_shared_by_grants_of_another_reach() {
    let server = Server::answering(|_| ok("x").into_bytes()).await.unwrap();
    let client = plain_client();
    Call::at(&server, "/").send(&client).await.unwrap();
    let wider = connector_core::origin::Reach { local_network: true, ..crate::support::LOOPBACK };
    Call::at(&server, "/").reach(wider).send(&client).await.unwrap();
    assert_eq!(server.log().connections(), 2);
    assert_eq!(
        Call::at(&server, "/").reach(crate::support::PUBLIC).send(&client).await.err().unwrap().code(),
        Code::NetAddress
    );
}

#[tokio::test]
async fn a_kept_connection_that_the_server_closed_costs_nothing() {
    let script = vec![Step::ReadRequest, Step::send(ok("x"))];
    let server = Server::plain(script).await.unwrap();
    let client = plain_client();
    for method in [Method::Get, Method::Post, Method::Delete, Method::Get] {
        let received = Call::at(&server, "/").method(method).send(&client).await.unwrap();
        assert_eq!(received.body, b"x");
    }
    assert_eq!(server.log().requests().len(), 4);
}

/// Moves the clock of the runtime, on which the age of kept connections is read.
async fn later(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn what_may_not_be_repeated_does_not_go_to_a_connection_that_was_idle_for_long() {
    let server = Server::answering(|_| ok("x").into_bytes()).await.unwrap();
    let client = plain_client();
    let send = async |method| {
        let repeats = u32::from(method == Method::Get);
        let call = Call::at(&server, "/").method(method).budget(|budget| budget.retries = repeats);
        call.send(&client).await.unwrap();
        server.log().connections()
    };
    assert_eq!(send(Method::Get).await, 1);
    assert_eq!(send(Method::Post).await, 1, "the connection was used just now");
    later(3).await;
    assert_eq!(send(Method::Get).await, 1, "a read may find it closed, and loses nothing");
    later(3).await;
    assert_eq!(send(Method::Post).await, 2);
}

#[tokio::test]
async fn a_connection_is_not_kept_for_ever() {
    let server = Server::answering(|_| ok("x").into_bytes()).await.unwrap();
    let client = plain_client();
    Call::at(&server, "/").send(&client).await.unwrap();
    later(29).await;
    let closed = |limit| server.log().wait(limit, |entry| entry.event == Event::PeerClosed);
    assert!(closed(Duration::from_millis(50)).await.is_none());
    later(2).await;
    assert!(closed(PATIENCE).await.is_some());
}

#[tokio::test]
async fn calls_at_the_same_time_each_have_a_connection() {
    let server = Server::answering(|request| ok(&request.target()).into_bytes()).await.unwrap();
    let client = std::sync::Arc::new(plain_client());
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..64 {
        let (client, call) = (client.clone(), Call::at(&server, &format!("/{number}")));
        calls.spawn(async move { (number, call.send(&client).await.unwrap().body) });
    }
    while let Some(done) = calls.join_next().await {
        let (number, body) = done.unwrap();
        assert_eq!(body, format!("/{number}").into_bytes());
    }
}

/// The environment of a process cannot be changed safely from within, so the test runs itself again.
#[test]
fn proxies_of_the_environment_are_not_used() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["requests::child_behind_proxy_variables", "--exact", "--ignored", "--nocapture"])
        .envs(
            ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
                .map(|name| (name, "http://127.0.0.1:9")),
        )
        .env("NO_PROXY", "")
        .env("SSL_CERT_FILE", "/nowhere")
        .env("SSLKEYLOGFILE", "/nowhere/keys")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

#[tokio::test]
#[ignore = "run by `proxies_of_the_environment_are_not_used`"]
async fn child_behind_proxy_variables() {
    assert!(std::env::var_os("HTTP_PROXY").is_some());
    let server = Server::plain(answer(ok("direct"))).await.unwrap();
    assert_eq!(Call::at(&server, "/").alone().await.unwrap().body, b"direct");
    assert!(server.log().requests()[0].head().starts_with("GET / HTTP/1.1\r\n"));
    crate::tls::direct().await;
}

#[test]
fn nothing_printable_shows_a_secret() {
    let header = Header { name: "Authorization".to_owned(), value: "Bearer s3cret".to_owned(), secret: true };
    assert!(!format!("{header:?}").contains("s3cret"));
    let setup = crate::support::setup(crate::support::any_trust(), Vec::new(), &[]);
    assert!(!format!("{:?} {:?}", setup.options, setup.client()).is_empty());
}
