//! The review of a person, and the approval that lets exactly the listed differences through.

use std::sync::Arc;

use connector_core::Code;
use connector_core::toolset::merge::APPROVAL_MS;
use connector_core::toolset::{Approvals, ChangeKind, Connector, Review, ToolSet};
use serde_json::{Value, json};

use crate::base::base;
use crate::kit::{grant, hash, refused, successor, try_connector};
use crate::leaves::{SOURCE, bind, given, variants};

fn set() -> ToolSet {
    ToolSet::default().install(bind(&base()).unwrap(), None).unwrap()
}

/// A successor that changes something of every kind.
fn new() -> Value {
    let mut new = base();
    new["title"] = json!("Better notes");
    new["origins"]["extra"] = json!("https://extra.example");
    new["credentials"]["second"] = json!({ "title": "Second", "origin": "extra" });
    let tools = &mut new["tools"];
    tools[0]["parameters"]["properties"]["words"] = json!({ "type": ["string", "integer"] });
    tools[0]["limits"]["timeoutMs"] = json!(15_000);
    tools[0]["limits"]["retries"] = json!(1);
    tools[1]["effect"] = json!("read");
    tools[1]["request"]["body"]["json"]["$$source"] = json!("model");
    tools[2]["response"] = json!({ "from": "/data" });
    tools[4] = json!({ "name": "extra", "description": "More.", "effect": "read",
        "request": { "method": "GET", "origin": "extra", "path": ["x"], "headers": { "Authorization": { "$credential": "second", "scheme": "Bearer" } } } });
    successor(&base(), &new)
}

fn wide() -> Arc<Connector> {
    let mut given = given();
    given["loopback"] = json!(true);
    Arc::new(try_connector(&new(), SOURCE, grant(&given)).unwrap())
}

fn told(review: &Review) -> Vec<String> {
    let changes = review.changes().iter();
    changes
        .map(|c| format!("{} {} {}", c.kind.as_str(), c.tool.as_deref().unwrap_or("-"), c.pointer))
        .collect()
}

#[test]
fn a_review_tells_every_difference() {
    let set = set();
    let review = set.review(&wide());
    assert!(review.needs_approval());
    assert_eq!(review.replaces(), Some(hash(&base())));
    assert_eq!(
        told(&review),
        [
            "grant - /grant/loopback",
            "tool_removed notes.ping /tools",
            "limit_raised notes.find /tools/0/limits/timeoutMs",
            "limit_lowered notes.find /tools/0/limits/retries",
            "widened notes.find /tools/0/parameters/properties/words",
            "text - /title",
            "effect notes.add /tools/1/effect",
            "request notes.add /tools/1/request/body/json/$$source",
            "post_read notes.add /tools/1/effect",
            "response notes.drop /tools/2/response",
            "tool_added notes.extra /tools/4",
            "origin notes.extra /origins/extra",
            "credential notes.extra /credentials/second",
        ]
    );
    let widened = review.changes().iter().find(|change| change.kind == ChangeKind::Widened).unwrap();
    let witness = widened.witness.as_ref().unwrap();
    let tool = |connector: &Connector| connector.manifest().tools()[0].parameters().schema().clone();
    assert!(tool(&wide()).accepts(witness).is_ok());
    assert!(tool(&bind(&base()).unwrap()).accepts(witness).is_err());
    assert!(widened.to_value().get("witness").is_some());
    let text = review.changes().iter().find(|change| change.pointer == "/title").unwrap();
    assert_eq!(
        text.to_value().to_text(),
        r#"{"kind":"text","pointer":"/title","before":"Notes","after":"Better notes"}"#
    );
}

#[test]
fn a_first_install_is_all_new_and_needs_no_approval() {
    let review = ToolSet::default().review(&bind(&base()).unwrap());
    assert!(!review.needs_approval());
    let told = told(&review);
    for line in [
        "tool_added notes.find /tools/0",
        "origin notes.add /origins/server",
        "credential notes.find /credentials/token",
        "setting notes.find /settings/page",
    ] {
        assert!(told.iter().any(|known| known == line), "{line} {told:#?}");
    }
}

#[test]
fn an_approval_lets_its_differences_through_once() {
    let set = set();
    let connector = wide();
    assert!(set.install(connector.clone(), Some(set.hash())).is_err());
    let mut approvals = Approvals::default();
    approvals.add(set.review(&connector).approve("random", 1_000));
    let approval = approvals.take("random").unwrap();
    let next = set.install_approved(connector.clone(), Some(set.hash()), approval, 2_000).unwrap();
    assert!(next.tool("notes.extra").is_some());
    assert_ne!(next.contract().id(), set.contract().id());
    assert_eq!(approvals.take("random").unwrap_err().code, Code::ApprovalInvalid);
    // From now on the new schema is the one that may only narrow.
    let again =
        Arc::new(try_connector(&successor(&new(), &new()), SOURCE, connector.grant().clone()).unwrap());
    assert!(next.replace(again, next.hash()).is_ok());
}

#[test]
fn an_approval_ends_after_ten_minutes() {
    let set = set();
    for (now, good) in
        [(5_000, true), (5_000 + APPROVAL_MS - 1, true), (5_000 + APPROVAL_MS, false), (4_999, false)]
    {
        let approval = set.review(&wide()).approve("random", 5_000);
        let result = set.install_approved(wide(), Some(set.hash()), approval, now);
        assert_eq!(result.is_ok(), good, "{now}");
        if let Err(refusal) = result {
            assert_eq!(refusal.code, Code::ApprovalInvalid);
        }
    }
}

/// The same approval for another manifest, grant, source, key or tool set.
#[test]
fn an_approval_is_for_nothing_else() {
    let set = set();
    let approved = || set.review(&wide()).approve("random", 0);
    let with = |given: Value| Arc::new(try_connector(&new(), SOURCE, grant(&given)).unwrap());
    let mut wider = given();
    wider["loopback"] = json!(true);
    wider["localNetwork"] = json!(true);
    let mut bound = given();
    bound["loopback"] = json!(true);
    bound["settings"]["book"] = json!("private");
    let foreign = Arc::new(try_connector(&new(), "elsewhere", wide().grant().clone()).unwrap());
    let signed = Arc::new(try_connector(&new(), SOURCE, wide().grant().clone()).unwrap().signed_by("key"));
    for other in [with(wider), with(bound), with(given()), foreign, signed] {
        assert_eq!(
            refused(set.install_approved(other, Some(set.hash()), approved(), 1)),
            Code::ApprovalInvalid
        );
    }
    let mut other = crate::kit::manifest(&[crate::kit::tool("t", &json!({}))]);
    other["id"] = json!("other");
    let moved = set.install(crate::kit::connector(&other), None).unwrap();
    assert_eq!(
        refused(moved.install_approved(wide(), Some(moved.hash()), approved(), 1)),
        Code::ApprovalInvalid
    );
}

/// Every other leaf of the approved manifest, changed: the approval does not carry it, and nothing was installed.
#[test]
fn an_approval_carries_no_other_leaf() {
    let set = set();
    let (before, mut tried) = (set.hash(), 0);
    let mut plain = new();
    // The variants are bound with the plain grant.
    plain["version"] = json!("2.0");
    let connector = bind(&plain).unwrap();
    for (pointer, variant) in variants(&plain) {
        let approval = set.review(&connector).approve("random", 0);
        let other = bind(&variant).unwrap();
        assert_eq!(
            refused(set.install_approved(other, Some(before), approval, 1)),
            Code::ApprovalInvalid,
            "{pointer}"
        );
        tried += 1;
    }
    println!("{tried} other manifests");
    assert!(tried > 300);
    assert_eq!(set.hash(), before);
}

#[test]
fn only_so_many_approvals_wait() {
    let set = set();
    let mut approvals = Approvals::default();
    for n in 0..100 {
        approvals.add(set.review(&wide()).approve(&format!("token {n}"), 0));
    }
    assert!(approvals.take("token 35").is_err());
    assert!(approvals.take("token 36").is_ok());
    assert!(approvals.take("token 99").is_ok());
}

/// A change of source, of key and of what is superseded can be let through too, and then holds.
#[test]
fn a_person_can_move_a_connector() {
    let set = set();
    let mut next = base();
    next["version"] = json!("9");
    next.as_object_mut().unwrap().remove("supersedes");
    let moved = Arc::new(try_connector(&next, "elsewhere", grant(&given())).unwrap().signed_by("key"));
    let review = set.review(&moved);
    assert_eq!(told(&review), ["source - ", "key - ", "supersedes - /supersedes"]);
    let next = set.install_approved(moved, Some(set.hash()), review.approve("random", 0), 1).unwrap();
    let back = Arc::new(try_connector(&base(), SOURCE, grant(&given())).unwrap());
    assert_eq!(refused(next.install(back, Some(next.hash()))), Code::MergeSource);
}
