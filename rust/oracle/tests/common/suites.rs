//! The public suites, as compiled schemas.

use std::path::{Path as File, PathBuf};

use connector_core::json::{Numbers, Path, Profile, Value, read_strict};
pub use connector_core::schema::Options;
use connector_core::schema::{Dialect, Formats, Schema, World};
use connector_core::{Findings, TrustLimits};

/// A schema of a suite with what the suite says about values.
pub struct Case {
    pub name: String,
    pub schema: Schema,
    /// Values, and whether the suite calls them valid.
    pub values: Vec<(Value, bool)>,
}

/// Servers whose tools are in the suite of real tools.
const SERVERS: [&str; 17] = [
    "chrome-devtools-mcp",
    "doist-todoist-mcp",
    "eslint-mcp",
    "github-mcp-server",
    "mcp-server-brave-search",
    "mcp-server-everart",
    "mcp-server-everything",
    "mcp-server-filesystem",
    "mcp-server-github",
    "mcp-server-gitlab",
    "mcp-server-google-maps",
    "mcp-server-memory",
    "mcp-server-sequential-thinking",
    "mcp-server-slack",
    "notionhq-notion-mcp-server",
    "tavily-mcp",
    "upstash-context7-mcp",
];

/// The input schemas of real tools, and how many were refused.
pub fn tools() -> Option<(Vec<Case>, usize)> {
    let (mut cases, mut refused) = (Vec::new(), 0);
    for server in SERVERS {
        for case in file(&format!("mcp-tools/{server}.json"))? {
            let name = format!("{server} {}", case.get("name").and_then(Value::as_str).unwrap());
            match compile(case.get("inputSchema").unwrap(), Options::default()) {
                Some(schema) => cases.push(Case { name, schema, values: Vec::new() }),
                None => refused += 1,
            }
        }
    }
    Some((cases, refused))
}

/// The accepted groups of the JSON Schema test suite, in the standard's own reading.
pub fn standard() -> Option<Vec<Case>> {
    let mut cases = Vec::new();
    for name in [
        "draft2020-12",
        "draft2020-12-optional",
        "draft2020-12-optional-format",
        "draft7",
        "draft7-optional",
        "draft7-optional-format",
    ] {
        let options = Options {
            dialect: if name.contains("draft7") { Dialect::Draft07 } else { Dialect::Draft202012 },
            world: World::Open,
            formats: if name.contains("format") { Formats::Assert } else { Formats::Annotate },
        };
        for group in file(&format!("jsonschema/{name}.json"))? {
            let Some(schema) = compile(group.get("schema").unwrap(), options) else { continue };
            let text = |key: &str| group.get(key).and_then(Value::as_str).unwrap_or_default();
            let values = group.get("tests").and_then(Value::as_array).into_iter().flatten();
            let values = values
                .map(|test| {
                    (test.get("data").unwrap().clone(), test.get("valid").and_then(Value::as_bool).unwrap())
                })
                .collect();
            cases.push(Case { name: format!("{name} {}: {}", text("file"), text("group")), schema, values });
        }
    }
    Some(cases)
}

/// Schemas that are reported to break llama.cpp, those that are refused left out.
pub fn hostile() -> Option<(Vec<Case>, usize)> {
    let (mut cases, mut refused) = (Vec::new(), 0);
    for case in file("grammar/hostile-schemas.json")? {
        let name = case.get("id").and_then(Value::as_str).unwrap().to_owned();
        match compile(case.get("schema").unwrap(), Options::default()) {
            Some(schema) => cases.push(Case { name, schema, values: Vec::new() }),
            None => refused += 1,
        }
    }
    Some((cases, refused))
}

pub fn compile(source: &Value, options: Options) -> Option<Schema> {
    Schema::compile(source, &Path::Root, options, &TrustLimits::default(), &mut Findings::new())
}

/// A value, numbers of any size; nothing where the text is no strict JSON.
pub fn value(text: &str) -> Option<Value> {
    read_strict(text.as_bytes(), Profile { max_bytes: 1 << 24, max_depth: 128, numbers: Numbers::Any }).ok()
}

fn file(name: &str) -> Option<Vec<Value>> {
    let folder = std::env::var_os("CONNECTOR_CASES")
        .map_or_else(|| File::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases"), PathBuf::from);
    match std::fs::read_to_string(folder.join(name)) {
        Ok(text) => {
            let document = value(&text).unwrap_or_else(|| panic!("{name} is no JSON"));
            Some(document.get("cases").and_then(Value::as_array).unwrap().to_vec())
        }
        Err(_) if std::env::var_os("CI").is_none() => {
            println!("skipped: the suite {name} is not here");
            None
        }
        Err(error) => panic!("CI needs {name}: {error}"),
    }
}
