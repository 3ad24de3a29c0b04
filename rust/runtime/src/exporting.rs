//! What a model is shown of the tools of a session, and its calls read back.

use std::sync::Arc;

use connector_core::Refusal;
use connector_core::export::{
    Capabilities, GrammarExport, GrammarOptions, ReadCall, ToolsExport, export_grammar, export_tools,
    read_result, read_text,
};
use connector_core::json::Value;
use connector_core::toolset::{Contract, ToolSet};
use smol_str::SmolStr;

use crate::session::Session;

impl Session {
    /// Exports tools for a model of these capabilities: those of `only`, or all that may be called. The contract of
    /// the export is known to the session from here on.
    ///
    /// # Errors
    /// Those of [`export_tools`], `session.closed`.
    pub fn export_tools(
        &self,
        capabilities: &Capabilities,
        only: Option<&[SmolStr]>,
        max_chars: Option<usize>,
    ) -> Result<ToolsExport, Refusal> {
        let export = export_tools(&*self.tool_set()?, capabilities, only, max_chars, self.limits())?;
        self.issue(&export.contract)?;
        Ok(export)
    }

    /// Exports a grammar of calls to the tools of `only`, or to all that may be called.
    ///
    /// # Errors
    /// Those of [`export_grammar`], `session.closed`.
    pub fn export_grammar(
        &self,
        options: &GrammarOptions,
        only: Option<&[SmolStr]>,
    ) -> Result<GrammarExport, Refusal> {
        let export = export_grammar(&*self.tool_set()?, options, only)?;
        self.issue(&export.contract)?;
        Ok(export)
    }

    /// Reads the calls of a result of llama.rn's `completion()`, as it was given under a contract.
    ///
    /// # Errors
    /// Those of [`read_result`], `session.closed`.
    pub fn read_result(&self, contract: &str, result: &Value) -> Result<Vec<ReadCall>, Refusal> {
        let (set, contract) = self.contract(contract)?;
        read_result(&set, &contract, result, self.limits())
    }

    /// Reads the calls of a text that a grammar of this session brought about.
    ///
    /// # Errors
    /// Those of [`read_text`], `session.closed`.
    pub fn read_text(&self, contract: &str, text: &str) -> Result<Vec<ReadCall>, Refusal> {
        let (set, contract) = self.contract(contract)?;
        read_text(&set, &contract, text, self.limits())
    }

    fn tool_set(&self) -> Result<Arc<ToolSet>, Refusal> {
        self.inner.state().open()?;
        Ok(self.inner.set())
    }

    /// Makes the contract known, unless the tool set has changed since: then it is stale from the start.
    fn issue(&self, contract: &Contract) -> Result<(), Refusal> {
        let mut state = self.inner.state();
        state.open()?;
        if self.inner.set().hash() == contract.tool_set() {
            state.issue(contract.clone());
        }
        Ok(())
    }

    fn contract(&self, token: &str) -> Result<(Arc<ToolSet>, Contract), Refusal> {
        let state = self.inner.state();
        state.open()?;
        Ok((self.inner.set(), state.contract(token)?.clone()))
    }
}
