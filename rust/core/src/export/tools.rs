//! `tools` for llama.rn's `completion()`.

use smol_str::SmolStr;

use super::{EXPORT_SIZE, Names, chosen};
use crate::json::{Object, Path, Value};
use crate::rule::Findings;
use crate::schema::Change;
use crate::text::{Cleaner, Context, ModelTokens};
use crate::toolset::{Contract, ToolRef, ToolSet};
use crate::{Code, Refusal, TrustLimits};

/// What the loaded model's chat template can do, as llama.rn reports it in
/// `model.chatTemplates.jinja.defaultCaps` (or `toolUseCaps` where `toolUse` is set), and the model's special tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// The template shows tools to the model.
    pub tools: bool,
    /// The template knows how a call is written.
    pub tool_calls: bool,
    /// The template has a place for a system message.
    pub system_role: bool,
    /// The template knows several calls in one answer.
    pub parallel_tool_calls: bool,
    /// Control tokens of the model, beyond the known families.
    pub special_tokens: Vec<SmolStr>,
}

/// How an export is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `completion({messages, tools, jinja: true})`: llama.rn writes its own grammar and reads the calls.
    Tools,
    /// The template shows tools and does not say how a call is written: `getFormattedChat` with these tools, then
    /// `completion` with a grammar of ours.
    Grammar,
    /// The loaded model cannot call tools.
    Unavailable,
}

impl Mode {
    /// `tools`, `grammar` or `unavailable`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Grammar => "grammar",
            Self::Unavailable => "unavailable",
        }
    }
}

/// An export of tools.
#[derive(Debug, Clone)]
pub struct ToolsExport {
    /// What was shown; calls are planned under it.
    pub contract: Contract,
    /// How it is used.
    pub mode: Mode,
    /// The tools, none where the model cannot call any.
    pub tools: Vec<ExportedTool>,
    /// What the application, or a person, should know.
    pub message: Option<String>,
}

/// One tool as a model is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedTool {
    /// The full name, `id.tool`.
    pub name: SmolStr,
    /// The name for the model.
    pub model_name: SmolStr,
    /// `{"type": "function", "function": {"name", "description", "parameters"}}`.
    pub value: Value,
    /// In what its parameters differ from those of the manifest.
    pub changes: Vec<Change>,
    /// The characters of its JSON text.
    pub chars: usize,
}

/// Exports the tools of `only`, or all that may be called, for a model of these capabilities. `max_chars` is the room
/// for their JSON text, in Unicode scalar values.
///
/// # Errors
/// `export.unknown`; `export.too_large`, whose findings list the size of each tool.
pub fn export_tools(
    set: &ToolSet,
    capabilities: &Capabilities,
    only: Option<&[SmolStr]>,
    max_chars: Option<usize>,
    limits: &TrustLimits,
) -> Result<ToolsExport, Refusal> {
    let chosen = chosen(set, only)?;
    if !capabilities.tools {
        let message = "The chat template of the loaded model has no place for tools, so the model cannot call any. \
                       Load a model whose template supports tools.";
        let contract = set.contract_of([]);
        let (mode, message) = (Mode::Unavailable, Some(message.to_owned()));
        return Ok(ToolsExport { contract, mode, tools: Vec::new(), message });
    }
    let names = Names::of(set);
    let tokens = ModelTokens::new(&capabilities.special_tokens);
    let cleaner = Cleaner::new(Context::Description, &tokens);
    let exported = chosen.iter().filter_map(|tool| exported(*tool, &names, &cleaner, &tokens, limits));
    let tools: Vec<ExportedTool> = exported.collect();
    fits(&tools, max_chars)?;
    let contract = set.contract_of(tools.iter().map(|tool| tool.name.as_str()));
    let (mode, message) = if capabilities.tool_calls {
        (Mode::Tools, None)
    } else {
        let message = "The chat template of the loaded model shows tools and does not say how a call is written: use a \
                       grammar export with the envelope `json`, and read calls from the text.";
        (Mode::Grammar, Some(message.to_owned()))
    };
    Ok(ToolsExport { contract, mode, tools, message })
}

fn exported(
    ToolRef { tool, .. }: ToolRef<'_>,
    names: &Names,
    cleaner: &Cleaner,
    tokens: &ModelTokens,
    limits: &TrustLimits,
) -> Option<ExportedTool> {
    let name = tool.full_name();
    let model_name = names.model_name(name)?;
    let safe = tool.parameters().schema().to_safe(cleaner);
    let (mut parameters, mut changes) = (safe.schema, safe.changes);
    if holds_token(&parameters, tokens) {
        // Names and constants cannot be cleaned: they would no longer be what the schema takes.
        parameters = Value::Object([("type", "object".into())].into_iter().collect());
        let reason = "any object: a name or a constant holds a control token of the loaded model".to_owned();
        changes = vec![Change { pointer: String::new(), reason }];
    }
    let description = cleaner.clean(tool.description(), limits.description_chars).text;
    let function: Object = [
        ("name", Value::String(model_name.clone())),
        ("description", description.into()),
        ("parameters", parameters),
    ]
    .into_iter()
    .collect();
    let value =
        Value::Object([("type", "function".into()), ("function", function.into())].into_iter().collect());
    let chars = value.to_text().chars().count();
    Some(ExportedTool { name: name.clone(), model_name: model_name.clone(), value, changes, chars })
}

fn holds_token(value: &Value, tokens: &ModelTokens) -> bool {
    match value {
        Value::String(text) => tokens.occurs_in(text),
        Value::Array(items) => items.iter().any(|item| holds_token(item, tokens)),
        Value::Object(object) => {
            object.iter().any(|(name, value)| tokens.occurs_in(name) || holds_token(value, tokens))
        }
        _ => false,
    }
}

/// Refuses what takes more room than there is, with the size of each tool, the largest first.
fn fits(tools: &[ExportedTool], max_chars: Option<usize>) -> Result<(), Refusal> {
    // The brackets, and a comma between two.
    let total = tools.iter().map(|tool| tool.chars + 1).sum::<usize>().max(1) + 1;
    let Some(room) = max_chars.filter(|room| *room < total) else { return Ok(()) };
    let mut sizes: Vec<(&SmolStr, usize)> = tools.iter().map(|tool| (&tool.name, tool.chars)).collect();
    sizes.sort_by_key(|(_, chars)| std::cmp::Reverse(*chars));
    let mut findings = Findings::new();
    for (name, chars) in &sizes {
        let message = format_args!("`{name}` takes {chars} characters");
        findings.add(&EXPORT_SIZE, &Path::Root.name(name), message);
    }
    let list: Vec<String> = sizes.iter().map(|(name, chars)| format!("{name} {chars}")).collect();
    let reason = format!(
        "the tools take {total} characters and there is room for {room}; each takes: {}. Export fewer with `only`.",
        list.join(", ")
    );
    Err(Refusal::new(Code::ExportTooLarge, reason).with_findings(findings.into_list()))
}
