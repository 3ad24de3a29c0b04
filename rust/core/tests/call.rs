//! From a model's call to a plan, its digest, its bounds and the request that the transport takes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

#[path = "manifest/base.rs"]
#[allow(dead_code, reason = "only the manifest is used")]
mod base;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use base::base;
use connector_core::call::{CheckedCall, Plan, PlanSeed, Reason, ToolCall, check};
use connector_core::grant::Grant;
use connector_core::json::{Numbers, Profile, read_strict};
use connector_core::manifest;
use connector_core::request::Redirects;
use connector_core::toolset::{Connector, ToolSet};
use connector_core::{Code, Refusal, TrustLimits};
use serde_json::{Value, json};

fn set_of(manifest: &Value, more: &Value) -> ToolSet {
    let limits = TrustLimits::default();
    let mut granted = json!({
        "origins": { "server": "http://notes.local" },
        "settings": { "book": "work", "page": 7, "tone": "plain" },
        "localNetwork": true, "cleartextCredentials": true
    });
    for (member, value) in more.as_object().unwrap() {
        granted[member] = value.clone();
    }
    let report = manifest::check(manifest.to_string().as_bytes(), &limits);
    let manifest = report.manifest.unwrap_or_else(|| panic!("{:?}", report.findings));
    let profile = Profile { max_bytes: 1 << 16, max_depth: 16, numbers: Numbers::Exact };
    let grant = Grant::read(&read_strict(granted.to_string().as_bytes(), profile).unwrap(), &limits).unwrap();
    let connector = Connector::bind(manifest, "app", grant, &limits).unwrap();
    ToolSet::default().install(Arc::new(connector), None).unwrap()
}

fn set() -> ToolSet {
    set_of(&base(), &json!({}))
}

fn checked(set: &ToolSet, name: &str, arguments: &str) -> Result<CheckedCall, Refusal> {
    let call = ToolCall { name: name.to_owned(), arguments: arguments.to_owned() };
    check(set, &set.contract(), &call, &TrustLimits::default())
}

fn seed() -> PlanSeed {
    PlanSeed {
        id: "plan".into(),
        idempotency_key: Some("key".into()),
        flows: Vec::new(),
        without: Vec::new(),
    }
}

fn plan(set: &ToolSet, name: &str, arguments: &str, seed: PlanSeed) -> Result<Plan, Refusal> {
    Plan::new(&checked(set, name, arguments)?, seed, &TrustLimits::default())
}

const FIND: &str = r#"{"words": "a", "limit": 1}"#;
const ADD: &str = r#"{"title": "a"}"#;

#[test]
fn a_contract_shows_what_was_asked_for_of_what_is_granted() {
    let set = set_of(&base(), &json!({ "only": ["find", "add"] }));
    let names = |contract: &connector_core::toolset::Contract| {
        contract.names().map(ToString::to_string).collect::<Vec<_>>()
    };
    let full = set.contract();
    assert_eq!(names(&full), ["notes.add", "notes.find"]);
    let part = set.contract_of(["notes.find", "notes.drop", "other.find", "notes.find"]);
    assert_eq!(names(&part), ["notes.find"]);
    assert!(part.shows("notes.find") && !part.shows("notes.add"));
    assert_eq!((full.tool_set(), part.tool_set()), (set.hash(), set.hash()));
    assert_ne!(full.id(), part.id());
    assert_eq!(full.id(), set.contract_of(["notes.add", "notes.find"]).id(), "a contract is what it shows");
    let call = |name: &str| ToolCall { name: name.to_owned(), arguments: ADD.to_owned() };
    let refusal = check(&set, &part, &call("notes.add"), &TrustLimits::default()).unwrap_err();
    assert_eq!(refusal.code, Code::CallNotExported);
}

#[test]
fn the_advice_names_every_violation_and_no_value() {
    let set = set();
    let refusal =
        checked(&set, "notes.find", r#"{"limit": "seven", "labels": [], "secret-key": "x"}"#).unwrap_err();
    assert_eq!(refusal.code, Code::CallArguments);
    let advice = refusal.advice.unwrap();
    for word in ["words", "/limit", "/labels"] {
        assert!(advice.contains(word), "{word} in {advice}");
    }
    assert!(!advice.contains("seven") && !advice.contains("secret-key"), "{advice}");
}

#[test]
fn a_call_without_a_word_is_a_call_without_arguments() {
    let set = set();
    for arguments in ["", "  ", "{}"] {
        assert!(checked(&set, "notes.ping", arguments).is_ok(), "{arguments:?}");
    }
    let long = format!(r#"{{"title": "{}"}}"#, "x".repeat(256 << 10));
    let deep = format!(r#"{{"title": "a", "extra": {}1{}}}"#, r#"{"a":"#.repeat(40), "}".repeat(40));
    for arguments in [&*long, &*deep] {
        assert_eq!(checked(&set, "notes.add", arguments).unwrap_err().code, Code::CallInvalid);
    }
}

#[test]
fn everything_that_a_person_agrees_to_is_under_the_digest() {
    let set = set();
    let other = |change: fn(&mut PlanSeed)| {
        let mut seed = seed();
        change(&mut seed);
        plan(&set, "notes.add", ADD, seed).unwrap().digest()
    };
    let digests = [
        other(|_| {}),
        other(|seed| seed.id.push('x')),
        other(|seed| seed.idempotency_key = Some("other".into())),
        other(|seed| seed.flows.push("tasks".into())),
        other(|seed| seed.without.push("key".into())),
        plan(&set, "notes.add", r#"{"title": "b"}"#, seed()).unwrap().digest(),
        plan(&set, "notes.say", "{}", seed()).unwrap().digest(),
        plan(&set_of(&base(), &json!({ "loopback": true })), "notes.add", ADD, seed()).unwrap().digest(),
        plan(&set_of(&base(), &json!({ "confirm": [] })), "notes.add", ADD, seed()).unwrap().digest(),
        {
            let mut titled = base();
            titled["title"] = json!("Other notes");
            plan(&set_of(&titled, &json!({})), "notes.add", ADD, seed()).unwrap().digest()
        },
    ];
    assert_eq!(digests.iter().map(ToString::to_string).collect::<BTreeSet<_>>().len(), digests.len());
    assert_eq!(digests[0], plan(&set, "notes.add", ADD, seed()).unwrap().digest(), "and nothing else");
}

#[test]
fn a_plan_says_why_a_person_must_confirm() {
    let set = set();
    let reasons = |tool: &str, arguments: &str, flows: &[&str]| {
        let seed = PlanSeed { flows: flows.iter().map(|from| (*from).into()).collect(), ..seed() };
        plan(&set, tool, arguments, seed).unwrap().needs_confirmation().to_vec()
    };
    assert_eq!(reasons("notes.find", FIND, &[]), []);
    assert_eq!(reasons("notes.find", FIND, &["tasks"]), [Reason::Flow]);
    assert_eq!(reasons("notes.add", ADD, &[]), [Reason::Effect]);
    assert_eq!(reasons("notes.drop", r#"{"id": 1}"#, &["tasks"]), [Reason::Effect, Reason::Flow]);
}

#[test]
fn a_plan_is_confirmed_by_its_digest_alone() {
    let set = set();
    let (read, write) = (
        Arc::new(plan(&set, "notes.find", FIND, seed()).unwrap()),
        Arc::new(plan(&set, "notes.add", ADD, seed()).unwrap()),
    );
    assert!(read.confirm(None).is_ok());
    assert!(write.confirm(Some(&write.digest().to_string())).is_ok());
    for wrong in [None, Some(""), Some("yes"), Some(&*read.digest().to_string())] {
        assert_eq!(write.confirm(wrong).unwrap_err().code, Code::PlanConfirmationRequired);
    }
}

#[test]
fn the_bounds_are_those_of_the_host_lowered_by_the_manifest() {
    let bounds = |tool: usize, limits: Value, host: fn(&mut TrustLimits)| {
        let mut manifest = base();
        manifest["tools"][tool]["limits"] = limits;
        let set = set_of(&manifest, &json!({}));
        let (name, arguments) = [("notes.find", FIND), ("notes.add", ADD)][tool];
        let mut host_limits = TrustLimits::default();
        host(&mut host_limits);
        let plan = Plan::new(&checked(&set, name, arguments).unwrap(), seed(), &host_limits).unwrap();
        plan.budget().clone()
    };
    let ms = Duration::from_millis;
    let default = bounds(0, json!({}), |_| {});
    assert_eq!((default.total, default.connect), (ms(20_000), ms(5_000)));
    assert_eq!(
        (default.header_bytes, default.wire_bytes, default.decoded_bytes),
        (32 << 10, 1 << 20, 4 << 20)
    );
    assert_eq!((default.retries, default.redirects), (2, Redirects::None));
    let low = bounds(
        0,
        json!({ "timeoutMs": 1_000, "maxResponseBytes": 1_000, "retries": 1, "redirects": "same-origin" }),
        |_| {},
    );
    assert_eq!((low.total, low.wire_bytes, low.decoded_bytes), (ms(1_000), 1_000, 1_000));
    assert_eq!((low.retries, low.redirects), (1, Redirects::SameOrigin));
    let ceiling = bounds(0, json!({ "timeoutMs": 60_000, "maxResponseBytes": 4_194_304 }), |_| {});
    assert_eq!((ceiling.total, ceiling.wire_bytes, ceiling.decoded_bytes), (ms(60_000), 1 << 20, 4 << 20));
    let strict = bounds(0, json!({ "timeoutMs": 60_000 }), |host| {
        host.total_timeout_ceiling = Duration::from_secs(2);
        host.response_decoded_bytes = 10;
    });
    assert_eq!((strict.total, strict.wire_bytes, strict.decoded_bytes), (ms(2_000), 10, 10));
    let write = bounds(1, json!({}), |_| {});
    assert_eq!((write.retries, write.redirects), (0, Redirects::None), "a write, though it may be repeated");
    assert_eq!(bounds(1, json!({ "retries": 3 }), |_| {}).retries, 3, "it has an idempotency key");
}

/// Secrets by name.
fn secrets<'s>(all: &[(&str, &'s str)]) -> BTreeMap<smol_str::SmolStr, &'s str> {
    all.iter().map(|(name, secret)| ((*name).into(), *secret)).collect()
}

#[test]
fn the_request_is_the_preview_with_secrets() {
    let set = set();
    let plan = Arc::new(plan(&set, "notes.find", FIND, seed()).unwrap());
    let shown = plan.preview().headers.iter().filter(|header| !header.fixed);
    let shown: Vec<_> = shown.map(|header| (header.name.clone(), header.value.clone())).collect();
    assert!(shown.contains(&("Authorization".into(), "Bearer <credential token>".into())));
    let confirmed = plan.confirm(None).unwrap();
    let outgoing = confirmed.dispatch(&secrets(&[("token", "s3cret"), ("other", "unused")])).unwrap();
    let sent = outgoing.headers().iter().map(|header| (header.name.as_str().into(), header.value.clone()));
    let filled = shown.into_iter().map(|(name, value)| (name, value.replace("<credential token>", "s3cret")));
    assert_eq!(sent.collect::<Vec<_>>(), filled.collect::<Vec<_>>());
    assert_eq!((outgoing.url().as_str(), outgoing.body()), (&*plan.preview().url, None));
    let secret: Vec<_> = outgoing.headers().iter().filter(|h| h.secret).map(|h| h.name.as_str()).collect();
    assert_eq!(secret, ["Authorization"]);
    assert_eq!(outgoing.within(Duration::from_secs(1)).budget().total, Duration::from_secs(1));
    let again = confirmed.dispatch(&secrets(&[("token", "s3cret")])).unwrap();
    assert_eq!(
        again.within(Duration::from_secs(99)).budget().total,
        Duration::from_secs(10),
        "never more time"
    );
}

#[test]
fn a_place_of_the_preview_is_filled_or_the_request_is_not_made() {
    let set = set();
    let code = |name: &str, arguments: &str, seed: PlanSeed, given: &[(&str, &str)]| {
        let plan = Arc::new(plan(&set, name, arguments, seed).unwrap());
        let digest = plan.digest().to_string();
        plan.confirm(Some(&digest)).unwrap().dispatch(&secrets(given)).err().map(|refusal| refusal.code)
    };
    let without = || PlanSeed { without: vec!["key".into()], ..seed() };
    assert_eq!(code("notes.find", FIND, seed(), &[]), Some(Code::CredentialMissing));
    assert_eq!(code("notes.find", FIND, seed(), &[("token", "a\nb")]), Some(Code::CredentialInvalid));
    assert_eq!(code("notes.add", ADD, seed(), &[]), Some(Code::CredentialMissing), "it was shown");
    assert_eq!(code("notes.add", ADD, seed(), &[("key", "k")]), None);
    assert_eq!(code("notes.add", ADD, without(), &[]), None);
}

#[test]
fn what_was_shown_without_a_credential_goes_without() {
    let set = set();
    let seed = PlanSeed { without: vec!["key".into(), "token".into()], ..seed() };
    let plan = Arc::new(plan(&set, "notes.add", ADD, seed.clone()).unwrap());
    assert!(!plan.preview().to_value().to_text().contains("<credential"));
    let confirmed = plan.confirm(Some(&plan.digest().to_string())).unwrap();
    assert!(confirmed.credentials().is_empty());
    let outgoing = confirmed.dispatch(&secrets(&[("key", "k-secret")])).unwrap();
    assert!(outgoing.headers().iter().all(|header| !header.value.contains("k-secret")));
    assert!(!String::from_utf8_lossy(outgoing.body().unwrap()).contains("k-secret"));
    let required = self::plan(&set, "notes.find", FIND, seed).unwrap();
    assert!(
        required.preview().to_value().to_text().contains("<credential token>"),
        "a required one cannot be left out"
    );
}

#[test]
fn a_credential_does_not_go_over_http_without_its_grant() {
    let set = set_of(&base(), &json!({ "cleartextCredentials": false }));
    let refusal = plan(&set, "notes.add", ADD, seed()).unwrap_err();
    assert_eq!(refusal.code, Code::GrantDenied);
    let without = PlanSeed { without: vec!["key".into()], ..seed() };
    assert!(plan(&set, "notes.add", ADD, without).is_ok(), "it would not be sent");
    assert!(plan(&set, "notes.find", FIND, seed()).is_ok(), "https");
}

#[test]
fn a_secret_is_checked_against_every_place_that_it_has() {
    let set = set();
    let connector = set.connector("notes").unwrap();
    let check = |name: &str, secret: &str| {
        connector.check_secret(name, secret, &TrustLimits::default()).err().map(|refusal| refusal.code)
    };
    assert_eq!(check("token", "s3cret"), None);
    assert_eq!(check("other", "s3cret"), Some(Code::CredentialUnknown));
    // A JSON body would take it; the header does not.
    assert_eq!(check("key", "schlüssel"), Some(Code::CredentialInvalid));
    assert_eq!(check("key", ""), Some(Code::CredentialInvalid));
    assert_eq!(check("key", "k"), None);
    let origin =
        |name: &str| connector.credential_origin(name).map(|origin| origin.origin().as_str().to_owned());
    assert_eq!(origin("token").unwrap(), "https://api.notes.example");
    assert_eq!(origin("key").unwrap(), "http://notes.local");
}
