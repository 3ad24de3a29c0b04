//! docs/codes.md, the list of codes for readers of Swift and Kotlin.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::fmt::Write;

use connector_core::{Code, Refusal};
use connector_ffi::{ConnectorError, error_codes};

/// The case of the error that carries a code.
fn case(code: Code) -> String {
    let error = format!("{:?}", ConnectorError::from(Refusal::new(code, "why")));
    error.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn every_code_stands_in_the_documents() {
    let mut page = String::from(
        "# Codes\n\nGenerated from the table of `connector-core`; a test fails when it drifts. Every `ConnectorError` \
         (Swift), `ConnectorException` (Kotlin) and refusal of the command line carries one of these. Codes are added, never \
         renamed. The findings of an error name rules: [rules.md](rules.md) lists them.\n\n| code | case | when |\n|---|---|---|\n",
    );
    let listed = error_codes().unwrap();
    assert_eq!(listed.len(), Code::ALL.len());
    for (code, listed) in Code::ALL.iter().zip(listed) {
        assert_eq!(code.as_str(), listed.code);
        writeln!(page, "| `{}` | `{}` | {} |", listed.code, case(*code), listed.says).unwrap();
    }
    let path = format!("{}/../../docs/codes.md", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page, "docs/codes.md has drifted: run the test with UPDATE=1 and commit the file");
}
