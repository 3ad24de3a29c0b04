//! The guard of addresses: every connection goes to a judged address, and to no other.

use std::net::SocketAddr;

use connector_core::Code;
use connector_core::origin::Reach;
use connector_net::hooks::Lookup;
use connector_net::{Failure, Forbidden, NetError, ResolveError, Sent};
use connector_testkit::{Authority, Identity, Server};

use crate::support::{Call, LOCAL, LOOPBACK, PUBLIC, Setup, any_trust, found, ok, setup};

const EVERYTHING: Reach = Reach { local_network: true, overlay_network: true, loopback: true };

/// A TLS server for `api.example`, and how a client finds it at a public address.
struct Public {
    server: Server,
    authority: Authority,
}

impl Public {
    async fn new() -> Self {
        let authority = Authority::new().unwrap();
        let identity: Identity = authority.issue(&["api.example"]).unwrap();
        let server = Server::answering_tls(&identity, |_| ok("public").into_bytes()).await.unwrap();
        Self { server, authority }
    }

    fn setup(&self, answers: Vec<Lookup>) -> Setup {
        let trust = connector_net::Trust::pem(&self.authority.pem()).unwrap();
        setup(trust, vec![("api.example:443", answers)], &[("93.184.216.34:443", self.server.address())])
    }

    async fn send(&self, answers: Vec<Lookup>) -> Result<Vec<u8>, NetError> {
        let call = Call::get("https://api.example/").reach(PUBLIC);
        call.send(&self.setup(answers).client()).await.map(|received| received.body)
    }
}

#[tokio::test]
async fn a_name_with_a_public_address_is_reached() {
    let public = Public::new().await;
    assert_eq!(public.send(vec![found(&["93.184.216.34"])]).await.unwrap(), b"public");
}

#[tokio::test]
async fn of_mixed_answers_only_the_allowed_are_tried() {
    let public = Public::new().await;
    for answer in [
        &["127.0.0.1", "93.184.216.34"][..],
        &["93.184.216.34", "10.0.0.1"],
        &["169.254.169.254", "::1", "93.184.216.34", "fe80::1%3", "::ffff:192.168.0.1"],
    ] {
        assert_eq!(public.send(vec![found(answer)]).await.unwrap(), b"public", "{answer:?}");
    }
}

#[tokio::test]
async fn a_name_without_an_allowed_address_is_refused_before_any_socket() {
    // If the guard failed, the call would reach this server.
    let trap = Server::answering(|_| ok("trap").into_bytes()).await.unwrap();
    let port = trap.address().port();
    let names = [
        "127.0.0.1",
        "127.8.9.10",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.1.1",
        "169.254.169.254",
        "192.0.0.8",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.9",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%2",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "2002:a00:1::",
        "::127.0.0.1",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "100::1",
        "fd00:ec2::254",
    ];
    for address in names {
        let map: Vec<(String, SocketAddr)> = vec![(
            SocketAddr::new(address.split('%').next().unwrap().parse().unwrap(), port).to_string(),
            trap.address(),
        )];
        let map: Vec<(&str, SocketAddr)> = map.iter().map(|(from, to)| (from.as_str(), *to)).collect();
        let name = format!("api.example:{port}");
        let setup = setup(any_trust(), vec![(&name, vec![found(&[address])])], &map);
        for scheme in ["http", "https"] {
            let call = Call::get(format!("{scheme}://api.example:{port}/")).reach(PUBLIC);
            let error = call.send(&setup.client()).await.err().unwrap();
            assert_eq!((error.code(), error.sent), (Code::NetAddress, Sent::Not), "{scheme} {address}");
        }
    }
    assert_eq!(trap.log().connections(), 0);
}

#[tokio::test]
async fn a_literal_host_passes_the_same_guard() {
    let trap = Server::answering(|_| ok("trap").into_bytes()).await.unwrap();
    let port = trap.address().port();
    for host in
        ["127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254", "[::ffff:7f00:1]", "0.0.0.0", "[fd12::1]"]
    {
        let call = Call::get(format!("http://{host}:{port}/")).reach(PUBLIC);
        assert_eq!(call.refused().await, Code::NetAddress, "{host}");
    }
    for host in ["169.254.169.254", "[fd00:ec2::254]", "224.0.0.1", "255.255.255.255", "0.0.0.0", "[::]"] {
        let call = Call::get(format!("http://{host}:{port}/")).reach(EVERYTHING);
        assert_eq!(call.refused().await, Code::NetAddress, "{host} is opened by no grant");
    }
    assert_eq!(trap.log().connections(), 0);
}

#[tokio::test]
async fn each_word_of_a_grant_opens_its_own_addresses() {
    let server = Server::answering(|_| ok("local").into_bytes()).await.unwrap();
    let overlay = Reach { overlay_network: true, ..PUBLIC };
    for (address, reach) in [
        ("192.168.1.50", LOCAL),
        ("10.9.8.7", LOCAL),
        ("172.31.0.1", LOCAL),
        ("169.254.7.7", LOCAL),
        ("fd12:3456::7", LOCAL),
        ("100.101.102.103", overlay),
        ("127.0.0.5", LOOPBACK),
    ] {
        let ip: std::net::IpAddr = address.parse().unwrap();
        let mapped = SocketAddr::new(ip, 8080).to_string();
        let names = vec![("box.local:8080", vec![found(&[address])])];
        let setup = setup(any_trust(), names, &[(&mapped, server.address())]);
        for url in ["http://box.local:8080/".to_owned(), format!("http://{mapped}/")] {
            for tried in [PUBLIC, LOCAL, overlay, LOOPBACK, EVERYTHING] {
                let outcome = Call::get(&url).reach(tried).send(&setup.client()).await;
                let allowed = tried == reach || tried == EVERYTHING;
                match outcome {
                    Ok(received) => assert!(allowed && received.body == b"local", "{url} {tried:?}"),
                    Err(error) => {
                        assert!(!allowed && error.code() == Code::NetAddress, "{url} {tried:?} {error}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn cleartext_and_literals_stay_off_public_addresses() {
    let server = Server::answering(|_| ok("public").into_bytes()).await.unwrap();
    let names = vec![("api.example:80", vec![found(&["93.184.216.34"])])];
    let map = [("93.184.216.34:80", server.address()), ("93.184.216.34:443", server.address())];
    let setup = setup(any_trust(), names, &map);
    for url in ["http://api.example/", "http://93.184.216.34/", "https://93.184.216.34/"] {
        let error = Call::get(url).reach(EVERYTHING).send(&setup.client()).await.err().unwrap();
        assert_eq!(error.failure, Failure::Address(Forbidden::Public), "{url}");
    }
    assert_eq!(server.log().connections(), 0);
}

#[tokio::test]
async fn a_name_that_turns_is_judged_again_for_every_connection() {
    let public = Public::new().await;
    let trap = Server::answering(|_| ok("trap").into_bytes()).await.unwrap();
    let answers = vec![found(&["93.184.216.34"]), found(&["127.0.0.1"])];
    let mut setup = public.setup(answers);
    setup.options.connect_map.insert("127.0.0.1:443".parse().unwrap(), trap.address());
    let client = setup.client();
    let call = Call::get("https://api.example/").reach(PUBLIC);
    assert_eq!(call.send(&client).await.unwrap().body, b"public");
    // The kept connection goes on to the judged address; a new one is judged anew.
    assert_eq!(call.send(&client).await.unwrap().body, b"public");
    assert_eq!(setup.resolver.asked().len(), 1);
    let again = setup.client();
    assert_eq!(call.send(&again).await.err().unwrap().code(), Code::NetAddress);
    assert_eq!(trap.log().connections(), 0);
}

#[tokio::test]
async fn a_connection_uses_the_addresses_that_were_judged_and_asks_once() {
    let public = Public::new().await;
    // A second lookup between check and connect would see the private address.
    let setup = public.setup(vec![found(&["93.184.216.34"]), found(&["10.0.0.1"])]);
    let call = Call::get("https://api.example/").reach(PUBLIC);
    assert_eq!(call.send(&setup.client()).await.unwrap().body, b"public");
    assert_eq!(setup.resolver.asked(), ["api.example:443"]);
}

#[tokio::test]
async fn a_dead_address_gives_way_to_the_next() {
    let server = Server::answering(|_| ok("alive").into_bytes()).await.unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let names = vec![("box.local:80", vec![found(&["10.0.0.1", "10.0.0.2", "10.0.0.3"])])];
    let map = [("10.0.0.1:80", closed), ("10.0.0.2:80", closed), ("10.0.0.3:80", server.address())];
    let setup = setup(any_trust(), names, &map);
    let received = Call::get("http://box.local/").reach(LOCAL).send(&setup.client()).await.unwrap();
    assert_eq!(received.body, b"alive");
}

#[tokio::test]
async fn a_name_without_addresses_does_not_resolve() {
    for answer in [Lookup::NotFound, found(&[])] {
        let setup = setup(any_trust(), vec![("api.example:443", vec![answer])], &[]);
        let error = Call::get("https://api.example/").send(&setup.client()).await.err().unwrap();
        assert_eq!(error.failure, Failure::Resolve(ResolveError::NotFound));
        assert_eq!((error.code(), error.sent), (Code::NetResolve, Sent::Not));
    }
}

#[tokio::test]
async fn a_refused_connection_sent_nothing() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = Call::get(format!("http://{closed}/")).alone().await.err().unwrap();
    assert_eq!((error.code(), error.sent), (Code::NetConnect, Sent::Not));
}
