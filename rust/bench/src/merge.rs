//! Comparing schemas on real upgrades of tools, and merging into a large tool set against a small one.

use std::hint::black_box;
use std::path::Path as File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use connector_core::grant::Grant;
use connector_core::json::{Numbers, Path, Profile, Value, read_strict};
use connector_core::manifest::check;
use connector_core::schema::{Options, Schema};
use connector_core::toolset::{Connector, ToolSet};
use connector_core::{Findings, TrustLimits};

use connector_runtime::store::{StoreKey, StoreOptions};
use connector_runtime::{ClientOptions, Session, SessionOptions, Trust};

use crate::table::{Pair, Table, in_turns, median};

pub(crate) fn rows(table: &mut Table) {
    narrowing(table);
    merging(table);
    reading(table);
}

/// The pairs lie beside the repository, or where `CONNECTOR_CASES` says.
fn pairs() -> Vec<(Schema, Schema)> {
    let folder = std::env::var_os("CONNECTOR_CASES").map_or_else(
        || File::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases"),
        std::path::PathBuf::from,
    );
    let Ok(text) = std::fs::read(folder.join("subtyping/real-tool-evolution.json")) else {
        return Vec::new();
    };
    let profile = Profile { max_bytes: 1 << 26, max_depth: 64, numbers: Numbers::Any };
    let document = read_strict(&text, profile).unwrap();
    let compile = |source: Option<&Value>| {
        let (limits, mut findings) = (TrustLimits::default(), Findings::new());
        Schema::compile(source?, &Path::Root, Options::default(), &limits, &mut findings)
    };
    let cases = document.get("cases").and_then(Value::as_array).unwrap().iter();
    cases.filter_map(|case| Some((compile(case.get("new"))?, compile(case.get("prior"))?))).collect()
}

fn narrowing(table: &mut Table) {
    let pairs = pairs();
    if pairs.is_empty() {
        println!("(the pairs of real tools are not here)");
        return;
    }
    let times: Vec<Duration> =
        pairs.iter().map(|(new, old)| median((0..200).map(|_| once(new, old)).collect())).collect();
    let worst = times.iter().max().copied().unwrap_or_default();
    for (what, time, bound) in [
        ("narrowing of a real tool, median / 10 us", median(times.clone()), Duration::from_micros(10)),
        ("narrowing of a real tool, worst / 5 ms", worst, Duration::from_millis(5)),
    ] {
        let ratio = time.as_secs_f64() / bound.as_secs_f64();
        let text = |time: Duration| format!("{:.1} us", time.as_secs_f64() * 1e6);
        table.row(what, &text(time), &text(bound), ratio, 1.0);
    }
}

fn once(new: &Schema, old: &Schema) -> Duration {
    let start = Instant::now();
    black_box(black_box(new).is_narrower_than(black_box(old)));
    start.elapsed()
}

fn manifest(id: &str) -> String {
    let tool = |name: &str| {
        format!(
            r#"{{"name":"{name}","description":"Does it.","effect":"read",
            "parameters":{{"type":"object","properties":{{"words":{{"type":"string"}},"page":{{"type":"integer"}}}},"required":["words"]}},
            "request":{{"method":"GET","origin":"api","path":["{name}"],"query":{{"q":{{"$param":"words"}},"page":{{"$param":"page","absent":"omit"}}}}}}}}"#
        )
    };
    let tools = ["find", "list", "show", "count"].map(tool).join(",");
    format!(
        r#"{{"manifestVersion":1,"id":"{id}","version":"1","title":"T","description":"D.",
        "origins":{{"api":"https://{id}.example"}},"tools":[{tools}]}}"#
    )
}

fn connector(id: &str) -> Arc<Connector> {
    let limits = TrustLimits::default();
    let manifest = check(manifest(id).as_bytes(), &limits).manifest.unwrap();
    Arc::new(Connector::bind(manifest, "bench", Grant::default(), &limits).unwrap())
}

fn merging(table: &mut Table) {
    let install = |set: ToolSet, n: usize| set.install(connector(&format!("connector-{n}")), None).unwrap();
    let small = (0..9).fold(ToolSet::default(), install);
    let large = (9..999).fold(small.clone(), install);
    let new = connector("connector-last");
    let merge = |set: &ToolSet| drop(black_box(set.install(Arc::clone(black_box(&new)), None).unwrap()));
    let pair = in_turns(2_000, || merge(&large), || merge(&small));
    table.times("merge connector 1,000 / connector 10", &pair, 1.3);
}

/// Lists of a reader beside a writer that installs and removes on a store all the time, against those of one that is
/// alone. A reader that waited for a commit would wait for the disk.
fn reading(table: &mut Table) {
    const BLOCKS: usize = 20;
    const BLOCK: Duration = Duration::from_millis(60);
    let folder = tempfile::tempdir().unwrap();
    let store = StoreOptions::new(folder.path().join("store"), StoreKey::new([7; 32]));
    let options = SessionOptions::new(ClientOptions::new(Trust::platform()));
    let session = Session::open_store(options, store).unwrap();
    let install = |id: &str| {
        let text = manifest(id);
        session.install(text.as_bytes(), "bench", Grant::default(), None).unwrap().contract.to_string()
    };
    for number in 0..50 {
        install(&format!("connector-{number}"));
    }
    let (writes, ends, changes) = (AtomicBool::new(false), AtomicBool::new(false), AtomicUsize::new(0));
    let [mut beside, mut alone] = [Vec::new(), Vec::new()];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                if writes.load(Ordering::Relaxed) {
                    install("connector-last");
                    session.remove("connector-last", None).unwrap();
                    changes.fetch_add(2, Ordering::Relaxed);
                } else {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        for block in 0..BLOCKS * 2 {
            let with = block % 2 == 0;
            writes.store(with, Ordering::Relaxed);
            // The change that is under way belongs to the block before.
            std::thread::sleep(BLOCK);
            let begun = Instant::now();
            while begun.elapsed() < BLOCK {
                let start = Instant::now();
                drop(black_box(session.list()));
                if with { &mut beside } else { &mut alone }.push(start.elapsed());
            }
        }
        ends.store(true, Ordering::Relaxed);
    });
    println!("({} changes beside {} reads)", changes.into_inner(), beside.len());
    let pair = Pair { ours: median(beside), reference: median(alone) };
    table.times("list beside a writer on a store / alone", &pair, 2.0);
}
