//! TLS: who is trusted, and what of a certificate is checked.

use connector_core::Code;
use connector_net::{Failure, Sent, TlsFailure, Trust};
use connector_testkit::{Authority, Event, Identity, Server, Step};

use crate::support::{Call, LOOPBACK, PATIENCE, answer, found, ok, setup};

const NAME: &str = "home.example";

async fn call(identity: &Identity, trust: Trust) -> (Server, Result<Vec<u8>, connector_net::NetError>) {
    let server = Server::tls(identity, answer(ok("secure"))).await.unwrap();
    let port = server.address().port();
    let name = format!("{NAME}:{port}");
    let client = setup(trust, vec![(&name, vec![found(&["127.0.0.1"])])], &[]).client();
    let outcome = Call::get(format!("https://{NAME}:{port}/"))
        .secret("Authorization", "Bearer s3cret")
        .send(&client)
        .await;
    (server, outcome.map(|received| received.body))
}

fn trust(authority: &Authority) -> Trust {
    Trust::pem(&authority.pem()).unwrap()
}

/// A call over TLS that goes through; also run in a process whose environment names proxies.
pub(crate) async fn direct() {
    let authority = Authority::new().unwrap();
    let (server, outcome) = call(&authority.issue(&[NAME]).unwrap(), trust(&authority)).await;
    assert_eq!(outcome.unwrap(), b"secure");
    let secured = Event::Secured { name: Some(NAME.to_owned()), resumed: false };
    assert!(server.log().wait(PATIENCE, |entry| entry.event == secured).await.is_some());
}

#[tokio::test]
async fn a_certificate_of_a_trusted_authority_is_taken() {
    direct().await;
}

#[tokio::test]
async fn roots_may_be_given_as_der_and_unreadable_ones_are_left_out() {
    let authority = Authority::new().unwrap();
    let trust = Trust::roots([b"no certificate".to_vec(), authority.der()]).unwrap();
    assert_eq!(call(&authority.issue(&[NAME]).unwrap(), trust).await.1.unwrap(), b"secure");
    assert_eq!(Trust::roots([b"no certificate"]).err().unwrap().code, Code::NetTls);
    assert_eq!(Trust::roots(Vec::<Vec<u8>>::new()).err().unwrap().code, Code::NetTls);
}

#[tokio::test]
async fn every_wrong_certificate_is_refused_before_a_byte_of_the_request() {
    let known = Authority::new().unwrap();
    let (unknown, namesake) = (Authority::named("Unknown").unwrap(), Authority::new().unwrap());
    for (identity, why) in [
        (known.issue(&["other.example"]), TlsFailure::WrongName),
        (known.issue(&["example"]), TlsFailure::WrongName),
        (known.issue(&["127.0.0.1"]), TlsFailure::WrongName),
        (known.issue_expired(&[NAME]), TlsFailure::Expired),
        (known.issue_early(&[NAME]), TlsFailure::NotYetValid),
        (unknown.issue(&[NAME]), TlsFailure::UnknownIssuer),
        (namesake.issue(&[NAME]), TlsFailure::BadCertificate),
        (Identity::self_signed(&[NAME]), TlsFailure::UnknownIssuer),
    ] {
        let (server, outcome) = call(&identity.unwrap(), trust(&known)).await;
        let error = outcome.err().unwrap();
        assert_eq!(error.failure, Failure::Tls(why));
        assert_eq!((error.code(), error.sent), (Code::NetTls, Sent::Not));
        assert_eq!(server.log().received(), b"");
    }
}

#[tokio::test]
async fn the_platform_does_not_trust_the_test_authority() {
    let authority = Authority::new().unwrap();
    let error = call(&authority.issue(&[NAME]).unwrap(), Trust::platform()).await.1.err().unwrap();
    // Without any root on this machine it is NoRoots.
    assert!(
        matches!(
            error.failure,
            Failure::Tls(TlsFailure::UnknownIssuer | TlsFailure::NoRoots | TlsFailure::BadCertificate)
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_literal_address_needs_a_certificate_for_it() {
    let authority = Authority::new().unwrap();
    for (names, fits) in [(&["127.0.0.1"][..], true), (&["localhost"], false)] {
        let server = Server::tls(&authority.issue(names).unwrap(), answer(ok("ip"))).await.unwrap();
        let client = setup(trust(&authority), Vec::new(), &[]).client();
        let outcome = Call::get(format!("https://{}/", server.address())).send(&client).await;
        assert_eq!(outcome.map(|received| received.body).ok(), fits.then(|| b"ip".to_vec()));
    }
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_a_tls_failure() {
    // A TLS 1.0 server's alert (protocol_version), plain HTTP, nothing at all, a reset.
    let alert = b"\x15\x03\x01\x00\x02\x02\x46";
    for (script, why) in [
        (vec![Step::send(alert), Step::AwaitClose], TlsFailure::Protocol),
        (vec![Step::send(ok("plain")), Step::AwaitClose], TlsFailure::Protocol),
        (vec![], TlsFailure::Broken),
        (vec![Step::Reset], TlsFailure::Broken),
    ] {
        let server = Server::plain(script).await.unwrap();
        let client = setup(Trust::pem(&Authority::new().unwrap().pem()).unwrap(), Vec::new(), &[]).client();
        let error = Call::get(format!("https://{}/", server.address()))
            .reach(LOOPBACK)
            .send(&client)
            .await
            .err()
            .unwrap();
        assert_eq!((error.failure, error.sent), (Failure::Tls(why), Sent::Not));
    }
}

#[tokio::test]
async fn a_body_that_ends_with_the_connection_needs_a_clean_end() {
    let authority = Authority::new().unwrap();
    let identity = authority.issue(&[NAME]).unwrap();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhalf a tex";
    for (end, whole) in [(Step::Close, true), (Step::Reset, false)] {
        let script =
            vec![Step::ReadRequest, Step::send(head), Step::Pause(std::time::Duration::from_millis(50)), end];
        let server = Server::tls(&identity, script).await.unwrap();
        let name = format!("{NAME}:{}", server.address().port());
        let client = setup(trust(&authority), vec![(&name, vec![found(&["127.0.0.1"])])], &[]).client();
        let outcome = Call::get(format!("https://{name}/")).send(&client).await;
        match outcome {
            Ok(received) => assert!(whole && received.body == b"half a tex"),
            Err(error) => assert!(!whole && error.code() == Code::NetProtocol, "{error:?}"),
        }
    }
}

#[tokio::test]
async fn sessions_are_resumed_by_a_client_and_not_shared_with_another() {
    let authority = Authority::new().unwrap();
    let identity = authority.issue(&[NAME]).unwrap();
    // The server closes after each answer, so that every call needs a handshake.
    let server = Server::tls(&identity, answer(ok("secure"))).await.unwrap();
    let name = format!("{NAME}:{}", server.address().port());
    let trust = trust(&authority);
    let setup = setup(trust, vec![(&name, vec![found(&["127.0.0.1"])])], &[]);
    let (first, second) = (setup.client(), setup.client());
    for client in [&first, &first, &second] {
        Call::get(format!("https://{name}/")).send(client).await.unwrap();
    }
    let resumed: Vec<bool> = (server.log().entries().into_iter())
        .filter_map(|entry| match entry.event {
            Event::Secured { resumed, .. } => Some(resumed),
            _ => None,
        })
        .collect();
    assert_eq!(resumed, [false, true, false]);
}
