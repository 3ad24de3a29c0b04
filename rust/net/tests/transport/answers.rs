//! What comes back: caps, framing, codings.

use std::io::Write;
use std::time::Duration;

use connector_core::Code;
use connector_core::request::Method;
use connector_core::response::Received;
use connector_net::{BadCoding, Failure, Malformed, NetError};
use connector_testkit::{Server, Step};

use crate::support::{Call, PATIENCE, answer, answer_and_hold, ok, plain_client, timed};

async fn get(bytes: impl AsRef<[u8]>) -> Result<Received, NetError> {
    let server = Server::plain(answer(bytes)).await.unwrap();
    Call::at(&server, "/").alone().await
}

async fn fails(bytes: impl AsRef<[u8]>) -> Failure {
    get(bytes).await.err().expect("a refusal").failure
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn coded(coding: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn an_answer_as_it_came() {
    let received = get(
        "HTTP/1.1 418 Short and stout\r\nX-Two: a\r\nContent-Type: text/plain\r\nX-Two: b\r\nX-Bytes: caf\u{e9}\r\n\
         Content-Length: 5\r\n\r\nhello",
    )
    .await
    .unwrap();
    assert_eq!((received.status, received.body.as_slice()), (418, b"hello".as_slice()));
    assert_eq!((received.body_cut, received.wire_bytes), (false, 5));
    let header = |name: &str| -> Vec<Vec<u8>> {
        (received.headers.iter()).filter(|(found, _)| found == name).map(|(_, value)| value.clone()).collect()
    };
    assert_eq!(header("x-two"), [b"a", b"b"]);
    assert_eq!(header("x-bytes"), ["caf\u{e9}".as_bytes()]);
}

#[tokio::test]
async fn every_status_from_200_is_an_answer() {
    for status in [200, 201, 206, 300, 304, 399, 400, 401, 404, 429, 500, 503, 599, 600, 999] {
        let received = get(format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n")).await.unwrap();
        assert_eq!(received.status, status);
    }
}

#[tokio::test]
async fn an_answer_without_content_is_not_waited_for() {
    for (method, status, head) in [
        (Method::Head, 200, "Content-Length: 1000000000\r\nContent-Encoding: br\r\n"),
        (Method::Head, 200, "Transfer-Encoding: chunked\r\n"),
        (Method::Get, 204, "Content-Length: 5\r\n"),
        (Method::Get, 304, "Content-Length: 5\r\nContent-Encoding: gzip\r\n"),
    ] {
        let server =
            Server::plain(answer_and_hold(format!("HTTP/1.1 {status} X\r\n{head}\r\n"))).await.unwrap();
        let received = Call::at(&server, "/").method(method).alone().await.unwrap();
        assert_eq!((received.status, received.body.len(), received.wire_bytes), (status, 0, 0));
    }
}

#[tokio::test]
async fn a_body_where_none_may_be_is_not_taken_for_the_next_answer() {
    let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";
    for (method, head) in [
        (Method::Get, "HTTP/1.1 204 No Content\r\n\r\n".to_owned()),
        (Method::Head, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n".to_owned()),
        (Method::Get, ok("first")),
        (Method::Get, "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned()),
    ] {
        let first = vec![
            Step::ReadRequest,
            Step::send(format!("{head}{forged}")),
            Step::ReadRequest,
            Step::AwaitClose,
        ];
        let second = vec![Step::ReadRequest, Step::send(ok("real")), Step::AwaitClose];
        let server = Server::plain_each(vec![first, second]).await.unwrap();
        let client = plain_client();
        Call::at(&server, "/").method(method).send(&client).await.unwrap();
        assert_eq!(Call::at(&server, "/").send(&client).await.unwrap().body, b"real");
    }
}

#[tokio::test]
async fn the_cap_on_the_head() {
    let fits =
        |pad: usize| format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 2\r\n\r\nok", "a".repeat(pad));
    let head = fits(0).len() - 2;
    assert_eq!(get(fits((32 << 10) - head)).await.unwrap().body, b"ok");
    assert_eq!(fails(fits((32 << 10) - head + 1)).await, Failure::HeadersTooLarge);
    // Many small fields, one endless field, an endless status line.
    let many = "X: y\r\n".repeat(101);
    assert_eq!(fails(format!("HTTP/1.1 200 OK\r\n{many}\r\n")).await, Failure::HeadersTooLarge);
    for start in ["HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nX"] {
        let flood = vec![Step::ReadRequest, Step::send(start), Step::Repeat(vec![b'a'; 4_096], None)];
        let server = Server::plain(flood).await.unwrap();
        assert_eq!(Call::at(&server, "/").refused().await, Code::NetHeadersTooLarge, "{start:?}");
    }
    // A smaller cap holds as well, also on a connection of a client that had a larger one.
    let server = Server::answering(move |_| fits(500).into_bytes()).await.unwrap();
    let client = plain_client();
    assert!(Call::at(&server, "/").send(&client).await.is_ok());
    let small = Call::at(&server, "/").budget(|budget| budget.header_bytes = 200);
    assert_eq!(small.send(&client).await.err().unwrap().failure, Failure::HeadersTooLarge);
}

#[tokio::test]
async fn the_caps_on_the_body() {
    // (wire cap, decoded cap, body) -> how much comes back, or a refusal.
    for (wire, decoded, length, expected) in [
        (100, 400, 100, Some((100, false))),
        (100, 400, 101, None),
        (100, 100, 100, Some((100, false))),
        (100, 100, 101, Some((100, true))),
        (400, 100, 101, Some((100, true))),
        (400, 100, 500, Some((100, true))),
        (0, 0, 0, Some((0, false))),
        (0, 10, 1, None),
    ] {
        let body = "a".repeat(length);
        let chunked = format!("7\r\n{}\r\n", "a".repeat(7)).repeat(length / 7)
            + &format!("{:x}\r\n{}\r\n", length % 7, "a".repeat(length % 7))
                .repeat(usize::from(length % 7 > 0));
        for bytes in [
            ok(&body),
            format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}0\r\n\r\n"),
        ] {
            let server = Server::plain(answer(&bytes)).await.unwrap();
            let call = Call::at(&server, "/").budget(|budget| {
                budget.wire_bytes = wire;
                budget.decoded_bytes = decoded;
            });
            let outcome = call.alone().await;
            match (outcome, expected) {
                (Ok(received), Some((size, cut))) => {
                    assert_eq!(
                        (received.body.len(), received.body_cut),
                        (size, cut),
                        "{wire} {decoded} {length}"
                    );
                }
                (Err(error), None) => assert_eq!(error.code(), Code::NetTooLarge),
                (outcome, _) => panic!("{wire} {decoded} {length}: {:?}", outcome.map(|r| r.body.len())),
            }
        }
    }
}

#[tokio::test]
async fn a_body_without_end_stops_at_the_cap() {
    for head in ["", "Content-Length: 99999999999\r\n"] {
        let script = vec![
            Step::ReadRequest,
            Step::send(format!("HTTP/1.1 200 OK\r\n{head}\r\n")),
            Step::Repeat(vec![b'a'; 64 << 10], None),
        ];
        let server = Server::plain(script).await.unwrap();
        let (code, took) = timed(Call::at(&server, "/").refused()).await;
        assert_eq!(code, Code::NetTooLarge);
        assert!(took < PATIENCE / 2, "{took:?}");
    }
}

#[tokio::test]
async fn one_content_coding_is_undone() {
    let plain = b"{\"a\": [1, 2, 3]}".repeat(20);
    let received = get(coded("gzip", &gzip(&plain))).await.unwrap();
    assert_eq!(received.body, plain);
    assert_eq!(received.wire_bytes, gzip(&plain).len());
    assert!(received.wire_bytes < plain.len());
}

#[tokio::test]
async fn a_coding_that_was_not_asked_for_or_a_chain_is_refused() {
    let twice = gzip(&gzip(b"hello"));
    for coding in
        ["gzip, gzip", "gzip,gzip", "gzip\r\nContent-Encoding: gzip", "deflate, gzip", "identity, gzip"]
    {
        assert_eq!(fails(coded(coding, &twice)).await, Failure::Encoding(BadCoding::Stacked), "{coding}");
    }
    for coding in ["br", "zstd", "compress", "dcb", "aes128gcm", "gzip;q=1"] {
        assert_eq!(fails(coded(coding, b"hello")).await, Failure::Encoding(BadCoding::NotAsked), "{coding}");
    }
    for body in [b"hello".as_slice(), &gzip(b"hello")[..15], &[&gzip(b"hello")[..], b"x"].concat()] {
        assert_eq!(fails(coded("gzip", body)).await, Failure::Encoding(BadCoding::Damaged));
    }
    assert_eq!(get(coded("identity", b"hello")).await.unwrap().body, b"hello");
}

#[tokio::test]
async fn a_bomb_is_cut_at_the_decoded_cap() {
    let bomb = gzip(&vec![b'a'; 8 << 20]);
    assert!(bomb.len() < 16 << 10);
    let received = get(coded("gzip", &bomb)).await.unwrap();
    assert_eq!((received.body.len(), received.body_cut), (4 << 20, true));
}

#[tokio::test]
async fn framing_that_could_be_read_in_two_ways_is_refused() {
    let length = Failure::Protocol(Malformed::Length);
    let coding = Failure::Protocol(Malformed::TransferCoding);
    for (head, why) in [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", length),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", length),
        ("Content-Length: 5\r\nContent-Length: 05", length),
        ("Content-Length: 5, 05", length),
        ("Transfer-Encoding: gzip, chunked", coding),
        ("Transfer-Encoding: identity", coding),
        ("Transfer-Encoding: chunked, chunked", coding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", coding),
        ("Transfer-Encoding: xchunked", coding),
        ("Content-Length: 5, 6", Failure::Protocol(Malformed::Head)),
        ("Content-Length: +5", Failure::Protocol(Malformed::Head)),
        ("Content-Length: ", Failure::Protocol(Malformed::Head)),
    ] {
        let bytes = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        assert_eq!(fails(bytes).await, why, "{head}");
    }
}

#[tokio::test]
async fn what_ends_early_is_an_error_and_never_a_part() {
    for bytes in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        assert_eq!(fails(bytes).await, Failure::Protocol(Malformed::CutShort), "{bytes:?}");
    }
    for bytes in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
    ] {
        assert_eq!(fails(bytes).await, Failure::Protocol(Malformed::Body), "{bytes:?}");
    }
}

#[tokio::test]
async fn a_reset_is_an_error() {
    let server =
        Server::plain(vec![Step::ReadRequest, Step::send("HTTP/1.1 200 OK\r\n\r\nhalf"), Step::Reset])
            .await
            .unwrap();
    assert_eq!(Call::at(&server, "/").refused().await, Code::NetProtocol);
}

#[tokio::test]
async fn what_is_not_http_is_an_error() {
    for bytes in [
        "\0\0\0",
        "SSH-2.0-x\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "hello\r\n\r\n",
        "HTTP/1.1 99 X\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX : y\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
    ] {
        assert_eq!(fails(bytes).await, Failure::Protocol(Malformed::Head), "{bytes:?}");
    }
    let upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n";
    assert_eq!(fails(upgrade).await, Failure::Protocol(Malformed::Upgrade));
}

#[tokio::test]
async fn interim_answers_and_trailers_are_read_past() {
    let bytes = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\
                 Transfer-Encoding: chunked\r\n\r\n2;ext=\"x\"\r\nok\r\n0\r\nX-Trailer: t\r\n\r\n";
    let received = get(bytes).await.unwrap();
    assert_eq!(received.body, b"ok");
    assert!(!received.headers.iter().any(|(name, _)| name == "x-trailer" || name == "link"));
}

#[tokio::test]
async fn an_answer_before_the_request_was_sent() {
    // The server answers at once and reads nothing: an early refusal of a large upload.
    let early = "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig";
    let server = Server::plain(vec![Step::send(early), Step::AwaitClose]).await.unwrap();
    let outcome = Call::at(&server, "/").alone().await;
    // An answer to no question is no answer; when it is read after the request was sent it is one.
    match outcome {
        Ok(received) => assert_eq!(received.status, 413),
        Err(error) => assert_eq!(error.code(), Code::NetProtocol),
    }
}

#[tokio::test]
async fn a_connection_whose_request_was_not_read_is_not_used_again() {
    // The server refuses a large upload unread and keeps the connection open.
    let early = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig";
    let unread = vec![Step::Pause(Duration::from_millis(50)), Step::send(early), Step::Pause(PATIENCE)];
    let server = Server::plain_each(vec![unread, answer(ok("next"))]).await.unwrap();
    let client = plain_client();
    let upload = Call::at(&server, "/").method(Method::Put).body(vec![b'x'; 16 << 20]);
    assert_eq!(upload.send(&client).await.unwrap().status, 413);
    let (received, took) = timed(Call::at(&server, "/").send(&client)).await;
    assert_eq!(received.unwrap().body, b"next");
    assert!(took < PATIENCE / 4, "{took:?}");
}
