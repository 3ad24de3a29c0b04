//! The wire cases of the first-party connectors.

use std::fs;

use connector_core::TrustLimits;
use connector_core::manifest::check;
use connector_core::origin::Reach;
use serde_json::Value;

use crate::kit::{KEY, bind, body, header, object, preview, target};

#[test]
fn the_first_party_connectors_send_what_their_cases_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../example/connectors");
    let limits = TrustLimits::default();
    let (mut sent, mut refused) = (0, 0);
    for entry in fs::read_dir(format!("{folder}/wire")).unwrap() {
        let cases: Vec<Value> = serde_json::from_slice(&fs::read(entry.unwrap().path()).unwrap()).unwrap();
        for case in &cases {
            let id = case["connector"].as_str().unwrap();
            let manifest =
                check(&fs::read(format!("{folder}/{id}.json")).unwrap(), &limits).manifest.unwrap();
            let name = format!("{id}.{}", case["tool"].as_str().unwrap());
            let tool = manifest.tool(&name).unwrap_or_else(|| panic!("no {name}"));
            let grant = &case["grant"];
            let local = grant["localNetwork"].as_bool().unwrap_or(false);
            let reach = Reach { local_network: local, ..Reach::PUBLIC };
            let request = tool.request();
            let origin = request.origin.0.as_str();
            let origin = bind(&manifest, origin, grant["origins"][origin].as_str(), reach);
            let settings = grant.get("settings").map(object).unwrap_or_default();
            let settings = manifest.bind_settings(&settings, &limits).unwrap();
            let arguments = object(&case["arguments"]);
            let accepted = tool
                .parameters()
                .schema()
                .accepts(&connector_core::json::Value::Object(arguments.clone()))
                .is_ok();
            let key = request.idempotency.as_ref().map(|_| KEY);
            let built = request.build(&origin, &settings, &arguments, key, &limits);
            let why = case["why"].as_str().unwrap();
            if case["refused"] == true {
                assert!(!accepted || built.is_err(), "{name}: {why}");
                refused += 1;
                continue;
            }
            assert!(accepted, "{name}: {why}: the schema refuses the arguments");
            let rendered = preview(&built.unwrap_or_else(|refusal| panic!("{name}: {why}: {refusal}")));
            let expect = &case["expect"];
            assert_eq!(rendered.method.as_str(), expect["method"], "{name}: {why}");
            assert_eq!(target(&rendered), expect["target"], "{name}: {why}");
            assert_eq!(body(&rendered), expect["body"].as_str(), "{name}: {why}");
            for (field, value) in expect["headers"].as_object().unwrap() {
                assert_eq!(header(&rendered, field), value.as_str(), "{name}: {why}: {field}");
            }
            sent += 1;
        }
    }
    println!("wire cases of the connectors: {sent} sent, {refused} refused");
    assert!(sent >= 80 && refused >= 20);
}
