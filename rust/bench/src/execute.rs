//! An execution on loopback (secrets, request, guards, answer, mapping, record) against bare reqwest with the same TLS
//! and caps. The plan is made before: it has a row of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use connector_core::TrustLimits;
use connector_core::call::ToolCall;
use connector_core::grant::Grant;
use connector_core::json::{Numbers, Profile, read_strict};
use connector_runtime::hooks::{Lookup, ScriptedResolver};
use connector_runtime::{ClientOptions, Session, SessionOptions, Trust};
use connector_testkit::{Authority, Request, Server};

use crate::table::{Pair, Table};

const BODY: &str = r#"{"results":[{"id":1,"title":"tea"},{"id":2,"title":"milk"}]}"#;
const IN_FLIGHT: u32 = 64;
const HOST: &str = "api.notes.example";

pub(crate) fn rows(table: &mut Table) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let authority = Authority::new().unwrap();
        let identity = authority.issue(&[HOST]).unwrap();
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        let server =
            Server::answering_tls(&identity, move |_: &Request| answer.clone().into_bytes()).await.unwrap();
        let port = server.address().port();
        let ours = Arc::new(Ours::new(&authority, port));
        let reference = Arc::new(Reference::new(&authority, port));
        let pair = latency(&ours, &reference).await;
        table.times("an execution over TLS, one at a time / bare reqwest", &pair, 1.05);
        let pair = throughput(&ours, &reference).await;
        table.times("an execution over TLS, 64 in flight / bare reqwest", &pair, 1.05);
    });
}

struct Ours {
    session: Session,
    contract: String,
}

impl Ours {
    fn new(authority: &Authority, port: u16) -> Self {
        let mut network = ClientOptions::new(Trust::roots([authority.der()]).unwrap());
        let lookup = Lookup::addresses(["127.0.0.1"]).unwrap();
        network.resolver = Arc::new(ScriptedResolver::new().with(&format!("{HOST}:{port}"), vec![lookup]));
        let limits = TrustLimits { calls_per_minute: u32::MAX, ..TrustLimits::default() };
        let session = Session::open(SessionOptions { limits, ..SessionOptions::new(network) });
        let manifest = r#"{"manifestVersion":1,"id":"notes","version":"1","title":"Notes","description":"Notes.",
"origins":{"api":{"userProvided":{"title":"Server","localNetwork":true}}},"tools":[{"name":"find","description":"Find.","effect":"read",
"parameters":{"type":"object","properties":{"words":{"type":"string"}},"required":["words"]},
"request":{"method":"GET","origin":"api","path":["v1","notes"],"query":{"q":{"$param":"words"}}},
"response":{"from":"/results","each":true,"fields":{"id":"/id","title":"/title"}}}]}"#;
        let grant = format!(r#"{{"origins":{{"api":"https://{HOST}:{port}"}},"loopback":true}}"#);
        let profile = Profile { max_bytes: 4096, max_depth: 8, numbers: Numbers::Exact };
        let grant = Grant::read(&read_strict(grant.as_bytes(), profile).unwrap(), session.limits()).unwrap();
        let contract =
            session.install(manifest.as_bytes(), "bench", grant, None).unwrap().contract.to_string();
        Self { session, contract }
    }

    fn plan(&self) -> String {
        let call = ToolCall { name: "notes.find".to_owned(), arguments: r#"{"words":"tea"}"#.to_owned() };
        self.session.plan(&call, Some(&self.contract), None).unwrap().plan
    }

    async fn execute(&self, plan: &str) {
        let answer = self.session.execute(plan, None, None, None).await.unwrap();
        assert!(!answer.is_error, "{}", answer.text);
    }
}

struct Reference {
    client: reqwest::Client,
    url: String,
}

impl Reference {
    fn new(authority: &Authority, port: u16) -> Self {
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let root = reqwest::Certificate::from_der(&authority.der()).unwrap();
        let client = reqwest::Client::builder()
            .tls_certs_only([root])
            .no_proxy()
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .resolve(HOST, ([127, 0, 0, 1], port).into())
            .timeout(Duration::from_secs(20))
            .build()
            .unwrap();
        Self { client, url: format!("https://{HOST}:{port}/v1/notes?q=tea") }
    }

    async fn call(&self) {
        let request = self.client.get(&self.url).header("Accept", "application/json");
        let mut response = request.header("Accept-Encoding", "gzip, deflate").send().await.unwrap();
        assert!(response.status().is_success());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.unwrap() {
            assert!(body.len() + chunk.len() <= 1 << 20);
            body.extend_from_slice(&chunk);
        }
        assert_eq!(body.len(), BODY.len());
    }
}

async fn latency(ours: &Ours, reference: &Reference) -> Pair {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..2_200 {
        let plan = ours.plan();
        let start = Instant::now();
        ours.execute(&plan).await;
        let middle = Instant::now();
        reference.call().await;
        if round >= 200 {
            times[0].push(middle - start);
            times[1].push(middle.elapsed());
        }
    }
    let [ours, reference] = times.map(crate::table::median);
    Pair { ours, reference }
}

/// The time of one call among 64 that are in flight, in turns of 64 calls.
async fn throughput(ours: &Arc<Ours>, reference: &Arc<Reference>) -> Pair {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..330 {
        let plans: Vec<String> = (0..IN_FLIGHT).map(|_| ours.plan()).collect();
        let start = Instant::now();
        let tasks = plans.into_iter().map(|plan| {
            let ours = Arc::clone(ours);
            tokio::spawn(async move { ours.execute(&plan).await })
        });
        join(tasks.collect()).await;
        let middle = Instant::now();
        let tasks = (0..IN_FLIGHT).map(|_| {
            let reference = Arc::clone(reference);
            tokio::spawn(async move { reference.call().await })
        });
        join(tasks.collect()).await;
        if round >= 30 {
            times[0].push((middle - start) / IN_FLIGHT);
            times[1].push(middle.elapsed() / IN_FLIGHT);
        }
    }
    let [ours, reference] = times.map(crate::table::median);
    Pair { ours, reference }
}

async fn join(tasks: Vec<tokio::task::JoinHandle<()>>) {
    for task in tasks {
        task.await.unwrap();
    }
}
