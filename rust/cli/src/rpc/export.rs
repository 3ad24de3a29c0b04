//! Exports for llama.rn, and calls read back.

use connector_core::export::{
    Capabilities, ExportedTool, GrammarExport, GrammarOptions, ReadCall, ToolChoice, ToolsExport,
};
use connector_core::json::Value;
use connector_core::shape::{Integer, List};
use connector_core::toolset::Envelope;
use connector_core::{record, words};
use connector_runtime::Session;
use smol_str::SmolStr;

use super::message::{Failure, object};
use super::schema::{changes, note_members};

/// llama.rn's number for a trigger that is a word.
const WORD: u64 = 1;

record! {
    pub(super) struct ToolsParams {
        pub(super) session: SmolStr = "session",
        capabilities: CapabilitiesParams = "capabilities",
        only: Option<List<SmolStr, 0, 10_000>> = "only",
        max_chars: Option<Integer<0, 4_294_967_295>> = "maxChars",
    }
}

record! {
    struct CapabilitiesParams {
        tools: bool = "tools",
        tool_calls: bool = "toolCalls",
        system_role: bool = "systemRole",
        parallel_tool_calls: bool = "parallelToolCalls",
        special_tokens: Option<List<SmolStr, 0, 4096>> = "specialTokens",
    }
}

record! {
    pub(super) struct GrammarParams {
        pub(super) session: SmolStr = "session",
        envelope: EnvelopeWord = "envelope",
        tool_choice: SmolStr = "toolChoice",
        parallel: bool = "parallel",
        only: Option<List<SmolStr, 0, 10_000>> = "only",
    }
}

words! {
    enum EnvelopeWord {
        Hermes = "hermes",
        Json = "json",
    }
}

record! {
    pub(super) struct ReadParams {
        pub(super) session: SmolStr = "session",
        contract: SmolStr = "contract",
        result: Option<Value> = "result",
        text: Option<SmolStr> = "text",
    }
}

/// `export.tools`.
pub(super) fn tools(session: &Session, params: ToolsParams) -> Result<Value, Failure> {
    let ToolsParams { capabilities, only, max_chars, .. } = params;
    let capabilities = Capabilities {
        tools: capabilities.tools,
        tool_calls: capabilities.tool_calls,
        system_role: capabilities.system_role,
        parallel_tool_calls: capabilities.parallel_tool_calls,
        special_tokens: capabilities.special_tokens.map(|tokens| tokens.0).unwrap_or_default(),
    };
    let room = max_chars.and_then(|max| usize::try_from(max.get()).ok());
    let only = only.as_ref().map(|only| only.0.as_slice());
    Ok(tools_value(&session.export_tools(&capabilities, only, room)?))
}

/// An export of tools, as `connector tools` prints it too.
pub(crate) fn tools_value(export: &ToolsExport) -> Value {
    let tool = |tool: &ExportedTool| tool.value.clone();
    let name = |tool: &ExportedTool| {
        object([
            ("name", tool.name.as_str().into()),
            ("modelName", tool.model_name.as_str().into()),
            ("chars", tool.chars.into()),
            ("changes", changes(&tool.changes)),
        ])
    };
    object([
        ("contract", export.contract.id().to_string().into()),
        ("mode", export.mode.as_str().into()),
        ("tools", Value::Array(export.tools.iter().map(tool).collect())),
        ("names", Value::Array(export.tools.iter().map(name).collect())),
        ("message", export.message.as_deref().map_or(Value::Null, Value::from)),
    ])
}

/// `export.grammar`.
pub(super) fn grammar(session: &Session, params: GrammarParams) -> Result<Value, Failure> {
    let GrammarParams { envelope, tool_choice, parallel, only, .. } = params;
    let envelope = match envelope {
        EnvelopeWord::Hermes => Envelope::Hermes,
        EnvelopeWord::Json => Envelope::Json,
    };
    let choice = match tool_choice.as_str() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "required" => ToolChoice::Required,
        name if name.contains('.') => ToolChoice::Named(tool_choice),
        _ => {
            let expected = "/toolChoice: expected `auto`, `none`, `required` or the full name of a tool";
            return Err(Failure::Params(expected.into()));
        }
    };
    let only = only.as_ref().map(|only| only.0.as_slice());
    Ok(grammar_value(&session.export_grammar(&GrammarOptions { envelope, choice, parallel }, only)?))
}

/// An export of a grammar, as `connector grammar` prints it too.
pub(crate) fn grammar_value(export: &GrammarExport) -> Value {
    let words = |words: &[&str]| Value::Array(words.iter().map(|word| Value::from(*word)).collect());
    let trigger = |word: &&str| object([("type", WORD.into()), ("value", (*word).into())]);
    let inexact = export
        .notes
        .iter()
        .map(|(tool, note)| object([("tool", tool.as_str().into())].into_iter().chain(note_members(note))));
    object([
        ("contract", export.contract.id().to_string().into()),
        ("gbnf", export.gbnf.as_str().into()),
        ("lazy", export.lazy.into()),
        ("triggers", Value::Array(export.triggers.iter().map(trigger).collect())),
        ("preservedTokens", words(&export.preserved)),
        ("exact", export.is_exact().into()),
        ("inexact", Value::Array(inexact.collect())),
    ])
}

/// `call.read`.
pub(super) fn read(session: &Session, params: &ReadParams) -> Result<Value, Failure> {
    let calls = match (&params.result, &params.text) {
        (Some(result), None) => session.read_result(&params.contract, result)?,
        (None, Some(text)) => session.read_text(&params.contract, text)?,
        _ => return Err(Failure::Params("give one of `result` and `text`".into())),
    };
    let call = |call: ReadCall| {
        object([
            ("id", call.id.map_or(Value::Null, Value::from)),
            ("name", call.name.into()),
            ("arguments", Value::Object(call.arguments)),
        ])
    };
    Ok(object([("calls", Value::Array(calls.into_iter().map(call).collect()))]))
}
