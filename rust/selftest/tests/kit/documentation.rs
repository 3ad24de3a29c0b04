//! docs/threat-model.md: each sentence of the transport's design names the scenarios that hold it.

use std::collections::{BTreeMap, BTreeSet};
use std::{env, fs};

use connector_testkit::scenario::all;

fn page(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).unwrap()
}

/// Words with one blank between them.
fn even(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The row and the sentence of a line of the table.
fn row(line: &str) -> Option<(&str, &str)> {
    let mut cells = line.strip_prefix("| `")?.split(" | ");
    Some((cells.next()?.strip_suffix('`')?, cells.next()?))
}

/// The ids of scenarios by the rows that they hold.
fn holders() -> BTreeMap<String, Vec<String>> {
    let mut holders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for scenario in all().unwrap().into_iter().flat_map(|group| group.scenarios) {
        assert!(!scenario.holds.is_empty(), "{} holds nothing", scenario.id);
        for row in scenario.holds {
            holders.entry(row).or_default().push(scenario.id.clone());
        }
    }
    holders
}

/// One test, since the first may write what the second reads.
#[test]
fn the_table_is_whole() {
    each_sentence_names_the_scenarios_that_hold_it();
    the_sentences_are_those_of_the_design_and_none_of_the_transport_is_left_out();
}

fn each_sentence_names_the_scenarios_that_hold_it() {
    let (committed, holders) = (page("threat-model.md"), holders());
    let mut rows = BTreeSet::new();
    let filled: Vec<String> = committed
        .lines()
        .map(|line| match row(line) {
            Some((row, sentence)) => {
                let ids = holders.get(row).unwrap_or_else(|| panic!("no scenario holds `{row}`"));
                rows.insert(row.to_owned());
                format!("| `{row}` | {sentence} | {} |", ids.join(", "))
            }
            None => line.to_owned(),
        })
        .collect();
    assert_eq!(rows, holders.into_keys().collect(), "rows of the table, and rows that scenarios name");
    let filled = filled.join("\n") + "\n";
    if env::var_os("UPDATE").is_some() {
        let path = format!("{}/../../docs/threat-model.md", env!("CARGO_MANIFEST_DIR"));
        fs::write(path, filled).unwrap();
    } else {
        assert!(
            committed == filled,
            "docs/threat-model.md has drifted: run with UPDATE=1 and commit the file"
        );
    }
}

fn the_sentences_are_those_of_the_design_and_none_of_the_transport_is_left_out() {
    let (design, model) = (even(&page("design.md")), page("threat-model.md"));
    let decisions = even(&page("decisions/transport.md"));
    let section = design.split("## 7. Transport").nth(1).unwrap().split("## 8.").next().unwrap();
    let mut left = section.to_owned();
    for (row, sentence) in model.lines().filter_map(row) {
        let found = design.contains(sentence) || decisions.contains(sentence);
        assert!(found, "`{row}` is a sentence of neither page");
        left = left.replace(sentence, "");
    }
    assert!(!left.contains(char::is_alphanumeric), "no row for: {left}");
}
