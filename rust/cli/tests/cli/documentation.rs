//! docs/rpc.md: every example is run, and its answer compared.

use std::collections::{BTreeMap, BTreeSet};

use connector_testkit::Authority;
use serde_json::{Value, json};

use crate::messages::METHODS;
use crate::rpc::Rpc;
use crate::support::{Api, connector, json as answer, of_project, said_with_input};

fn page() -> String {
    std::fs::read_to_string(of_project("docs/rpc.md")).unwrap()
}

/// The fenced blocks of one kind.
fn blocks<'p>(page: &'p str, kind: &str) -> Vec<&'p str> {
    let fence = format!("\n```{kind}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// What `<name>` stands for; the first answer that has it in its place says so.
#[derive(Default)]
struct Names(BTreeMap<String, Value>);

impl Names {
    fn name(text: &str) -> Option<&str> {
        let name = text.strip_prefix('<')?.strip_suffix('>')?;
        name.chars().all(|c| c.is_ascii_alphanumeric()).then_some(name)
    }

    /// The parameters with every name replaced.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match Self::name(text) {
                Some(name) => self.0.get(name).unwrap_or_else(|| panic!("<{name}> has no value yet")).clone(),
                None => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect()
            }
            _ => value.clone(),
        }
    }

    /// Whether an answer is the documented one; names that have no value yet take theirs.
    fn fits(&mut self, documented: &Value, given: &Value) -> bool {
        match (documented, given) {
            (Value::String(text), _) if Self::name(text).is_some() => {
                let name = Self::name(text).unwrap().to_owned();
                self.0.entry(name).or_insert_with(|| given.clone()) == given
            }
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.fits(a, b))
            }
            (Value::Object(a), Value::Object(b)) => {
                // The order of the members too: it is the one that a reader sees.
                a.keys().eq(b.keys()) && a.iter().all(|(name, value)| self.fits(value, &b[name]))
            }
            _ => documented == given,
        }
    }
}

#[test]
fn every_example_is_run_and_its_answer_compared() {
    let page = page();
    let authority = Authority::new().unwrap();
    let api = Api::tls(&authority, &["tea.example"], |_| answer("200 OK", "{\"id\": 7}"));
    let mut names = Names::default();
    names.0.insert("roots".to_owned(), json!(authority.pem()));
    names.0.insert("server".to_owned(), json!(api.address()));
    names.0.insert("manifest".to_owned(), json!(blocks(&page, "json")[0]));
    let mut rpc = Rpc::hooked();
    let mut shown = BTreeSet::new();
    let mut count = 0;
    for block in blocks(&page, "rpc") {
        let lines: Vec<&str> = block.lines().collect();
        for pair in lines.chunks(2) {
            let (method, params) = pair[0].split_once(' ').unwrap();
            let (mark, documented) = pair[1].split_once(' ').unwrap();
            let parse = |text: &str| -> Value {
                serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"))
            };
            let params = names.filled(&parse(params));
            let given = match mark {
                "=" => rpc.call(method, &params),
                "!" => rpc.error(method, &params),
                _ => panic!("{mark} is neither a result nor an error"),
            };
            assert!(
                names.fits(&parse(documented), &given),
                "{}\ngives\n{given}\nand not\n{documented}",
                pair[0]
            );
            shown.insert(method.to_owned());
            count += 1;
        }
    }
    for method in METHODS {
        assert!(shown.contains(method), "{method} has no example");
    }
    println!("docs/rpc.md: {count} examples run, {} methods", shown.len());
    assert_eq!(api.seen(), ["POST /brew/earl%20grey"]);
}

#[test]
fn the_first_example_works_in_a_shell() {
    let page = page();
    let console = blocks(&page, "")[0];
    let (command, expected) = console.split_once('\n').unwrap();
    let message =
        command.strip_prefix("$ printf '%s\\n' '").unwrap().strip_suffix("' | connector rpc").unwrap();
    let said = said_with_input(connector().arg("rpc"), format!("{message}\n").as_bytes());
    assert_eq!((said.status, said.out.trim_end()), (0, expected));
}

#[test]
fn the_tables_name_every_method() {
    let page = page();
    let rows = page.lines().filter(|line| line.starts_with("| `") && line.contains('.'));
    let named: BTreeSet<&str> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .filter(|name| name.contains('.'))
        .collect();
    assert_eq!(named, METHODS.into_iter().collect::<BTreeSet<_>>());
}
