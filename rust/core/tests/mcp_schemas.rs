//! The input schemas of real MCP servers, read as the parameters of a tool.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and say what they counted"
)]

mod corpus;

use connector_core::json::{Numbers, Object, Path, Profile, Value, read_strict};
use connector_core::schema::{Options, Schema};
use connector_core::{Findings, TrustLimits};

const FILES: [&str; 17] = [
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

#[test]
fn real_tool_schemas_load() {
    let (mut loaded, mut refused, mut open) = (0, Vec::new(), 0);
    for file in FILES {
        let Some(text) = corpus::text(&format!("mcp-tools/{file}.json")) else { return };
        let profile = Profile { max_bytes: 1 << 24, max_depth: 64, numbers: Numbers::Exact };
        let document = read_strict(text.as_bytes(), profile).unwrap();
        for case in document.get("cases").and_then(Value::as_array).unwrap() {
            let name = case.get("name").and_then(Value::as_str).unwrap();
            let mut findings = Findings::new();
            let source = case.get("inputSchema").unwrap();
            let limits = TrustLimits::default();
            let Some(schema) = Schema::parameters(source, &Path::Root, &limits, &mut findings) else {
                let rules: Vec<_> = findings.list().iter().map(|f| format!("{f:?}")).collect();
                refused.push(format!("{file} {name}: {}", rules.join("; ")));
                continue;
            };
            loaded += 1;
            open += usize::from(schema.takes_undeclared());
            let declared = source.get("properties").and_then(Value::as_object);
            let names: Vec<_> = declared.into_iter().flat_map(Object::keys).collect();
            assert_eq!(schema.properties().iter().collect::<Vec<_>>(), names, "{file} {name}");
            let required = source.get("required").and_then(Value::as_array).unwrap_or_default();
            for property in names {
                let field = schema.field(property).unwrap();
                let must = required.iter().any(|name| name.as_str() == Some(property));
                assert_eq!(field.absent, !must, "{file} {name} {property}");
            }
            assert_eq!(schema.field("no such property"), None);
            // The same schema loads in the standard's own reading.
            let options = Options { world: connector_core::schema::World::Open, ..Options::default() };
            assert!(Schema::compile(source, &Path::Root, options, &limits, &mut findings).is_some());
        }
    }
    println!("mcp-tools: {loaded} load, {} refused, {open} take undeclared members", refused.len());
    for line in &refused {
        println!("    {line}");
    }
    assert!(loaded * 100 >= (loaded + refused.len()) * 99, "{refused:#?}");
}
