//! What a call takes stays within the caps, whatever a server sends, and is given back afterwards. Memory is
//! measured by a counting allocator and sockets are counted in the process, so this is one test in a process
//! of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

use std::io::Write;
use std::time::Duration;

use connector_core::Code;
use connector_core::origin::Reach;
use connector_core::request::{Budget, Method, Outgoing, Redirects};
use connector_core::response::Received;
use connector_net::{CancellationToken, Client, ClientOptions, NetError, Trust};
use connector_testkit::{Authority, Script, Server, Step};
use flate2::{Compress, Compression, FlushCompress};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;

/// What a call may take beside what it may give back.
const ALLOWANCE: usize = 2 * MIB;

fn outgoing(server: &Server, wire: usize, decoded: usize) -> Outgoing {
    let budget = Budget {
        total: Duration::from_secs(20),
        connect: Duration::from_secs(5),
        url_bytes: 8 << 10,
        header_bytes: 32 << 10,
        wire_bytes: wire,
        decoded_bytes: decoded,
        retries: 0,
        redirects: Redirects::None,
    };
    let reach = Reach { local_network: false, overlay_network: false, loopback: true };
    let url = format!("http://{}/", server.address()).parse().unwrap();
    Outgoing::for_test(Method::Get, url, Vec::new(), None, reach, budget)
}

/// Ten gigabytes of zeros in about ten megabytes of gzip: one block of a megabyte, flushed to a byte
/// boundary, and that again and again. The end never comes.
fn bomb() -> (Vec<u8>, Vec<u8>) {
    let mut compress = Compress::new(Compression::best(), false);
    let mut block = Vec::with_capacity(64 << 10);
    compress.compress_vec(&vec![0; MIB], &mut block, FlushCompress::Full).unwrap();
    assert_eq!(usize::try_from(compress.total_in()).unwrap(), MIB, "the block is whole");
    assert!(block.len() < 2 << 10, "{}", block.len());
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    (head, block)
}

fn members() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; MIB]).unwrap();
    encoder.finish().unwrap()
}

/// The peak of one call over what was held before it.
async fn peak(script: Script, wire: usize, decoded: usize) -> (Result<Received, NetError>, usize) {
    let server = Server::plain(script).await.unwrap();
    let trust = Trust::pem(&Authority::new().unwrap().pem()).unwrap();
    let client = Client::new(ClientOptions::new(trust)).unwrap();
    let outgoing = outgoing(&server, wire, decoded);
    // What earlier servers held is freed by now.
    tokio::time::sleep(Duration::from_millis(50)).await;
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let outcome = client.send(&outgoing, CancellationToken::new()).await;
    (outcome, MEMORY.peak_usage() - before)
}

#[tokio::test]
async fn a_call_stays_within_its_caps_and_leaves_nothing_behind() {
    memory_stays_within_the_caps().await;
    nothing_is_left_behind().await;
}

async fn memory_stays_within_the_caps() {
    let (head, block) = bomb();
    println!("a bomb of {} bytes a MiB", block.len());
    let flood =
        |head: &str, part: Vec<u8>| vec![Step::ReadRequest, Step::send(head), Step::Repeat(part, None)];
    let bombs = vec![Step::ReadRequest, Step::Send(head), Step::Repeat(block, Some(10_240))];
    let in_members = vec![
        Step::ReadRequest,
        Step::send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"),
        Step::Repeat(members(), Some(10_240)),
    ];
    let cases: [(&str, Script, usize, usize, Option<Code>); 8] = [
        ("a gzip bomb of 10 GB", bombs.clone(), MIB, 4 * MIB, None),
        ("the same under wide caps", bombs, 16 * MIB, 64 * MIB, None),
        ("a bomb in 10,240 members", in_members, MIB, 4 * MIB, None),
        (
            "a body without end",
            flood("HTTP/1.1 200 OK\r\n\r\n", vec![b'a'; 65_536]),
            MIB,
            4 * MIB,
            Some(Code::NetTooLarge),
        ),
        (
            "chunks without end",
            flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"4\r\naaaa\r\n".repeat(4_096)),
            MIB,
            4 * MIB,
            Some(Code::NetTooLarge),
        ),
        (
            "a header field without end",
            flood("HTTP/1.1 200 OK\r\nX: ", vec![b'a'; 65_536]),
            MIB,
            4 * MIB,
            Some(Code::NetHeadersTooLarge),
        ),
        (
            "header fields without end",
            flood("HTTP/1.1 200 OK\r\n", b"X: y\r\n".repeat(4_096)),
            MIB,
            4 * MIB,
            Some(Code::NetHeadersTooLarge),
        ),
        (
            "a trailer without end",
            flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ", vec![b'a'; 65_536]),
            MIB,
            4 * MIB,
            Some(Code::NetProtocol),
        ),
    ];
    for (name, script, wire, decoded, code) in cases {
        let (outcome, peak) = peak(script, wire, decoded).await;
        println!("{name}: {} KiB over caps of {} KiB", peak >> 10, (wire + decoded) >> 10);
        assert_eq!(outcome.as_ref().err().map(NetError::code), code, "{name}");
        if let Ok(received) = outcome {
            assert!(received.body_cut && received.body.len() == decoded, "{name}");
        }
        assert!(peak < decoded + ALLOWANCE, "{name}: {peak}");
    }
}

/// Tasks of the runtime, and open files of the process where the system tells.
fn held() -> (usize, Option<usize>) {
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    (tasks, std::fs::read_dir("/proc/self/fd").ok().map(Iterator::count))
}

/// Rounds of calls that end in every way, then as much open as before.
async fn nothing_is_left_behind() {
    let answers = |bytes: &str| vec![Step::ReadRequest, Step::send(bytes), Step::AwaitClose];
    let scripts: Vec<(&str, Script)> = vec![
        ("whole", answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")),
        ("closed", vec![Step::ReadRequest, Step::send("HTTP/1.1 200 OK\r\n\r\nok")]),
        ("cut short", vec![Step::ReadRequest, Step::send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")]),
        ("reset", vec![Step::ReadRequest, Step::Reset]),
        ("redirect", answers("HTTP/1.1 302 X\r\nLocation: /\r\nContent-Length: 9\r\n\r\n")),
        ("too large", answers("HTTP/1.1 200 OK\r\n\r\n0123456789abcdef0123456789abcdef")),
        ("damaged", answers("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok")),
        ("silent", vec![Step::AwaitClose]),
        ("cancelled", vec![Step::AwaitClose]),
    ];
    for (name, script) in scripts {
        let server = Server::plain(script).await.unwrap();
        let trust = Trust::pem(&Authority::new().unwrap().pem()).unwrap();
        let mut before = None;
        for round in 0..150 {
            let client = Client::new(ClientOptions::new(trust.clone())).unwrap();
            let cancel = CancellationToken::new();
            let outgoing = outgoing(&server, 16, 64);
            let call = client.send(&outgoing, cancel.clone());
            match name {
                // Dropped by the deadline of the test, or cancelled from outside.
                "silent" => drop(tokio::time::timeout(Duration::from_millis(2), call).await),
                "cancelled" => {
                    let stop = async {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                        cancel.cancel();
                    };
                    drop(tokio::join!(call, stop));
                }
                _ => drop(call.await),
            }
            drop(client);
            if round == 20 {
                before = Some(settled().await);
            }
        }
        let (tasks, files) = before.unwrap();
        let after = settled().await;
        println!("{name}: {tasks} tasks and {files:?} files before, {after:?} after");
        assert!(after.0 <= tasks && after.1 <= files, "{name}: {after:?}, before {tasks} {files:?}");
    }
}

/// What is held once the ends of the last connections have gone through, on both sides.
async fn settled() -> (usize, Option<usize>) {
    let mut last = held();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(30)).await;
        let now = held();
        if now == last {
            break;
        }
        last = now;
    }
    last
}
