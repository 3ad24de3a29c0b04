//! One message: reading a request, writing an answer.

use connector_core::json::{Locator, Numbers, Object, Path, Profile, Value, read};
use connector_core::shape::{Reading, Shape};
use connector_core::{Finding, Findings, Refusal, TrustLimits};

/// The most bytes of one message: a manifest of the largest size in base64, and room for what stands around it.
pub(crate) const MAX_BYTES: usize = 8 << 20;

const PROFILE: Profile = Profile { max_bytes: MAX_BYTES, max_depth: 128, numbers: Numbers::Any };

/// A request. Without an id it is a notification, and no answer is written.
pub(crate) struct Request {
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    params: Value,
}

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The message is not JSON within the limits (-32700): the rule that it breaks.
    Parse(&'static str),
    /// The message is not a request (-32600).
    Request(String),
    /// No such method, or not in this build (-32601).
    Method,
    /// The parameters are not those of the method (-32602).
    Params(String),
    /// A defect of the core (-32603).
    Internal,
    /// The core refuses (1). The findings are in the shape of an answer, located where there is a source text.
    Refused(Box<Refusal>, Value),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let findings = findings(&refusal.findings, None);
        Self::Refused(Box::new(refusal), findings)
    }
}

impl Failure {
    /// A refusal whose findings speak of this text.
    pub(crate) fn about(refusal: Refusal, source: &[u8]) -> Self {
        let findings = findings(&refusal.findings, Some(source));
        Self::Refused(Box::new(refusal), findings)
    }
}

impl Request {
    /// Reads one line. A failure comes with the id, as far as one could be read.
    pub(crate) fn read(line: &[u8]) -> Result<Self, (Value, Failure)> {
        let (value, findings) = read(line, PROFILE);
        let broken = findings.list().iter().find(|finding| finding.is_error());
        let Some(value) = value else {
            return Err((
                Value::Null,
                Failure::Parse(broken.map_or("json.syntax", |finding| finding.rule.id)),
            ));
        };
        let Value::Object(object) = value else {
            return Err((
                Value::Null,
                Failure::Request("a message is one object; batches are not taken".into()),
            ));
        };
        let id = object.get("id").cloned();
        if !matches!(id, None | Some(Value::Null | Value::String(_) | Value::Number(_))) {
            return Err((Value::Null, Failure::Request("an id is a string, a number or null".into())));
        }
        let refuse = |reason: String| Err((id.clone().unwrap_or(Value::Null), Failure::Request(reason)));
        if let Some(finding) = broken {
            return refuse(format!("{} ({})", finding.message, finding.rule.id));
        }
        if object.keys().any(|name| !["jsonrpc", "id", "method", "params"].contains(&name.as_str())) {
            return refuse(
                "a message has the members `jsonrpc`, `id`, `method` and `params`, and no others".into(),
            );
        }
        if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return refuse("`jsonrpc` is \"2.0\"".into());
        }
        let Some(method) = object.get("method").and_then(Value::as_str).map(str::to_owned) else {
            return refuse("`method` is a string".into());
        };
        let params = match object.get("params") {
            None => Value::Object(Object::new()),
            Some(params @ Value::Object(_)) => params.clone(),
            Some(_) => return refuse("`params` is an object".into()),
        };
        Ok(Self { id, method, params })
    }

    /// The parameters as a type; members that it does not know are a failure.
    pub(crate) fn params<T: Shape>(&self) -> Result<T, Failure> {
        let (limits, mut findings) = (TrustLimits::default(), Findings::new());
        let read =
            T::read(&self.params, &Path::Root, &mut Reading { limits: &limits, findings: &mut findings });
        read.filter(|_| !findings.has_errors()).ok_or_else(|| {
            let each = |finding: &Finding| match finding.pointer.as_str() {
                "" => finding.message.clone(),
                pointer => format!("{pointer}: {}", finding.message),
            };
            Failure::Params(findings.list().iter().take(8).map(each).collect::<Vec<_>>().join("; "))
        })
    }
}

/// The line of an answer, without its line break.
pub(crate) fn answer(id: &Value, result: Result<Value, Failure>) -> String {
    let outcome = match result {
        Ok(result) => ("result", result),
        Err(failure) => ("error", error(failure)),
    };
    object([("jsonrpc", "2.0".into()), ("id", id.clone()), outcome]).to_text()
}

/// The line of a notification to the other side.
pub(crate) fn notification(method: &str, params: Value) -> String {
    object([("jsonrpc", "2.0".into()), ("method", method.into()), ("params", params)]).to_text()
}

fn error(failure: Failure) -> Value {
    let (code, message, data) = match failure {
        Failure::Parse(rule) => {
            (-32700, format!("the line is not one strict JSON text of at most 8 MiB ({rule})"), None)
        }
        Failure::Request(reason) => (-32600, reason, None),
        Failure::Method => (-32601, "no such method in this build".to_owned(), None),
        Failure::Params(reason) => (-32602, reason, None),
        Failure::Internal => (-32603, "the core failed; this is a defect".to_owned(), None),
        Failure::Refused(refusal, findings) => (1, refusal.reason.clone(), Some(refused(&refusal, findings))),
    };
    let members = [("code", Value::from(i64::from(code))), ("message", message.into())];
    object(members.into_iter().chain(data.map(|data| ("data", data))))
}

fn refused(refusal: &Refusal, findings: Value) -> Value {
    let mut members =
        vec![("code", refusal.code.as_str().into()), ("reason", refusal.reason.as_str().into())];
    members.extend(refusal.advice.as_deref().map(|advice| ("advice", advice.into())));
    if !refusal.findings.is_empty() {
        members.push(("findings", findings));
    }
    object(members)
}

/// Findings in the shape of the page; with line and column where the source text is at hand.
pub(crate) fn findings(list: &[Finding], source: Option<&[u8]>) -> Value {
    let located = source.map(|source| (source, Locator::new(source, list)));
    let each = |(index, finding): (usize, &Finding)| {
        let mut members = vec![
            ("rule", Value::from(finding.rule.id)),
            ("severity", finding.rule.severity.as_str().into()),
            ("pointer", finding.pointer.as_str().into()),
        ];
        if let Some((source, locator)) = &located {
            let position = locator.position(source, index);
            members.push(("line", position.line.into()));
            members.push(("column", position.column.into()));
        }
        members.push(("message", finding.message.as_str().into()));
        members.push(("help", finding.rule.help.into()));
        object(members)
    };
    Value::Array(list.iter().enumerate().map(each).collect())
}

/// An object of an answer.
pub(crate) fn object<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    Value::Object(members.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> (String, i64) {
        let (id, failure) = Request::read(line.as_bytes()).err().unwrap();
        let error = error(failure);
        let code =
            error.get("code").and_then(Value::as_number).and_then(connector_core::json::Number::as_integer);
        (id.to_text(), i64::try_from(code.unwrap()).unwrap())
    }

    #[test]
    fn what_is_no_request_is_told_apart() {
        assert_eq!(refused("{"), ("null".to_owned(), -32700));
        assert_eq!(refused(&"[".repeat(200)), ("null".to_owned(), -32700));
        assert_eq!(refused("[]"), ("null".to_owned(), -32600));
        for (line, id) in [
            (r#"{"jsonrpc": "2.0", "id": [1], "method": "x"}"#, "null"),
            (r#"{"jsonrpc": "1.0", "id": 1, "method": "x"}"#, "1"),
            (r#"{"id": "a", "method": "x"}"#, "\"a\""),
            (r#"{"jsonrpc": "2.0", "id": 2}"#, "2"),
            (r#"{"jsonrpc": "2.0", "id": 2, "method": "x", "params": [1]}"#, "2"),
            (r#"{"jsonrpc": "2.0", "id": 2, "method": "x", "parms": {}}"#, "2"),
            (r#"{"jsonrpc": "2.0", "id": 3, "method": "x", "params": {"a": 1, "a": 2}}"#, "3"),
            (r#"{"jsonrpc": "2.0", "method": 1}"#, "null"),
        ] {
            assert_eq!(refused(line), (id.to_owned(), -32600), "{line}");
        }
    }
}
