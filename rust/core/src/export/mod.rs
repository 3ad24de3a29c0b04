//! What a model is shown of the tools, and how its calls are read back: the seam to llama.rn 0.12.9.
//!
//! ```text
//! ToolSet -> names     each tool's name for the model, and the way back by table
//!         -> tools     `tools` of completion(), each schema in its safe form; or why there are none
//!         -> grammar   a grammar of whole calls, for getFormattedChat() and completion()
//! a model's answer
//!         -> read      calls by their full names, all of them or none
//! ```
//!
//! An export makes the [`Contract`](crate::toolset::Contract) that a planner brings back. Text is read as calls only
//! under the contract of a grammar: a page that a model quotes cannot become one.

mod fence;
mod grammar;
mod names;
mod read;
#[cfg(test)]
mod tests;
mod tools;

pub use grammar::{GrammarExport, GrammarOptions, ToolChoice, export_grammar};
pub use names::Names;
pub use read::{ReadCall, read_result, read_text};
pub use tools::{Capabilities, ExportedTool, Mode, ToolsExport, export_tools};

use smol_str::SmolStr;

use crate::rules;
use crate::toolset::{ToolRef, ToolSet};
use crate::{Code, Refusal};

rules! {
    EXPORT_SIZE: Error "export.size", "The tools of an export take no more characters than the host gives them.",
        "Name fewer tools in `only`, or give more room.";
}

/// The tools of an export: those that are named, in that order, or all that may be called, by name.
///
/// # Errors
/// `export.unknown`.
fn chosen<'s>(set: &'s ToolSet, only: Option<&[SmolStr]>) -> Result<Vec<ToolRef<'s>>, Refusal> {
    let all = set.contract();
    let find = |name: &str| set.tool(name).filter(|_| all.shows(name));
    let Some(only) = only else { return Ok(all.names().filter_map(|name| find(name)).collect()) };
    let mut tools: Vec<ToolRef<'s>> = Vec::new();
    for name in only {
        let Some(tool) = find(name) else {
            let reason =
                "`only` names a tool that is not installed, or that its grant does not let be called";
            return Err(Refusal::new(Code::ExportUnknown, reason));
        };
        if !tools.iter().any(|known| known.tool.full_name() == tool.tool.full_name()) {
            tools.push(tool);
        }
    }
    Ok(tools)
}
