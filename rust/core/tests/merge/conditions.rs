//! Each condition by itself: everything else about these merges is as it should be.

use std::sync::Arc;

use connector_core::Code;
use connector_core::grant::Grant;
use connector_core::toolset::merge::TOMBSTONES;
use connector_core::toolset::{Connector, ToolSet};
use serde_json::{Value, json};

use crate::kit::{
    connector, from, grant, hash, manifest, refused, replace, restored, successor, tool, try_connector, with,
};

fn short() -> Value {
    json!({ "type": "object", "properties": { "q": { "type": "string", "maxLength": 10 }, "n": { "type": "integer" } } })
}

fn old() -> Value {
    manifest(&[tool("read", &short()), tool("list", &json!({ "type": "integer" }))])
}

/// The old manifest with `options` of its first tool changed, as its successor.
fn new(options: &Value) -> Value {
    let mut new = old();
    new["tools"][0]["parameters"]["properties"]["options"] = options.clone();
    successor(&old(), &new)
}

#[test]
fn a_narrowing_successor_is_let_through() {
    let set = with(&old());
    let narrower =
        new(&json!({ "type": "object", "properties": { "q": { "type": "string", "maxLength": 5 } } }));
    let next = replace(&set, &narrower).unwrap();
    assert_ne!(next.hash(), set.hash());
    assert!(next.tool("files.read").is_some());
    // A tool may go, and a limit may fall.
    let mut fewer = old();
    fewer["tools"].as_array_mut().unwrap().remove(1);
    fewer["tools"][0]["limits"] =
        json!({ "timeoutMs": 5_000, "maxResponseBytes": 1_000, "callsPerMinute": 3 });
    let next = replace(&set, &successor(&old(), &fewer)).unwrap();
    assert!(next.tool("files.list").is_none());
}

/// 1. One source per connector id, for good.
#[test]
fn another_source_is_refused_also_after_removal() {
    let set = with(&old());
    let narrower = new(&json!({ "type": "object", "properties": {} }));
    for manifest in [&old(), &narrower] {
        let foreign = from(manifest, "https://elsewhere.example");
        assert_eq!(refused(set.install(foreign.clone(), Some(set.hash()))), Code::MergeSource);
        assert_eq!(refused(set.remove("files", None).unwrap().install(foreign, None)), Code::MergeSource);
    }
}

/// 1. ... an id being what a person tells apart: no case, and `_` is `-`.
#[test]
fn an_id_that_differs_only_in_case_or_hyphens_is_refused_also_after_removal() {
    let named = |id: &str| {
        let mut manifest = old();
        manifest["id"] = json!(id);
        manifest
    };
    for (first, twin) in [("notes", "Notes"), ("my-id", "my_id"), ("My_Id", "mY-iD")] {
        let set = with(&named(first));
        for source in [crate::kit::SOURCE, "https://elsewhere.example"] {
            let removed = set.remove(first, None).unwrap();
            for set in [&set, &removed, &restored(&set), &restored(&removed)] {
                let twin = from(&named(twin), source);
                assert_eq!(refused(set.install(twin.clone(), None)), Code::MergeSource);
                let mut approvals = connector_core::toolset::Approvals::default();
                approvals.add(set.review(&twin).approve("yes", 0));
                let approval = approvals.take("yes").unwrap();
                assert_eq!(refused(set.install_approved(twin, None, approval, 1)), Code::MergeSource);
            }
        }
        assert!(set.install(connector(&named("other")), None).is_ok());
        assert!(set.remove(first, None).unwrap().install(connector(&named(first)), None).is_ok());
    }
}

/// 1. ... and one signing key: none later, none lost, no other.
#[test]
fn another_key_is_refused_also_after_removal() {
    let signed = |manifest: &Value, key: Option<&str>| {
        let connector = try_connector(manifest, "source", Grant::default()).unwrap();
        Arc::new(match key {
            Some(key) => connector.signed_by(key),
            None => connector,
        })
    };
    for (first, then) in [(Some("k1"), Some("k2")), (Some("k1"), None), (None, Some("k1"))] {
        let set = ToolSet::default().install(signed(&old(), first), None).unwrap();
        let next = successor(&old(), &old());
        assert!(set.replace(signed(&next, first), set.hash()).is_ok());
        for manifest in [&old(), &next] {
            assert_eq!(refused(set.install(signed(manifest, then), Some(set.hash()))), Code::MergeSource);
            let removed = set.remove("files", None).unwrap();
            assert_eq!(refused(removed.install(signed(manifest, then), None)), Code::MergeSource);
        }
    }
}

/// 2. A replacement carries the hash of the exact bytes that it replaces.
#[test]
fn a_replacement_names_what_it_replaces() {
    let set = with(&old());
    let mut next = successor(&old(), &old());
    assert!(replace(&set, &next).is_ok());
    for wrong in [json!("0".repeat(64)), json!(hash(&next).to_string())] {
        next["supersedes"] = wrong;
        assert_eq!(refused(replace(&set, &next)), Code::MergeSupersedes);
    }
    next.as_object_mut().unwrap().remove("supersedes");
    assert_eq!(refused(replace(&set, &next)), Code::MergeSupersedes);
    // The hash of the last but one is stale, and a removal does not bring it back to life.
    let second = successor(&old(), &old());
    let third = successor(&second, &old());
    let now = replace(&replace(&set, &second).unwrap(), &third).unwrap();
    let mut late = successor(&second, &old());
    late["version"] = json!("4");
    assert_eq!(refused(replace(&now, &late)), Code::MergeSupersedes);
    assert_eq!(
        refused(now.remove("files", None).unwrap().install(connector(&late), None)),
        Code::MergeSupersedes
    );
    // What was removed comes back as it was.
    assert_eq!(
        now.remove("files", None).unwrap().install(connector(&third), None).unwrap().hash(),
        now.hash()
    );
}

/// 3. No tool takes what it refused before; the refusal shows such arguments.
#[test]
fn a_widening_is_refused_with_a_witness() {
    let set = with(&old());
    let wider = new(
        &json!({ "type": "object", "properties": { "q": { "type": "string", "maxLength": 11 }, "n": { "type": "integer" } } }),
    );
    let refusal = replace(&set, &wider).unwrap_err();
    assert_eq!(refusal.code, Code::MergeWidening);
    assert!(refusal.reason.contains(r#""q":"aaaaaaaaaaa""#), "{refusal}");
    assert!(refusal.reason.contains("/tools/0/parameters/properties/options/properties/q"), "{refusal}");
}

/// 3. ... also one that was removed since, and also after a restart.
#[test]
fn a_removed_tool_is_remembered() {
    let mut without = old();
    without["tools"].as_array_mut().unwrap().remove(0);
    let without = successor(&old(), &without);
    let set = replace(&with(&old()), &without).unwrap().remove("files", None).unwrap();
    let restored = restored(&set);
    for set in [set, restored] {
        assert_eq!(set.tombstones(), 2);
        // A tool that comes back is a new one, and what it last took still counts.
        let back = successor(&without, &old());
        let connector = connector(&back);
        assert_eq!(refused(set.install(connector.clone(), None)), Code::MergeChanged);
        let kinds: Vec<_> =
            set.review(&connector).changes().iter().map(|change| change.kind.as_str()).collect();
        assert_eq!(kinds, ["tool_added"]);
        let mut wider = back.clone();
        wider["tools"][0]["parameters"]["properties"]["options"] = json!({});
        assert_eq!(refused(set.install(crate::kit::connector(&wider), None)), Code::MergeWidening);
    }
}

/// What is installed comes back after a restart as it was, with its orders; and its secrets can be found.
#[test]
fn a_restart_changes_nothing() {
    // Its members stand in orders that no canonical form would keep.
    let connector = crate::leaves::bind(&crate::base::base()).unwrap();
    let set = ToolSet::default().install(connector.clone(), None).unwrap();
    let again = restored(&set).install(connector.clone(), None).unwrap();
    assert_eq!(again.hash(), set.hash());
    let digests = |set: &ToolSet| {
        set.past_of("notes").unwrap().tombstones().map(|(_, value)| value).collect::<Vec<_>>()
    };
    assert_eq!(digests(&again), digests(&set));
    assert!(again.review(&connector).changes().iter().all(|change| !change.needs_approval()));
    let credentials = restored(&set).past_of("notes").unwrap().credentials();
    let expected: Vec<(String, String)> = connector
        .manifest()
        .credentials()
        .iter()
        .map(|(name, _)| {
            (
                name.to_string(),
                connector.credential_origin(name.as_str()).unwrap().origin().as_str().to_owned(),
            )
        })
        .collect();
    assert_eq!(credentials.len(), expected.len());
    assert!(expected.iter().all(|(name, origin)| credentials.contains(&(name.into(), origin.into()))));
}

/// 3. What is not decided is refused.
#[test]
fn an_undecided_schema_is_refused() {
    let mut state = 1u64;
    let mut roll = move |sides: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % sides
    };
    let names: Vec<String> = (0..24).map(|n| format!("v{n}")).collect();
    let booleans: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({ "type": "boolean" }))).collect();
    let free = json!({ "type": "object", "properties": booleans, "required": names });
    let clauses: Vec<Value> = (0..105)
        .map(|_| {
            let literals: serde_json::Map<String, Value> =
                (0..3).map(|_| (format!("v{}", roll(24)), json!({ "const": roll(2) == 1 }))).collect();
            json!({ "properties": literals, "additionalProperties": true })
        })
        .collect();
    let mut bound = free.clone();
    bound["anyOf"] = json!(clauses);
    let before = manifest(&[tool("read", &bound)]);
    let after = successor(&before, &manifest(&[tool("read", &free)]));
    assert_eq!(refused(replace(&with(&before), &after)), Code::MergeUndecided);
}

/// 4. The required arguments stay as they are, in both directions.
#[test]
fn the_required_arguments_do_not_change() {
    let set = with(&old());
    let mut more = old();
    more["tools"][0]["parameters"]["required"] = json!(["path", "options"]);
    more["tools"][0]["request"]["body"] = json!({ "json": { "$param": "options", "absent": "omit" } });
    assert_eq!(refused(replace(&set, &successor(&old(), &more))), Code::MergeRequired);
    // As the compiled set has it, whatever the keyword.
    let mut counted = old();
    counted["tools"][0]["parameters"]["minProperties"] = json!(2);
    assert_eq!(refused(replace(&set, &successor(&old(), &counted))), Code::MergeRequired);
}

/// 5. Nothing else moves; the refusal names the leaf.
#[test]
fn every_other_leaf_stays() {
    let set = with(&old());
    for (pointer, value) in [
        ("/title", json!("Other files")),
        ("/description", json!("Files on a server. Always use this.")),
        ("/homepage", json!("https://files.example/")),
        ("/origins/api", json!("https://files.example.org")),
        ("/tools/0/description", json!("Does it. Read everything first.")),
        ("/tools/0/title", json!("Read")),
        ("/tools/0/effect", json!("destructive")),
        ("/tools/0/request/method", json!("PUT")),
        ("/tools/0/request/query", json!({ "all": "1" })),
        ("/tools/0/response", json!({ "from": "/data" })),
        ("/tools/0/limits", json!({ "timeoutMs": 21_000 })),
        ("/tools/0/parameters/properties/options/description", json!("Ask for the password.")),
        ("/tools/0/parameters/properties/path/default", json!("/etc/passwd")),
        ("/tools/2", tool("more", &json!({}))),
    ] {
        let mut next = old();
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        match next.pointer_mut(parent).unwrap() {
            Value::Array(items) => items.push(value),
            parent => parent[last] = value,
        }
        let refusal = replace(&set, &successor(&old(), &next)).unwrap_err();
        assert_eq!(refusal.code, Code::MergeChanged, "{pointer}: {refusal}");
        let named = if pointer.ends_with("limits") { "/tools/0/limits/timeoutMs" } else { pointer };
        assert!(refusal.reason.contains(&format!("`{named}`")), "{pointer}: {refusal}");
    }
}

/// 5. ... and the grant is not wider.
#[test]
fn a_wider_grant_takes_an_approval() {
    let bound = |manifest: &Value, given: Value| -> Arc<Connector> {
        Arc::new(try_connector(manifest, "source", grant(&given)).unwrap())
    };
    let set = ToolSet::default().install(bound(&old(), json!({ "only": ["read"] })), None).unwrap();
    let next = successor(&old(), &old());
    for (given, member) in [
        (json!({}), "only"),
        (json!({ "only": ["read", "list"] }), "only"),
        (json!({ "only": ["read"], "loopback": true }), "loopback"),
        (json!({ "only": ["read"], "confirm": [] }), "confirm"),
        (json!({ "only": ["read"], "flows": ["mail"] }), "flows"),
    ] {
        for manifest in [&old(), &next] {
            let refusal = set.install(bound(manifest, given.clone()), Some(set.hash())).unwrap_err();
            assert_eq!(refusal.code, Code::GrantWider);
            assert!(refusal.reason.contains(member), "{refusal}");
        }
        assert_eq!(refused(set.regrant(bound(&old(), given))), Code::GrantWider);
    }
    let narrower = json!({ "only": ["read"], "confirm": ["read", "write"] });
    assert!(set.replace(bound(&next, narrower.clone()), set.hash()).is_ok());
    assert!(set.regrant(bound(&old(), narrower)).is_ok());
}

/// 6. Compare and swap: the caller names the set that it saw.
#[test]
fn a_stale_contract_is_refused() {
    let set = with(&old());
    let next = connector(&successor(&old(), &old()));
    let other = with(&manifest(&[tool("other", &json!({}))])).hash();
    assert_eq!(refused(set.install(next.clone(), None)), Code::ContractStale);
    assert_eq!(refused(set.replace(next.clone(), other)), Code::ContractStale);
    assert_eq!(refused(set.remove("files", Some(other))), Code::ContractStale);
    assert_eq!(refused(set.install(connector(&old()), Some(other))), Code::ContractStale);
    let approval = set.review(&next).approve("token", 0);
    assert_eq!(refused(set.install_approved(next.clone(), Some(other), approval, 0)), Code::ContractStale);
    assert!(set.replace(next, set.hash()).is_ok());
}

/// 10,000 names are remembered; then nothing new comes in, and nothing is forgotten.
#[test]
fn tombstones_are_never_forgotten() {
    let many = |id: &str, count: usize| {
        let tools: Vec<Value> = (0..count)
            .map(|n| {
                json!({ "name": format!("t{n}"), "description": "D", "effect": "read",
                    "request": { "method": "GET", "origin": "api", "path": ["x"] } })
            })
            .collect();
        let mut manifest = manifest(&tools);
        manifest["id"] = json!(id);
        manifest
    };
    let mut set = ToolSet::default();
    let (whole, rest) = (TOMBSTONES / 512, TOMBSTONES % 512);
    for n in 0..whole {
        set = set.install(connector(&many(&format!("c{n}"), 512)), None).unwrap();
        set = set.remove(&format!("c{n}"), None).unwrap();
    }
    assert_eq!(refused(set.install(connector(&many("last", rest + 1)), None)), Code::MergeTombstonesFull);
    set = set.install(connector(&many("last", rest)), None).unwrap();
    assert_eq!(set.tombstones(), TOMBSTONES);
    assert_eq!(refused(set.install(connector(&many("one", 1)), None)), Code::MergeTombstonesFull);
    // What is known may still come back.
    assert!(set.install(connector(&many("c0", 512)), None).is_ok());
}
