//! Calls, read back from what llama.rn gives: all of an answer or none.

use std::fmt;

use smol_str::SmolStr;

use super::Names;
use super::fence::is_code_open;
use super::grammar::{CLOSE, MOST as MOST_IN_TEXT, OPEN};
use crate::json::{Numbers, Object, Profile, Value, read_strict};
use crate::toolset::{Contract, Envelope, InText, ToolSet};
use crate::{Code, Refusal, TrustLimits};

/// The most calls that one answer may hold.
const MOST: usize = 64;

const IN_CODE: &str = "the call stands in code (a fence, or backticks), where nothing is read as one";
const NO_CALL: &str = "a call was required, and the answer has none";
const SECOND: &str = "a second call follows where one was to be made";
const TOO_MANY: &str = "the answer holds more calls than are taken at once";

/// A call of a known tool with arguments that are one JSON object. What the schema says of them is asked when the call
/// is planned. Not printable, since it holds argument values.
#[derive(Clone, PartialEq, Eq)]
pub struct ReadCall {
    /// The id that the model or llama.rn gave the call.
    pub id: Option<String>,
    /// The full name of the tool.
    pub name: SmolStr,
    /// The arguments.
    pub arguments: Object,
}

impl fmt::Debug for ReadCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadCall").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads a result of llama.rn's `completion()`: its `tool_calls`, or, under the contract of a grammar and where there
/// are none, its `text`. An answer without calls gives none.
///
/// # Errors
/// `contract.stale`; `call.invalid` for anything that is not whole calls, an answer that was cut among them;
/// `call.not_exported`.
pub fn read_result(
    set: &ToolSet,
    contract: &Contract,
    result: &Value,
    limits: &TrustLimits,
) -> Result<Vec<ReadCall>, Refusal> {
    let reader = Reader::new(set, contract, limits)?;
    let Value::Object(result) = result else {
        return Err(invalid("the result is not an object as `completion()` gives it"));
    };
    let calls = match result.get("tool_calls") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(calls)) => calls.as_slice(),
        Some(_) => return Err(invalid("`tool_calls` is not a list")),
    };
    let text = match result.get("text") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => return Err(invalid("`text` is not a string")),
    };
    let in_text = contract.in_text().filter(|_| contract.names().len() > 0);
    if calls.is_empty() {
        let Some(in_text) = in_text else { return Ok(Vec::new()) };
        let text = text.unwrap_or_default();
        was_cut(result, contains_start(text, in_text))?;
        return reader.text(text, in_text);
    }
    was_cut(result, true)?;
    if let Some(in_text) = in_text {
        // llama.rn's parser takes calls out of code too.
        if let Some(start) = text.and_then(|text| start(text, in_text))
            && is_code_open(text.and_then(|text| text.get(..start)).unwrap_or_default())
        {
            return Err(invalid(IN_CODE));
        }
        if !in_text.several && calls.len() > 1 {
            return Err(invalid(SECOND));
        }
    }
    if calls.len() > most(in_text) {
        return Err(invalid(TOO_MANY));
    }
    calls.iter().map(|call| reader.listed(call)).collect()
}

/// The most calls of one answer: no grammar of ours writes more than a few.
fn most(in_text: Option<InText>) -> usize {
    in_text.map_or(MOST, |_| usize::try_from(MOST_IN_TEXT).unwrap_or(MOST))
}

/// Reads a text that a grammar of ours brought about.
///
/// # Errors
/// Those of [`read_result`]; `call.invalid` where the contract is not that of a grammar.
pub fn read_text(
    set: &ToolSet,
    contract: &Contract,
    text: &str,
    limits: &TrustLimits,
) -> Result<Vec<ReadCall>, Refusal> {
    let reader = Reader::new(set, contract, limits)?;
    let Some(in_text) = contract.in_text() else {
        return Err(invalid("text is read as calls only after an export of a grammar, under its contract"));
    };
    if contract.names().len() == 0 {
        return Ok(Vec::new());
    }
    reader.text(text, in_text)
}

/// An answer that ended before the model did holds half a call, or half of its calls.
fn was_cut(result: &Object, matters: bool) -> Result<(), Refusal> {
    let is_set = |name: &&&str| match result.get(name) {
        None | Some(Value::Null) => false,
        Some(Value::Bool(flag)) => *flag,
        Some(Value::Number(number)) => number.to_f64() != 0.0,
        // No release writes anything else; what is not understood takes no call.
        Some(_) => true,
    };
    match ["interrupted", "stopped_limit", "stopped_limited", "context_full"].iter().find(is_set) {
        Some(name) if matters => {
            let reason =
                format!("the answer was cut before its end (`{name}`), so none of its calls is taken");
            Err(Refusal::new(Code::CallInvalid, reason))
        }
        _ => Ok(()),
    }
}

fn contains_start(text: &str, in_text: InText) -> bool {
    !in_text.lazy || start(text, in_text).is_some()
}

/// Where the calls of a text begin.
fn start(text: &str, in_text: InText) -> Option<usize> {
    text.find(match (in_text.envelope, in_text.several) {
        (Envelope::Hermes, _) => OPEN,
        (Envelope::Json, false) => "{\"name\":",
        (Envelope::Json, true) => "[{\"name\":",
    })
}

fn invalid(reason: &str) -> Refusal {
    Refusal::new(Code::CallInvalid, reason)
}

struct Reader<'a> {
    names: Names,
    contract: &'a Contract,
    limits: &'a TrustLimits,
}

impl<'a> Reader<'a> {
    fn new(set: &ToolSet, contract: &'a Contract, limits: &'a TrustLimits) -> Result<Self, Refusal> {
        if contract.tool_set() != set.hash() {
            let reason = "the contract is of another tool set: export the tools again";
            return Err(Refusal::new(Code::ContractStale, reason));
        }
        Ok(Self { names: Names::of(set), contract, limits })
    }

    /// A call of `tool_calls`.
    fn listed(&self, call: &Value) -> Result<ReadCall, Refusal> {
        let Some(function) = call.get("function").and_then(Value::as_object) else {
            return Err(invalid("a call of `tool_calls` has no `function`"));
        };
        let id = match call.get("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if id.is_empty() => None,
            Some(Value::String(id)) => Some(id.to_string()),
            Some(_) => return Err(invalid("the `id` of a call is not a string")),
        };
        let arguments = match function.get("arguments") {
            // llama.rn writes `{}` for a call without any (its mapper begins them with a brace at the tool's name):
            // nothing at all is an answer that was lost on the way.
            None | Some(Value::Null) => return Err(no_arguments()),
            Some(Value::String(text)) if text.trim().is_empty() => return Err(no_arguments()),
            Some(Value::String(text)) => self.object(text, "the arguments of a call")?,
            // By its text, so that the same limits hold.
            Some(object @ Value::Object(_)) => self.object(&object.to_text(), "the arguments of a call")?,
            Some(_) => {
                return Err(invalid("the arguments of a call are neither an object nor its JSON text"));
            }
        };
        Ok(ReadCall { id, name: self.full_name(function.get("name"))?, arguments })
    }

    fn full_name(&self, name: Option<&Value>) -> Result<SmolStr, Refusal> {
        let Some(Value::String(name)) = name else { return Err(invalid("a call has no name")) };
        let full = self.names.full_name(name).filter(|full| self.contract.shows(full));
        full.cloned().ok_or_else(|| {
            Refusal::new(Code::CallNotExported, "the call names a tool that the export did not show")
                .advise("Call only tools of the list that you were given, by their exact names.")
        })
    }

    fn object(&self, text: &str, what: &str) -> Result<Object, Refusal> {
        match self.json(text, what)? {
            Value::Object(object) => Ok(object),
            other => Err(invalid(&format!("{what} are a JSON {}, not an object", other.kind()))),
        }
    }

    fn json(&self, text: &str, what: &str) -> Result<Value, Refusal> {
        let profile = Profile {
            max_bytes: self.limits.argument_bytes,
            max_depth: self.limits.json_depth,
            // Which numbers may be sent is asked of the arguments when the call is planned.
            numbers: Numbers::Any,
        };
        read_strict(text.as_bytes(), profile).map_err(|refusal| {
            let rule = refusal.findings.first().map_or("json.syntax", |finding| finding.rule.id);
            invalid(&format!("{what}: not one strict JSON text within the limits ({rule})"))
                .advise("Write each call as one JSON object, without repeated names.")
        })
    }

    fn text(&self, text: &str, in_text: InText) -> Result<Vec<ReadCall>, Refusal> {
        let start = match start(text, in_text) {
            Some(start) if in_text.lazy => start,
            None if in_text.lazy => return Ok(Vec::new()),
            _ if text.trim().is_empty() => return Err(invalid(NO_CALL)),
            // Where no text may come before the call, code may not either; it is told as what it is.
            start => match start {
                Some(start) if is_code_open(text.get(..start).unwrap_or_default()) => start,
                _ => 0,
            },
        };
        if is_code_open(text.get(..start).unwrap_or_default()) {
            return Err(invalid(IN_CODE));
        }
        let rest = text.get(start..).unwrap_or_default();
        match in_text.envelope {
            Envelope::Hermes => self.tagged(rest, in_text.several),
            Envelope::Json => self.plain(rest, in_text.several),
        }
    }

    /// Calls between tags.
    fn tagged(&self, mut rest: &str, several: bool) -> Result<Vec<ReadCall>, Refusal> {
        let mut calls = Vec::new();
        loop {
            let Some(inside) = rest.strip_prefix(OPEN) else {
                return Err(invalid(if calls.is_empty() { NO_START } else { MORE_TEXT }));
            };
            let (object, after) = split(inside.trim_start())?;
            let Some(after) = after.trim_start().strip_prefix(CLOSE) else {
                return Err(invalid(
                    "a call is not closed by its tag: the answer was cut, or other text follows",
                ));
            };
            calls.push(self.written(object)?);
            let whole = rest.strip_suffix(after).unwrap_or(rest);
            if whole != format!("{OPEN}\n{object}\n{CLOSE}") {
                return Err(invalid(SPELLING));
            }
            if after.is_empty() {
                return Ok(calls);
            }
            let next = after.trim_start();
            if !next.starts_with(OPEN) {
                return Err(invalid(if next.is_empty() { SPELLING } else { MORE_TEXT }));
            }
            if !several {
                return Err(invalid(SECOND));
            }
            if calls.len() as u64 >= MOST_IN_TEXT {
                return Err(invalid(TOO_MANY));
            }
            rest = after.strip_prefix('\n').filter(|rest| *rest == next).ok_or_else(|| invalid(SPELLING))?;
        }
    }

    /// One object, or a list of them.
    fn plain(&self, text: &str, several: bool) -> Result<Vec<ReadCall>, Refusal> {
        if text.starts_with(OPEN) {
            return Err(invalid("the call stands in tags, which the exported grammar does not write"));
        }
        let (whole, after) = split(text)?;
        if !after.trim().is_empty() {
            return Err(invalid(if after.trim_start().starts_with(['{', '[']) { SECOND } else { MORE_TEXT }));
        }
        if !after.is_empty() {
            return Err(invalid(SPELLING));
        }
        if !several {
            return Ok(vec![self.written(whole)?]);
        }
        let value = self.json(whole, "the list of calls")?;
        let Value::Array(list) = &value else { return Err(invalid("the text is not a list of calls")) };
        if list.is_empty() {
            return Err(invalid(NO_CALL));
        }
        if list.len() as u64 > MOST_IN_TEXT {
            return Err(invalid(TOO_MANY));
        }
        let calls = list.iter().map(|call| self.call(call)).collect::<Result<_, _>>()?;
        is_spelled(whole, &value)?;
        Ok(calls)
    }

    fn written(&self, text: &str) -> Result<ReadCall, Refusal> {
        let value = self.json(text, "the call")?;
        let call = self.call(&value)?;
        is_spelled(text, &value)?;
        Ok(call)
    }

    /// `{"name", "arguments"}` and nothing else, by the name that the model was shown.
    fn call(&self, call: &Value) -> Result<ReadCall, Refusal> {
        let Value::Object(call) = call else { return Err(invalid("a call is not an object")) };
        let Some(Value::Object(arguments)) = call.get("arguments") else {
            return Err(invalid("a call has no object of arguments"));
        };
        if call.len() != 2 {
            return Err(invalid("a call has other members than `name` and `arguments`"));
        }
        let name = self.full_name(call.get("name"))?;
        let shown = self.names.model_name(&name).map(SmolStr::as_str);
        let first = call.iter().next().map(|(member, value)| (member.as_str(), value.as_str()));
        if first != Some(("name", shown)) {
            return Err(invalid(SPELLING));
        }
        Ok(ReadCall { id: None, name, arguments: arguments.clone() })
    }
}

const NO_START: &str = "the text does not begin with a call";
const MORE_TEXT: &str = "other text follows the call";
const SPELLING: &str = "the call is not spelled as the exported grammar spells it: its names, their order, blanks or escapes differ";

fn no_arguments() -> Refusal {
    invalid("a call has no arguments: where there are none to give they are `{}`")
        .advise("Write the arguments of each call as one JSON object, `{}` where there are none.")
}

/// Whether a text spells a value as a grammar does: a blank or none after a comma or colon, and the escapes of
/// `JSON.stringify`. Numbers stay as they are written.
fn is_spelled(text: &str, value: &Value) -> Result<(), Refusal> {
    let mut compact = String::with_capacity(text.len());
    let (mut quoted, mut escaped, mut blank) = (false, false, false);
    for c in text.chars() {
        let skip = blank && c == ' ';
        blank = !quoted && matches!(c, ',' | ':');
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        if !skip {
            compact.push(c);
        }
    }
    if compact == value.to_text() { Ok(()) } else { Err(invalid(SPELLING)) }
}

/// The object or list at the beginning of a text, and what follows it. Whether it is JSON is asked later.
fn split(text: &str) -> Result<(&str, &str), Refusal> {
    if !text.starts_with(['{', '[']) {
        return Err(invalid(NO_START));
    }
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    let (whole, after) = text.split_at(at + 1);
                    return Ok((whole, after));
                }
            }
            _ => {}
        }
    }
    Err(invalid("the call ends before it is whole"))
}
