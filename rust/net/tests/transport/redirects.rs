//! Redirects: refused unread, or followed to the same origin only.

use connector_core::Code;
use connector_core::request::{Method, Redirects};
use connector_net::{BadRedirect, Failure};
use connector_testkit::{Server, Step};

use crate::support::{Call, answer_and_hold, ok, plain_client};

fn redirect(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} X\r\nLocation: {location}\r\nContent-Length: 7\r\n\r\nignored")
}

fn following(call: Call) -> Call {
    call.budget(|budget| budget.redirects = Redirects::SameOrigin)
}

#[tokio::test]
async fn a_redirect_is_refused_with_its_body_unread() {
    for status in [300, 301, 302, 303, 305, 307, 308, 399] {
        // The rest of the body never comes; it is not waited for.
        let head = format!("HTTP/1.1 {status} X\r\nLocation: /next\r\nContent-Length: 1000\r\n\r\n");
        let server = Server::plain(answer_and_hold(head)).await.unwrap();
        let error = Call::at(&server, "/").alone().await.err().unwrap();
        assert_eq!(error.failure, Failure::Redirect(BadRedirect::NotAllowed), "{status}");
        assert_eq!((error.code(), error.status), (Code::NetRedirect, Some(status)));
        assert_eq!(server.log().requests().len(), 1);
    }
}

#[tokio::test]
async fn a_3xx_that_leads_nowhere_is_an_answer() {
    for head in ["HTTP/1.1 302 X\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 304 X\r\nLocation: /a\r\n\r\n"] {
        let server = Server::plain(answer_and_hold(head)).await.unwrap();
        assert!(following(Call::at(&server, "/")).alone().await.is_ok());
    }
}

#[tokio::test]
async fn within_the_origin_it_is_followed_with_the_same_method_and_fields() {
    for method in [Method::Get, Method::Head] {
        for status in [301, 302, 303, 307, 308] {
            let server = Server::answering(move |request| {
                let answer = if request.target() == "/start?q=1" {
                    redirect(status, "/next?page=2")
                } else {
                    ok("there")
                };
                answer.into_bytes()
            })
            .await
            .unwrap();
            let call = following(Call::at(&server, "/start?q=1"))
                .method(method)
                .secret("Authorization", "Bearer s3cret");
            let received = call.alone().await.unwrap();
            assert_eq!(received.status, 200);
            let requests = server.log().requests();
            assert_eq!(requests.len(), 2);
            assert_eq!(
                (requests[1].method().as_str(), requests[1].target().as_str()),
                (method.as_str(), "/next?page=2")
            );
            assert_eq!(requests[0].headers(), requests[1].headers());
        }
    }
}

#[tokio::test]
async fn a_write_is_never_redirected() {
    for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
        let server = Server::answering(|_| redirect(307, "/next").into_bytes()).await.unwrap();
        let error = following(Call::at(&server, "/")).method(method).alone().await.err().unwrap();
        assert_eq!(error.failure, Failure::Redirect(BadRedirect::NotAllowed));
        assert_eq!(error.refusal_of_write().code, Code::NetRedirect, "it was answered");
        assert_eq!(server.log().requests().len(), 1);
    }
}

#[tokio::test]
async fn nothing_is_sent_to_another_origin() {
    let trap = Server::answering(|_| ok("trap").into_bytes()).await.unwrap();
    let port = trap.address().port();
    for location in [
        format!("http://127.0.0.1:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("http://user:pw@127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ] {
        let target = location.clone();
        let server = Server::answering(move |_| redirect(302, &target).into_bytes()).await.unwrap();
        let error = following(Call::at(&server, "/")).alone().await.err().unwrap();
        assert_eq!(error.failure, Failure::Redirect(BadRedirect::OtherOrigin), "{location}");
    }
    for location in ["", "\\\\evil.example", "/a b", "http://[", "/a\r\nLocation: /b"] {
        let server = Server::answering(move |_| redirect(302, location).into_bytes()).await.unwrap();
        let error = following(Call::at(&server, "/")).alone().await.err().unwrap();
        assert_eq!(error.failure, Failure::Redirect(BadRedirect::Malformed), "{location:?}");
    }
    assert_eq!(trap.log().connections(), 0);
    // The own address with userinfo is another origin too.
    let server = Server::answering(|request| {
        let host = request.header("host").unwrap_or_default();
        redirect(302, &format!("http://user@{host}/")).into_bytes()
    })
    .await
    .unwrap();
    let error = following(Call::at(&server, "/")).alone().await.err().unwrap();
    assert_eq!(error.failure, Failure::Redirect(BadRedirect::OtherOrigin));
}

#[tokio::test]
async fn three_hops_and_no_more() {
    for (hops, reaches) in [(3, true), (4, false)] {
        let server = Server::answering(move |request| {
            let number: u32 = request.target().trim_start_matches('/').parse().unwrap();
            if number < hops {
                redirect(302, &format!("/{}", number + 1)).into_bytes()
            } else {
                ok("there").into_bytes()
            }
        })
        .await
        .unwrap();
        match following(Call::at(&server, "/0")).alone().await {
            Ok(received) => assert!(reaches && received.body == b"there"),
            Err(error) => assert!(!reaches && error.failure == Failure::Redirect(BadRedirect::TooMany)),
        }
    }
    let circle = Server::answering(|request| redirect(302, &request.target()).into_bytes()).await.unwrap();
    let error = following(Call::at(&circle, "/x")).alone().await.err().unwrap();
    assert_eq!(error.failure, Failure::Redirect(BadRedirect::TooMany));
    assert_eq!(circle.log().requests().len(), 4);
}

#[tokio::test]
async fn the_literal_prefix_is_kept() {
    for (location, kept) in [
        ("/api/v1/notes/8", true),
        ("8", true),
        ("/api/v1/admin", false),
        ("/api/v1/notes/../admin", false),
        ("/api/v1/notes/%2e%2e/admin", false),
        ("/api/v1/notes/..%2fadmin", false),
        ("../admin", false),
        ("/", false),
    ] {
        let server = Server::answering(move |request| {
            if request.target().ends_with("/7") {
                redirect(301, location).into_bytes()
            } else {
                ok("there").into_bytes()
            }
        })
        .await
        .unwrap();
        let mut call = following(Call::at(&server, "/api/v1/notes/7"));
        call.prefix = "/api/v1/notes/".to_owned();
        match call.alone().await {
            Ok(received) => assert!(kept && received.body == b"there", "{location}"),
            Err(error) => {
                assert_eq!(error.failure, Failure::Redirect(BadRedirect::OutsidePrefix), "{location}");
                assert!(!kept, "{location}");
            }
        }
    }
}

#[tokio::test]
async fn the_body_of_a_hop_is_thrown_away_undecoded() {
    // A bomb, a wrong coding and an endless body on the hop do no harm.
    let head = "HTTP/1.1 302 X\r\nLocation: /next\r\nContent-Encoding: br, gzip\r\n\r\n";
    let hop = vec![Step::ReadRequest, Step::send(head), Step::Repeat(vec![b'a'; 64 << 10], None)];
    let next = vec![Step::ReadRequest, Step::send(ok("there"))];
    let server = Server::plain_each(vec![hop, next]).await.unwrap();
    let received = following(Call::at(&server, "/")).send(&plain_client()).await.unwrap();
    assert_eq!(received.body, b"there");
}
