//! One deadline over everything.

use std::time::Duration;

use connector_core::Code;
use connector_net::hooks::Lookup;
use connector_net::{ConnectFailure, Failure, NetError, Sent, Stage};
use connector_testkit::{Script, Server, Step};

use crate::support::{Call, PATIENCE, any_trust, setup, timed};

const LIMIT: u64 = 200;

/// Runs a call with a short deadline and holds how long it took against it.
async fn over(call: Call, client: &connector_net::Client) -> NetError {
    let (outcome, took) = timed(call.total(LIMIT).send(client)).await;
    assert!(took >= Duration::from_millis(LIMIT), "{took:?}");
    // Generous for a loaded machine; a hang is what is looked for.
    assert!(took < Duration::from_millis(LIMIT) + PATIENCE / 4, "{took:?}");
    let error = outcome.err().unwrap();
    assert_eq!(error.code(), Code::NetTimeout);
    error
}

async fn over_script(script: Script) -> NetError {
    let server = Server::plain(script).await.unwrap();
    over(Call::at(&server, "/"), &crate::support::plain_client()).await
}

#[tokio::test]
async fn a_lookup_that_hangs() {
    let client = setup(any_trust(), vec![("api.example:443", vec![Lookup::Hang])], &[]).client();
    let error = over(Call::get("https://api.example/"), &client).await;
    assert_eq!((error.failure, error.sent), (Failure::Timeout(Stage::Resolve), Sent::Not));
}

#[tokio::test]
async fn a_server_that_accepts_and_says_nothing() {
    let error = over_script(vec![Step::AwaitClose]).await;
    assert_eq!((error.failure, error.sent), (Failure::Timeout(Stage::Wait), Sent::Maybe));
}

#[tokio::test]
async fn a_tls_handshake_that_hangs() {
    let server = Server::plain(vec![Step::AwaitClose]).await.unwrap();
    let call = || Call::get(format!("https://{}/", server.address()));
    let error = over(call(), &crate::support::plain_client()).await;
    assert_eq!((error.failure, error.sent), (Failure::Timeout(Stage::Connect), Sent::Not));
    // The time for one connection is a part of the whole.
    let short = call().budget(|budget| budget.connect = Duration::from_millis(100));
    let error = short.alone().await.err().unwrap();
    assert_eq!((error.failure, error.sent), (Failure::Connect(ConnectFailure::TimedOut), Sent::Not));
    assert_eq!(error.code(), Code::NetConnect);
}

#[tokio::test]
async fn an_address_that_does_not_answer() {
    // A listener whose backlog is full: further connections get no answer at all.
    let listener = tokio::net::TcpSocket::new_v4().unwrap();
    listener.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listener.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut fill = Vec::new();
    for _ in 0..4 {
        let connect = tokio::net::TcpStream::connect(address);
        fill.push(tokio::time::timeout(Duration::from_millis(50), connect).await);
    }
    let error = over(Call::get(format!("http://{address}/")), &crate::support::plain_client()).await;
    assert_eq!((error.failure, error.sent), (Failure::Timeout(Stage::Connect), Sent::Not));
}

#[tokio::test]
async fn a_head_that_drips() {
    let drip = Step::Drip(b"HTTP/1.1 200 OK\r\nX: ".repeat(50), Duration::from_millis(20));
    let error = over_script(vec![Step::ReadRequest, drip]).await;
    assert_eq!((error.failure, error.sent), (Failure::Timeout(Stage::Wait), Sent::Maybe));
}

#[tokio::test]
async fn a_body_that_drips() {
    let head = Step::send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    let drip = Step::Drip(b"x".repeat(1_000), Duration::from_millis(20));
    let error = over_script(vec![Step::ReadRequest, head, drip]).await;
    assert_eq!((error.failure, error.status), (Failure::Timeout(Stage::Read), Some(200)));
}

#[tokio::test]
async fn framing_without_end_stops_before_the_deadline() {
    let interim = (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".as_slice(), Failure::HeadersTooLarge);
    let digits = (b"00000000".as_slice(), Failure::BodyTooLarge);
    for ((part, failure), head) in
        [(interim, ""), (digits, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")]
    {
        let server =
            Server::plain(vec![Step::ReadRequest, Step::send(head), Step::Repeat(part.repeat(1_000), None)])
                .await
                .unwrap();
        let (outcome, took) = crate::support::timed(Call::at(&server, "/").alone()).await;
        let error = outcome.err().unwrap();
        assert_eq!((error.failure, error.sent), (failure, Sent::Maybe));
        assert!(took < PATIENCE / 2, "{took:?}");
    }
}

#[tokio::test]
async fn empty_chunk_extensions_without_end_are_not_waited_for() {
    // One byte of body in a chunk, again and again: under the caps for long, so the deadline ends it.
    let head = Step::send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    let drip = Step::Drip(b"1\r\nx\r\n".repeat(300), Duration::from_millis(5));
    let error = over_script(vec![Step::ReadRequest, head, drip]).await;
    assert_eq!(error.failure, Failure::Timeout(Stage::Read));
}

#[tokio::test]
async fn a_server_that_reads_nothing_of_a_large_request() {
    // More than the buffers of both sockets hold.
    let server = Server::plain(vec![Step::Pause(PATIENCE)]).await.unwrap();
    let call =
        Call::at(&server, "/").method(connector_core::request::Method::Post).body(vec![b'x'; 16 << 20]);
    let error = over(call, &crate::support::plain_client()).await;
    assert_eq!((error.failure, error.sent), (Failure::Timeout(Stage::Wait), Sent::Maybe));
}

#[tokio::test]
async fn the_deadline_spans_the_pauses_between_tries() {
    let script =
        vec![Step::ReadRequest, Step::send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), Step::Restart];
    let server = Server::plain(script).await.unwrap();
    let (outcome, took) =
        timed(Call::at(&server, "/").total(600).budget(|b| b.retries = 1_000).alone()).await;
    // When no pause fits any more, the last answer is handed over.
    assert_eq!(outcome.unwrap().status, 503);
    assert!(took < Duration::from_millis(600) + PATIENCE / 4, "{took:?}");
}

#[tokio::test]
async fn no_time_at_all() {
    let server = Server::plain(vec![Step::AwaitClose]).await.unwrap();
    let error = Call::at(&server, "/").total(0).alone().await.err().unwrap();
    assert_eq!((error.code(), error.sent), (Code::NetTimeout, Sent::Not));
    assert_eq!(server.log().received(), b"");
}
