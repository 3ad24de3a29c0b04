//! What a model is shown, and its calls read back.

use std::sync::Arc;

use connector_core::export;
use connector_core::toolset;

use crate::error::ConnectorError;
use crate::read_json;
use crate::runtime::ConnectorRuntime;

/// What the loaded model's chat template can do, as llama.rn reports it, and the model's special tokens.
#[derive(Debug, Clone, Default, uniffi::Record)]
pub struct ModelCapabilities {
    /// The template shows tools to the model.
    pub tools: bool,
    /// The template knows how a call is written.
    pub tool_calls: bool,
    /// The template has a place for a system message.
    #[uniffi(default = false)]
    pub system_role: bool,
    /// The template knows several calls in one answer.
    #[uniffi(default = false)]
    pub parallel_tool_calls: bool,
    /// Control tokens of the model, beyond the known families.
    #[uniffi(default)]
    pub special_tokens: Vec<String>,
}

/// How an export is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum ExportMode {
    /// `completion({messages, tools, jinja: true})`.
    Tools,
    /// `getFormattedChat` with these tools, then `completion` with a grammar of `exportGrammar`.
    Grammar,
    /// The loaded model cannot call tools; `message` says so.
    Unavailable,
}

/// Tools for llama.rn.
#[derive(Debug, Clone, uniffi::Record)]
pub struct ToolsExport {
    /// Brought back with every call.
    pub contract: String,
    /// How it is used.
    pub mode: ExportMode,
    /// JSON text: the array `tools` of `completion()`.
    pub tools: String,
    /// What the application, or a person, should know.
    pub message: Option<String>,
}

/// How the template of the model writes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum Envelope {
    /// `<tool_call>{"name", "arguments"}</tool_call>`
    Hermes,
    /// `{"name", "arguments"}`
    Json,
}

/// Whether a call has to be made.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Enum)]
pub enum ToolChoice {
    /// As the model likes.
    Auto,
    /// None may be made.
    None,
    /// At least one.
    Required,
    /// One of this tool, by its full name.
    Named {
        /// The name.
        name: String,
    },
}

/// A grammar of whole calls for llama.rn.
#[derive(Debug, Clone, uniffi::Record)]
pub struct GrammarExport {
    /// Brought back with every call; text is read as calls under it.
    pub contract: String,
    /// `grammar`, in GBNF; empty where no call may be made.
    pub gbnf: String,
    /// `grammar_lazy`.
    pub lazy: bool,
    /// The texts that wake a lazy grammar: `grammar_triggers` of type word.
    pub triggers: Vec<String>,
    /// `preserved_tokens`: words that may be one token of the model, which then must come through as text.
    pub preserved_tokens: Vec<String>,
    /// Whether the grammar takes exactly the calls that the core takes, and not more.
    pub exact: bool,
}

/// A call that a model made, of a tool that was exported. Whether its arguments fit is judged by `plan`. Not printable,
/// since it holds values.
#[derive(uniffi::Object)]
pub struct ReadCall {
    id: Option<String>,
    name: String,
    arguments: String,
}

#[uniffi::export]
impl ReadCall {
    /// The id that the model gave the call.
    pub fn id(&self) -> Result<Option<String>, ConnectorError> {
        Ok(self.id.clone())
    }

    /// The full name of the tool.
    pub fn name(&self) -> Result<String, ConnectorError> {
        Ok(self.name.clone())
    }

    /// The JSON text of the arguments, an object.
    pub fn arguments(&self) -> Result<String, ConnectorError> {
        Ok(self.arguments.clone())
    }
}

impl ReadCall {
    fn of(call: export::ReadCall) -> Arc<Self> {
        let arguments = connector_core::json::Value::Object(call.arguments).to_text();
        Arc::new(Self { id: call.id, name: call.name.to_string(), arguments })
    }
}

#[uniffi::export]
impl ConnectorRuntime {
    /// Exports tools for a model: those of `only` (full names), or all that may be called, within `max_chars` characters
    /// of JSON text.
    #[uniffi::method(default(only = None, max_chars = None))]
    pub fn export_tools(
        &self,
        model: ModelCapabilities,
        only: Option<Vec<String>>,
        max_chars: Option<u32>,
    ) -> Result<ToolsExport, ConnectorError> {
        let capabilities = export::Capabilities {
            tools: model.tools,
            tool_calls: model.tool_calls,
            system_role: model.system_role,
            parallel_tool_calls: model.parallel_tool_calls,
            special_tokens: model.special_tokens.into_iter().map(Into::into).collect(),
        };
        let only = names(only);
        let room = max_chars.map(|chars| usize::try_from(chars).unwrap_or(usize::MAX));
        let export = self.session()?.export_tools(&capabilities, only.as_deref(), room)?;
        let tools = export.tools.into_iter().map(|tool| tool.value).collect();
        Ok(ToolsExport {
            contract: export.contract.id().to_string(),
            mode: match export.mode {
                export::Mode::Tools => ExportMode::Tools,
                export::Mode::Grammar => ExportMode::Grammar,
                export::Mode::Unavailable => ExportMode::Unavailable,
            },
            tools: connector_core::json::Value::Array(tools).to_text(),
            message: export.message,
        })
    }

    /// Exports a grammar of calls to the tools of `only`, or to all that may be called.
    #[uniffi::method(default(parallel = false, only = None))]
    pub fn export_grammar(
        &self,
        envelope: Envelope,
        choice: ToolChoice,
        parallel: bool,
        only: Option<Vec<String>>,
    ) -> Result<GrammarExport, ConnectorError> {
        let options = export::GrammarOptions {
            envelope: match envelope {
                Envelope::Hermes => toolset::Envelope::Hermes,
                Envelope::Json => toolset::Envelope::Json,
            },
            choice: match choice {
                ToolChoice::Auto => export::ToolChoice::Auto,
                ToolChoice::None => export::ToolChoice::None,
                ToolChoice::Required => export::ToolChoice::Required,
                ToolChoice::Named { name } => export::ToolChoice::Named(name.into()),
            },
            parallel,
        };
        let export = self.session()?.export_grammar(&options, names(only).as_deref())?;
        Ok(GrammarExport {
            exact: export.is_exact(),
            contract: export.contract.id().to_string(),
            gbnf: export.gbnf,
            lazy: export.lazy,
            triggers: export.triggers.into_iter().map(Into::into).collect(),
            preserved_tokens: export.preserved.into_iter().map(Into::into).collect(),
        })
    }

    /// Reads the calls of a result of llama.rn's `completion()`, given as JSON text, under the contract of its export. An
    /// answer without calls gives none; one that is not whole calls is an error, and nothing of it is taken.
    pub fn read_calls(&self, contract: String, result: String) -> Result<Vec<Arc<ReadCall>>, ConnectorError> {
        let result = read_json(&result)?;
        let calls = self.session()?.read_result(&contract, &result)?;
        Ok(calls.into_iter().map(ReadCall::of).collect())
    }

    /// Reads the calls of a text that a grammar of `exportGrammar` brought about.
    pub fn read_calls_in_text(
        &self,
        contract: String,
        text: String,
    ) -> Result<Vec<Arc<ReadCall>>, ConnectorError> {
        let calls = self.session()?.read_text(&contract, &text)?;
        Ok(calls.into_iter().map(ReadCall::of).collect())
    }
}

fn names(only: Option<Vec<String>>) -> Option<Vec<smol_str::SmolStr>> {
    only.map(|names| names.into_iter().map(Into::into).collect())
}
