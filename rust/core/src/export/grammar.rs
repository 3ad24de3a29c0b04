//! A grammar of whole calls.

use smol_str::SmolStr;

use super::{Names, chosen};
use crate::schema::{CallFrame, Note, Schema, call_grammar};
use crate::toolset::{Contract, Envelope, InText, ToolSet};
use crate::{Code, Refusal};

/// The most calls of one answer.
pub(super) const MOST: u64 = 8;

/// Whether the model has to call a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes: the grammar waits for its trigger.
    Auto,
    /// It may not call any.
    None,
    /// It has to call one.
    Required,
    /// It has to call this one, by its full name.
    Named(SmolStr),
}

/// What a grammar is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrammarOptions {
    /// How the template of the loaded model writes a call.
    pub envelope: Envelope,
    /// Whether a call has to be made.
    pub choice: ToolChoice,
    /// Whether several calls may be made at once.
    pub parallel: bool,
}

/// A grammar of calls, as `completion()` takes it.
#[derive(Debug, Clone)]
pub struct GrammarExport {
    /// What may be called; text is read as calls under it.
    pub contract: Contract,
    /// `grammar`: empty where no call may be made.
    pub gbnf: String,
    /// `grammar_lazy`: the grammar begins at a trigger.
    pub lazy: bool,
    /// Words of `grammar_triggers` (type 1), as the call begins with them.
    pub triggers: Vec<&'static str>,
    /// `preserved_tokens`: words that may be one token of the model, which then must come through as text.
    pub preserved: Vec<&'static str>,
    /// Where the grammar takes more than the schema of a tool, by the tool's full name.
    pub notes: Vec<(SmolStr, Note)>,
}

impl GrammarExport {
    /// Whether every call that the grammar lets through has arguments that its schema accepts.
    pub fn is_exact(&self) -> bool {
        self.notes.is_empty()
    }
}

/// Exports a grammar of calls to the tools of `only`, or to all that may be called.
///
/// # Errors
/// `export.unknown`, also for the named tool; `export.too_large` when the grammar is too large.
pub fn export_grammar(
    set: &ToolSet,
    options: &GrammarOptions,
    only: Option<&[SmolStr]>,
) -> Result<GrammarExport, Refusal> {
    let GrammarOptions { envelope, choice, parallel } = options;
    let mut tools = chosen(set, only)?;
    match choice {
        ToolChoice::Auto | ToolChoice::Required => {}
        ToolChoice::None => tools.clear(),
        ToolChoice::Named(name) => {
            tools.retain(|tool| tool.tool.full_name() == name);
            if tools.is_empty() {
                let reason =
                    "the tool that has to be called is not installed, not granted, or not among `only`";
                return Err(Refusal::new(Code::ExportUnknown, reason));
            }
        }
    }
    let lazy = *choice == ToolChoice::Auto && !tools.is_empty();
    let in_text = InText { envelope: *envelope, several: *parallel, lazy };
    let contract =
        set.contract_of(tools.iter().map(|tool| tool.tool.full_name().as_str())).in_text_as(in_text);
    if tools.is_empty() {
        if matches!(choice, ToolChoice::Required) {
            return Err(Refusal::new(Code::ExportUnknown, "a call is required and there is no tool to call"));
        }
        let (triggers, preserved, notes) = (Vec::new(), Vec::new(), Vec::new());
        return Ok(GrammarExport { contract, gbnf: String::new(), lazy, triggers, preserved, notes });
    }
    let names = Names::of(set);
    let named: Vec<(SmolStr, &Schema)> = tools
        .iter()
        .filter_map(|tool| {
            Some((names.model_name(tool.tool.full_name())?.clone(), tool.tool.parameters().schema()))
        })
        .collect();
    let frame = frame(*envelope, *parallel);
    let grammar = call_grammar(&frame, &named).map_err(|refusal| too_large(&refusal, &named))?;
    let full = |place: usize| tools.get(place).map(|tool| tool.tool.full_name().clone()).unwrap_or_default();
    let notes = grammar.notes.into_iter().map(|(place, note)| (full(place), note)).collect();
    let (trigger, mut preserved) = match (envelope, parallel) {
        (Envelope::Hermes, _) => (OPEN, vec![OPEN, CLOSE]),
        (Envelope::Json, false) => ("{\"name\":", Vec::new()),
        (Envelope::Json, true) => ("[{\"name\":", Vec::new()),
    };
    let triggers = if lazy { vec![trigger] } else { Vec::new() };
    // A trigger that is one token of the model and not preserved ends llama.rn's process.
    preserved.extend(triggers.iter().filter(|trigger| **trigger != OPEN));
    Ok(GrammarExport { contract, gbnf: grammar.text, lazy, triggers, preserved, notes })
}

/// What begins a call, and what ends it.
pub(super) const OPEN: &str = "<tool_call>";
pub(super) const CLOSE: &str = "</tool_call>";

fn frame(envelope: Envelope, parallel: bool) -> CallFrame {
    let most = if parallel { MOST } else { 1 };
    match envelope {
        Envelope::Hermes => CallFrame {
            open: "",
            before: "<tool_call>\n",
            after: "\n</tool_call>",
            between: "\n",
            blank: false,
            close: "",
            most,
        },
        Envelope::Json => {
            let (open, close) = if parallel { ("[", "]") } else { ("", "") };
            CallFrame { open, before: "", after: "", between: ",", blank: true, close, most }
        }
    }
}

fn too_large(refusal: &Refusal, tools: &[(SmolStr, &Schema)]) -> Refusal {
    let size = |schema: &Schema| schema.to_grammar().map_or(usize::MAX, |grammar| grammar.text.len());
    let mut sizes: Vec<(usize, &SmolStr)> = tools.iter().map(|(name, schema)| (size(schema), name)).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let list: Vec<String> = sizes.iter().take(16).map(|(bytes, name)| format!("{name} {bytes}")).collect();
    let reason = format!(
        "{}; bytes of the largest: {}. Export fewer tools with `only`.",
        refusal.reason,
        list.join(", ")
    );
    Refusal::new(Code::ExportTooLarge, reason)
}
