//! Planning a call against the least that any client does: `serde_json` reads the arguments, `url` the URL.

use std::hint::black_box;

use connector_core::call::ToolCall;
use connector_core::grant::Grant;
use connector_runtime::{ClientOptions, Session, SessionOptions, Trust};

use crate::check::manifest;
use crate::table::{Table, in_turns};

pub(crate) fn rows(table: &mut Table) {
    let session = Session::open(SessionOptions::new(ClientOptions::new(Trust::platform())));
    let installed =
        session.install(manifest(50, 64 << 10).as_bytes(), "bench", Grant::default(), None).unwrap();
    let contract = installed.contract.to_string();
    let arguments = r#"{"words":"tea & milk / more","state":"open","since":"2026-01-31","page":3,"labels":["home","a b"]}"#;
    let call = ToolCall { name: "notes.find_7".to_owned(), arguments: arguments.to_owned() };
    let refused = session.plan(&call, Some(&contract), None);
    assert!(refused.is_err(), "a slash in a path is refused");
    let arguments = arguments.replace(" / ", " ");
    let call = ToolCall { name: "notes.find_7".to_owned(), arguments: arguments.clone() };
    let url = session.plan(&call, Some(&contract), None).unwrap().preview.url.clone();
    let pair = in_turns(
        4_000,
        || drop(black_box(session.plan(black_box(&call), Some(&contract), None).unwrap())),
        || {
            drop(black_box(serde_json::from_str::<serde_json::Value>(black_box(&arguments)).unwrap()));
            drop(black_box(url::Url::parse(black_box(&url)).unwrap()));
        },
    );
    table.times("plan a call / serde_json and url on the same bytes", &pair, 4.0);
}
