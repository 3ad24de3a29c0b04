//! The first-party connectors against the facts of the real services: every operation has its tools, and a tool
//! sends what the operation takes, where the operation takes it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use connector_testkit::cases;
use serde_json::Value;

const CONNECTORS: [&str; 7] =
    ["github-issues", "home-assistant", "notion", "open-meteo", "todoist", "vikunja", "wikipedia"];

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../example/connectors"))
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&fs::read(folder().join(path)).unwrap()).unwrap()
}

/// `METHOD /path/{}` and the names of the tools, for each connector, from the tables of the README.
fn operations() -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let (_, tables) = readme.split_once("\n## Operations\n").unwrap();
    let mut all: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    let mut id = String::new();
    for line in tables.lines() {
        let code: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        if line.starts_with("**") {
            code[0].clone_into(&mut id);
        } else if line.starts_with("| `") {
            let tools = code[1..].iter().map(|tool| (*tool).to_owned()).collect();
            assert!(all.entry(id.clone()).or_default().insert(nameless(code[0]), tools).is_none(), "{line}");
        }
    }
    all
}

/// What the README says of parts that are left out, as the names in code style before its tables.
fn left_out() -> BTreeSet<String> {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let (text, _) = readme.split_once("\n## Operations\n").unwrap();
    let (_, text) = text.split_once("\n## What MANIFEST forbids\n").unwrap();
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The template with `{}` for each parameter, since its name is nobody's business.
fn nameless(template: &str) -> String {
    let segment = |segment: &str| if segment.starts_with('{') { "{}".to_owned() } else { segment.to_owned() };
    template.split('/').map(segment).collect::<Vec<_>>().join("/")
}

/// One tool against one operation.
struct Held<'a> {
    tool: &'a Value,
    faults: &'a mut Vec<String>,
    at: String,
}

impl Held<'_> {
    fn fault(&mut self, text: &str) {
        let name = self.tool["name"].as_str().unwrap();
        self.faults.push(format!("{} ({name}): {text}", self.at));
    }

    /// A literal segment of the operation is literal here; a parameter may be narrowed to a literal.
    fn path(&mut self, template: &str) {
        let theirs: Vec<&str> = template.split('/').skip(1).collect();
        let ours = self.tool["request"]["path"].as_array().unwrap();
        let fits = |(ours, theirs): (&Value, &&str)| match ours.as_str() {
            Some(literal) => literal == *theirs || theirs.starts_with('{'),
            None => theirs.starts_with('{'),
        };
        if ours.len() != theirs.len() || !ours.iter().zip(&theirs).all(fits) {
            self.fault("another path");
        }
    }

    fn headers(&mut self, api: &Value) {
        let headers = &self.tool["request"]["headers"];
        let optional = api["auth"]["required"] == false;
        let expected = match api["auth"]["format"].as_str() {
            Some("Bearer {token}") => Some("Bearer"),
            None => None,
            Some(other) => panic!("{other}"),
        };
        let slot = &headers["Authorization"];
        if slot["scheme"].as_str() != expected || slot.get("$credential").is_some() != expected.is_some() {
            self.fault("another way to authenticate");
        }
        // Nobody writes anonymously.
        let anonymous = optional && self.tool["effect"] == "read";
        if expected.is_some() && (slot["absent"] == "omit") != anonymous {
            self.fault("the credential is optional where it is required, or the other way round");
        }
        for (name, _) in api["fixed_headers"].as_object().into_iter().flatten() {
            if !headers[name].is_string() {
                self.fault(&format!("without the fixed header {name}"));
            }
        }
    }

    /// What the tool puts where the operation takes this parameter.
    fn place(&self, parameter: &Value) -> Option<&Value> {
        let (name, request) = (parameter["name"].as_str().unwrap(), &self.tool["request"]);
        match parameter["in"].as_str().unwrap() {
            "query" => request["query"].get(name),
            "header" => request["headers"].get(name),
            "body" => {
                let body = &request["body"]["json"];
                if body.get("$param").is_some() { Some(body) } else { body.get(name) }
            }
            other => panic!("{other}"),
        }
    }

    fn parameter(&mut self, parameter: &Value) {
        let name = parameter["name"].as_str().unwrap();
        let Some(place) = self.place(parameter).cloned() else {
            if parameter["required"] == true {
                self.fault(&format!("{name} is required and not sent"));
            }
            return;
        };
        let Some(property) = place["$param"].as_str() else {
            let literal = place.get("$setting").is_none() && place.get("$credential").is_none();
            if parameter["fixed"] == true && !literal {
                self.fault(&format!("{name} is fixed"));
            }
            if let Some(fixed) = parameter["fixed"].as_str().filter(|fixed| place != *fixed) {
                self.fault(&format!("{name} is always {fixed}"));
            }
            return;
        };
        let parameters = &self.tool["parameters"];
        let required = parameters["required"].as_array().is_some_and(|r| r.iter().any(|r| r == property));
        if parameter["required"] == true && !required {
            self.fault(&format!("{name} is required and may be left out"));
        }
        let schema = &parameters["properties"][property];
        let schema = schema["$ref"]
            .as_str()
            .map_or(schema, |r| parameters.pointer(r.trim_start_matches('#')).expect("a local reference"));
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => types.iter().map(|t| t.as_str().unwrap()).collect(),
            Value::String(one) => vec![one],
            _ => Vec::new(),
        };
        let fact = parameter["type"].as_str().unwrap();
        let only = |allowed: &[&str]| types.iter().all(|t| allowed.contains(t));
        let fits = match fact {
            "integer" => only(&["integer"]),
            "number" => only(&["number", "integer"]),
            "boolean" => only(&["boolean"]),
            "flag" => only(&["boolean"]) && place["flag"] == true,
            "array" if parameter["explode"] == false => only(&["array"]) && place["array"] == "comma",
            "array" => only(&["array"]),
            _ => true,
        };
        if !fits {
            self.fault(&format!("{name} is of type {fact}, and here of {types:?}"));
        }
        if let (Some(theirs), Some(ours)) = (parameter["enum"].as_array(), schema["enum"].as_array())
            && ours.iter().any(|value| !value.is_null() && !theirs.contains(value))
        {
            self.fault(&format!("{name} takes a value that the service does not know"));
        }
        for (bound, beyond) in [("minimum", -1.0), ("maximum", 1.0)] {
            if let Some(theirs) = parameter[bound].as_f64()
                && schema[bound].as_f64().is_none_or(|ours| (ours - theirs) * beyond > 0.0)
            {
                self.fault(&format!("{name} may be beyond the {bound} of the service"));
            }
        }
    }
}

#[test]
fn every_operation_of_the_services_is_sent_as_they_take_it() {
    let (mut faults, mut count, mut parameters) = (Vec::new(), 0, 0);
    let (operations, left_out) = (operations(), left_out());
    let is_left_out = |name: &str| {
        let fits = |word: &String| {
            word.strip_suffix('*').is_some_and(|start| name.starts_with(start)) || word == name
        };
        left_out.iter().any(fits)
    };
    for id in CONNECTORS {
        let Some(api) = cases::load("apis", &format!("{id}.json")) else { return };
        let manifest = json(&format!("{id}.json"));
        let tools = manifest["tools"].as_array().unwrap();
        let table = &operations[id];
        let named: BTreeSet<&str> = table.values().flatten().map(String::as_str).collect();
        let all: BTreeSet<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(named, all, "{id}: the table names every tool, and no other");

        for operation in api["operations"].as_array().unwrap() {
            count += 1;
            let method = operation["method"].as_str().unwrap();
            let base = api["base_path"].as_str().unwrap_or_default();
            let template = format!("{base}{}", operation["path"].as_str().unwrap());
            let key = format!("{method} {}", nameless(&template));
            let Some(names) = table.get(&key) else {
                faults.push(format!("{id} {key}: no tool, and no reason"));
                continue;
            };
            let of_tool = |name: &String| tools.iter().find(|tool| tool["name"] == **name).unwrap();
            let at = format!("{id} {key}");
            for tool in names.iter().map(of_tool) {
                let mut held = Held { tool, faults: &mut faults, at: at.clone() };
                if tool["request"]["method"] != method {
                    held.fault("another method");
                }
                held.path(&template);
                held.headers(&api);
                let listed = operation["params"].as_array().unwrap();
                listed.iter().filter(|p| p["in"] != "path").for_each(|p| held.parameter(p));
            }
            for (name, value) in api["fixed_headers"].as_object().into_iter().flatten() {
                // A value with blanks is a description. Another tool may ask for another form of the same thing.
                let mut same = names.iter().map(|tool| &of_tool(tool)["request"]["headers"][name] == value);
                if !value.as_str().unwrap().contains(' ') && !same.any(|same| same) {
                    faults.push(format!("{at}: no tool sends the fixed header {name} as it is"));
                }
            }
            for parameter in operation["params"].as_array().unwrap() {
                parameters += 1;
                let name = parameter["name"].as_str().unwrap();
                let mut sent = names.iter().map(of_tool).map(|tool| {
                    let held = Held { tool, faults: &mut Vec::new(), at: String::new() };
                    parameter["in"] == "path" || held.place(parameter).is_some()
                });
                if !sent.any(|sent| sent) && !is_left_out(name) {
                    faults.push(format!("{at}: no tool sends {name}, and no reason is given"));
                }
            }
        }
    }
    println!("operations: {count} of 80, with {parameters} parameters");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(count, 80);
}
