//! Cancellation closes the socket at once, and says what may have been sent.

use std::time::Duration;

use connector_core::Code;
use connector_core::request::Method;
use connector_net::hooks::Lookup;
use connector_net::{CancellationToken, Client, NetError, Sent};
use connector_testkit::{Event, Script, Server, Step};

use crate::support::{Call, PATIENCE, any_trust, ok, plain_client, setup, timed};

/// Cancels a call as soon as the server saw its request, and waits until the server sees the end.
async fn cancelled(call: impl Fn(&Server) -> Call, script: Script) -> NetError {
    let server = Server::plain(script).await.unwrap();
    let client = plain_client();
    let cancel = CancellationToken::new();
    let outgoing = call(&server).outgoing();
    let (outcome, ()) = tokio::join!(client.send(&outgoing, cancel.clone()), async {
        server.log().wait(PATIENCE, |entry| matches!(entry.event, Event::Request(_))).await.unwrap();
        // Time for the answer's part to arrive.
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    // The client is still alive: it was the cancellation that closed the socket.
    let closed = server.log().wait(PATIENCE, |entry| entry.event == Event::PeerClosed).await;
    assert!(closed.is_some(), "the server sees the end of the connection");
    drop(client);
    outcome.err().unwrap()
}

#[tokio::test]
async fn while_waiting_for_the_answer() {
    let error = cancelled(|server| Call::at(server, "/"), vec![Step::ReadRequest, Step::AwaitClose]).await;
    assert_eq!((error.code(), error.sent, error.status), (Code::NetCancelled, Sent::Maybe, None));
}

#[tokio::test]
async fn while_reading_the_answer() {
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    let script = vec![Step::ReadRequest, Step::send(half), Step::AwaitClose];
    let error = cancelled(|server| Call::at(server, "/"), script).await;
    assert_eq!((error.code(), error.sent, error.status), (Code::NetCancelled, Sent::Maybe, Some(200)));
}

#[tokio::test]
async fn a_cancelled_write_is_of_unknown_outcome() {
    let write = |server: &Server| Call::at(server, "/").method(Method::Post).body("{}");
    let error = cancelled(write, vec![Step::ReadRequest, Step::AwaitClose]).await;
    assert_eq!(error.refusal_of_write().code, Code::OutcomeUnknown);
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    let error = cancelled(write, vec![Step::ReadRequest, Step::send(half), Step::AwaitClose]).await;
    assert_eq!(error.refusal_of_write().code, Code::OutcomeUnknown);
}

#[tokio::test]
async fn while_sending_to_a_server_that_does_not_read() {
    // Half of the upload is stuck when the call is cancelled; what the server reads later is only that half.
    const BODY: usize = 32 << 20;
    let script = vec![Step::Pause(Duration::from_millis(300)), Step::AwaitClose];
    let server = Server::plain(script).await.unwrap();
    let client = plain_client();
    let cancel = CancellationToken::new();
    let outgoing = Call::at(&server, "/").method(Method::Put).body(vec![b'x'; BODY]).outgoing();
    let (outcome, ()) = tokio::join!(client.send(&outgoing, cancel.clone()), async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        cancel.cancel();
    });
    assert_eq!(outcome.err().unwrap().sent, Sent::Maybe);
    assert!(server.log().wait(PATIENCE, |entry| entry.event == Event::Done).await.is_some());
    let received = server.log().received().len();
    assert!(received > 0 && received < BODY, "{received}");
}

#[tokio::test]
async fn before_anything_was_sent() {
    let server = Server::plain(vec![Step::AwaitClose]).await.unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let write = Call::at(&server, "/").method(Method::Post).body("{}");
    let error = plain_client().send(&write.outgoing(), cancel).await.err().unwrap();
    assert_eq!((error.code(), error.sent), (Code::NetCancelled, Sent::Not));
    assert_eq!(error.refusal_of_write().code, Code::NetCancelled);
    assert_eq!(server.log().connections(), 0);
}

#[tokio::test]
async fn while_resolving() {
    let client = setup(any_trust(), vec![("api.example:443", vec![Lookup::Hang])], &[]).client();
    let cancel = CancellationToken::new();
    let outgoing = Call::get("https://api.example/").outgoing();
    let ((outcome, took), ()) = tokio::join!(timed(client.send(&outgoing, cancel.clone())), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let error = outcome.err().unwrap();
    assert_eq!((error.code(), error.sent), (Code::NetCancelled, Sent::Not));
    assert!(took < PATIENCE / 4, "{took:?}");
}

#[tokio::test]
async fn a_dropped_call_closes_its_socket_too() {
    let server = Server::plain(vec![Step::ReadRequest, Step::AwaitClose]).await.unwrap();
    let client = plain_client();
    let outgoing = Call::at(&server, "/").outgoing();
    let call = client.send(&outgoing, CancellationToken::new());
    tokio::select! {
        _ = call => panic!("the server never answers"),
        _ = server.log().wait(PATIENCE, |entry| matches!(entry.event, Event::Request(_))) => {}
    }
    assert!(server.log().wait(PATIENCE, |entry| entry.event == Event::PeerClosed).await.is_some());
}

#[tokio::test]
async fn a_dropped_client_closes_its_kept_connections() {
    let server = Server::plain(vec![Step::ReadRequest, Step::send(ok("x")), Step::AwaitClose]).await.unwrap();
    let client = plain_client();
    Call::at(&server, "/").send(&client).await.unwrap();
    assert!(
        server
            .log()
            .wait(Duration::from_millis(50), |entry| entry.event == Event::PeerClosed)
            .await
            .is_none()
    );
    drop(client);
    assert!(server.log().wait(PATIENCE, |entry| entry.event == Event::PeerClosed).await.is_some());
}

#[test]
fn a_call_may_move_between_threads() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Client>();
    let (client, outgoing) = (plain_client(), Call::get("http://127.0.0.1:1/").outgoing());
    drop(is_send(client.send(&outgoing, CancellationToken::new())));
}
