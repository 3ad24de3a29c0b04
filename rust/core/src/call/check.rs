//! The check of a call: contract, name, arguments.

use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::json::{Numbers, Object, Profile, Sha256, Value, read_strict};
use crate::manifest::Tool;
use crate::schema::Violation;
use crate::toolset::{Connector, Contract, ToolSet};
use crate::{Code, Refusal, TrustLimits};

/// A call as a model wrote it: nothing of it is trusted. Not printable, since it holds argument values.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The full name of a tool, `id.name`.
    pub name: String,
    /// The JSON text of the arguments, an object.
    pub arguments: String,
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").finish_non_exhaustive()
    }
}

/// A call whose tool was exported and whose arguments its schema accepts; only [`check`] makes one.
pub struct CheckedCall {
    connector: Arc<Connector>,
    name: SmolStr,
    arguments: Object,
    tool_set: Sha256,
}

impl fmt::Debug for CheckedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedCall").field("tool_set", &self.tool_set).finish_non_exhaustive()
    }
}

/// Checks a call against the tool set and the contract under which it was made.
///
/// # Errors
/// `contract.stale`, `call.not_exported`, `grant.denied`, `call.invalid` (no JSON object), `call.arguments` (the
/// schema refuses; the advice names every violation, never a value).
pub fn check(
    set: &ToolSet,
    contract: &Contract,
    call: &ToolCall,
    limits: &TrustLimits,
) -> Result<CheckedCall, Refusal> {
    if contract.tool_set() != set.hash() {
        let reason = "the contract is of another tool set: export the tools again";
        return Err(Refusal::new(Code::ContractStale, reason));
    }
    let tool = set.tool(&call.name).filter(|_| contract.shows(&call.name)).ok_or_else(|| {
        Refusal::new(Code::CallNotExported, "the call names a tool that the export did not show")
            .advise("Call only tools of the list that you were given, by their exact names.")
    })?;
    if !tool.connector.grant().allows_tool(tool.connector.id(), tool.tool.name().as_str()) {
        let reason = format!("the grant does not let `{}` be called", tool.tool.full_name());
        return Err(Refusal::new(Code::GrantDenied, reason));
    }
    let arguments = read_arguments(&call.arguments, limits)?;
    let value = Value::Object(arguments);
    if let Err(violations) = tool.tool.parameters().schema().accepts(&value) {
        return Err(refused(&call.name, &violations));
    }
    let Value::Object(arguments) = value else {
        return Err(Refusal::new(Code::CallInvalid, "the arguments are not an object"));
    };
    let (connector, name) = (Arc::clone(tool.connector), tool.tool.full_name().clone());
    Ok(CheckedCall { connector, name, arguments, tool_set: set.hash() })
}

fn read_arguments(text: &str, limits: &TrustLimits) -> Result<Object, Refusal> {
    // A model that calls a tool without parameters often writes nothing at all.
    let text = if text.trim().is_empty() { "{}" } else { text };
    let max_bytes = limits.argument_bytes;
    let profile = Profile { max_bytes, max_depth: limits.json_depth, numbers: Numbers::Exact };
    let invalid = |reason: String| {
        let advice = "Write the arguments as one JSON object, without repeated names or numbers beyond 2^53.";
        Refusal::new(Code::CallInvalid, reason).advise(advice)
    };
    match read_strict(text.as_bytes(), profile) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(invalid(format!("the arguments are a JSON {}, not an object", other.kind()))),
        // The findings of the reader may name members, and a member's name may be a secret.
        Err(refusal) => {
            let rule = refusal.findings.first().map_or("json.syntax", |finding| finding.rule.id);
            Err(invalid(format!("the arguments are not one strict JSON object within the limits ({rule})")))
        }
    }
}

fn refused(name: &str, violations: &[Violation]) -> Refusal {
    const SHOWN: usize = 8;
    let mut advice = format!("The arguments of {name} do not fit its schema:");
    for violation in violations.iter().take(SHOWN) {
        let place = if violation.pointer.is_empty() { "the arguments" } else { violation.pointer.as_str() };
        advice.push_str(&format!(" {place}: {};", violation.message));
    }
    if violations.len() > SHOWN {
        advice.push_str(&format!(" and {} more;", violations.len() - SHOWN));
    }
    advice.push_str(" call again with arguments that fit.");
    let places = match violations.len() {
        1 => "one place".to_owned(),
        count => format!("{count} places"),
    };
    let reason = format!("the schema of {name} refuses the arguments in {places}");
    Refusal::new(Code::CallArguments, reason).advise(advice)
}

impl CheckedCall {
    /// The connector.
    pub fn connector(&self) -> &Arc<Connector> {
        &self.connector
    }

    /// The tool.
    pub fn tool(&self) -> Option<&Tool> {
        self.connector.manifest().tool(&self.name)
    }

    /// The full name of the tool.
    pub fn name(&self) -> &SmolStr {
        &self.name
    }

    /// The arguments that the schema accepts.
    pub(super) fn arguments(&self) -> &Object {
        &self.arguments
    }

    /// The tool set under which the call was checked.
    pub fn tool_set(&self) -> Sha256 {
        self.tool_set
    }
}
