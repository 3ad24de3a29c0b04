//! `connector schema`.

use crate::support::{of_project, run};

#[test]
fn the_schema_is_the_committed_one() {
    let said = run(&["schema"]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    let committed = std::fs::read_to_string(of_project("docs/manifest.schema.json")).unwrap();
    assert_eq!(said.out, committed);
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_written_is_no_success() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = crate::support::connector().arg("schema").stdout(full).output().unwrap();
    let said = crate::support::Said::of(&output);
    assert_eq!(said.status, 1);
    assert!(said.err.contains("error[output.failed]"), "{}", said.err);
}
