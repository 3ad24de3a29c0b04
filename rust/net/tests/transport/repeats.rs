//! Repeats: only of what may be repeated, only for the failures that are named, only within the deadline.

use std::time::Duration;

use connector_core::Code;
use connector_core::request::Method;
use connector_net::hooks::Lookup;
use connector_net::{ConnectFailure, Failure, Sent};
use connector_testkit::{Server, Step};

use crate::support::{Call, LOCAL, PATIENCE, answer, any_trust, found, ok, plain_client, setup, timed};

fn status(status: u16, fields: &str) -> String {
    format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: 4\r\n\r\nbusy")
}

fn retries(call: Call, retries: u32) -> Call {
    call.budget(|budget| budget.retries = retries)
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    for busy in [429, 502, 503, 504] {
        let scripts = vec![answer(status(busy, "")), answer(status(busy, "")), answer(ok("now"))];
        let server = Server::plain_each(scripts).await.unwrap();
        let received = retries(Call::at(&server, "/"), 2).alone().await.unwrap();
        assert_eq!(received.body, b"now");
        let requests = server.log().requests();
        assert_eq!(requests.len(), 3);
        assert!(requests.iter().all(|request| request.raw == requests[0].raw), "each try is the same");
    }
}

#[tokio::test]
async fn never_more_often_than_allowed_and_then_the_answer_is_given() {
    for allowed in [0, 1, 3] {
        let server = Server::plain(answer(status(503, "Retry-After: 0\r\n"))).await.unwrap();
        let received = retries(Call::at(&server, "/"), allowed).alone().await.unwrap();
        assert_eq!((received.status, received.body.as_slice()), (503, b"busy".as_slice()));
        assert_eq!(server.log().requests().len(), 1 + allowed as usize);
    }
}

#[tokio::test]
async fn other_answers_and_broken_ones_are_not_repeated() {
    for answer_bytes in [
        status(500, ""),
        status(408, ""),
        status(501, ""),
        status(400, ""),
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf".to_owned(),
        String::new(),
    ] {
        let server = Server::plain(answer(&answer_bytes)).await.unwrap();
        let _ = retries(Call::at(&server, "/"), 3).alone().await;
        assert_eq!(server.log().requests().len(), 1, "{answer_bytes:?}");
    }
}

#[tokio::test]
async fn retry_after_is_honoured_where_it_fits() {
    let scripts = vec![answer(status(429, "Retry-After: 1\r\n")), answer(ok("now"))];
    let server = Server::plain_each(scripts).await.unwrap();
    let (outcome, took) = timed(retries(Call::at(&server, "/"), 1).alone()).await;
    assert_eq!(outcome.unwrap().body, b"now");
    assert!(took >= Duration::from_secs(1), "{took:?}");
}

#[tokio::test]
async fn a_retry_after_that_does_not_fit_is_handed_over() {
    for value in ["3600", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        let server = Server::plain(answer(status(503, &format!("Retry-After: {value}\r\n")))).await.unwrap();
        let (outcome, took) = timed(retries(Call::at(&server, "/"), 3).alone()).await;
        let received = outcome.unwrap();
        assert_eq!(received.status, 503);
        assert!(received.headers.contains(&("retry-after".to_owned(), value.as_bytes().to_vec())));
        assert!(took < PATIENCE / 4, "{took:?}");
        assert_eq!(server.log().requests().len(), 1);
    }
}

#[tokio::test]
async fn a_failed_connection_is_tried_again_and_its_address_judged_again() {
    let server = Server::answering(|_| ok("up").into_bytes()).await.unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let map = [("10.0.0.1:80", closed), ("10.0.0.2:80", server.address())];
    let names = vec![("box.local:80", vec![found(&["10.0.0.1"]), found(&["10.0.0.2"])])];
    let up = setup(any_trust(), names, &map);
    let received = retries(Call::get("http://box.local/").reach(LOCAL), 1).send(&up.client()).await.unwrap();
    assert_eq!(received.body, b"up");
    assert_eq!(up.resolver.asked().len(), 2);

    // The name turns to an address that is not allowed between the tries.
    let names = vec![("box.local:80", vec![found(&["10.0.0.1"]), found(&["127.0.0.1"])])];
    let turned = setup(any_trust(), names, &[("10.0.0.1:80", closed), ("127.0.0.1:80", server.address())]);
    let error =
        retries(Call::get("http://box.local/").reach(LOCAL), 3).send(&turned.client()).await.err().unwrap();
    assert_eq!((error.code(), error.sent), (Code::NetAddress, Sent::Not));
    assert_eq!(server.log().connections(), 1);
}

#[tokio::test]
async fn names_and_addresses_are_not_tried_again() {
    for answer in [Lookup::NotFound, found(&["127.0.0.1"])] {
        let setup = setup(any_trust(), vec![("api.example:443", vec![answer])], &[]);
        let call = retries(Call::get("https://api.example/").reach(LOCAL), 3);
        assert!(call.send(&setup.client()).await.is_err());
        assert_eq!(setup.resolver.asked().len(), 1);
    }
}

/// A server that answers once on the first connection, and closes it unanswered when the next request comes.
async fn closes_under_a_request() -> Server {
    let first = vec![Step::ReadRequest, Step::send(ok("x")), Step::ReadRequest];
    Server::plain_each(vec![first, answer(ok("y"))]).await.unwrap()
}

#[tokio::test]
async fn a_kept_connection_that_dies_under_a_read_is_replaced() {
    let server = closes_under_a_request().await;
    let client = plain_client();
    Call::at(&server, "/").send(&client).await.unwrap();
    let received = retries(Call::at(&server, "/"), 1).send(&client).await.unwrap();
    assert_eq!(received.body, b"y");
}

#[tokio::test]
async fn a_kept_connection_that_dies_under_a_write_is_of_unknown_outcome() {
    let server = closes_under_a_request().await;
    let client = plain_client();
    Call::at(&server, "/").send(&client).await.unwrap();
    let error = Call::at(&server, "/").method(Method::Post).body("{}").send(&client).await.err().unwrap();
    assert_eq!((error.failure, error.sent), (Failure::Connect(ConnectFailure::Stale), Sent::Maybe));
    assert_eq!(error.refusal_of_write().code, Code::OutcomeUnknown);
    assert_eq!(server.log().requests().len(), 2, "it was not sent again");
}

#[tokio::test]
async fn a_write_that_failed_before_its_first_byte_did_not_happen() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let call = Call::new(Method::Post, format!("http://{closed}/")).body("{}");
    let error = call.alone().await.err().unwrap();
    assert_eq!((error.sent, error.refusal_of_write().code), (Sent::Not, Code::NetConnect));
}

#[tokio::test]
async fn what_an_earlier_try_sent_is_not_forgotten() {
    // The first try is answered 503, the second finds no server.
    let server = Server::plain(answer(status(503, ""))).await.unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let names = vec![("box.local:80", vec![found(&["10.0.0.1"]), found(&["10.0.0.2"])])];
    let map = [("10.0.0.1:80", server.address()), ("10.0.0.2:80", closed)];
    let setup = setup(any_trust(), names, &map);
    let call = retries(Call::new(Method::Post, "http://box.local/").body("{}").reach(LOCAL), 1);
    let error = call.send(&setup.client()).await.err().unwrap();
    assert_eq!((error.code(), error.sent), (Code::NetConnect, Sent::Maybe));
    assert_eq!(error.refusal_of_write().code, Code::OutcomeUnknown);
}
