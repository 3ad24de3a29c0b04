//! Where a request may go, how a value stands in it, and what is made of its answer.

use connector_core::json::{Object, Path, Value};
use connector_core::origin::{OriginEntry, OriginFault, Reach, classify};
use connector_core::request::{Encoded, Method, Position, encode_one};
use connector_core::response::{MapContext, Received, ResponseMap};
use connector_core::shape::{Integer, List, Reading, Shape};
use connector_core::text::{ModelTokens, Redactor};
use connector_core::{Code, Findings, Refusal, TrustLimits, record, words};
use smol_str::SmolStr;

use super::message::{Failure, object};
use super::pure::decode;
use crate::options::read_limits;

record! {
    pub(super) struct OriginParams {
        origin: SmolStr = "origin",
        user_provided: Option<Value> = "userProvided",
    }
}

record! {
    pub(super) struct AddressParams {
        address: SmolStr = "address",
        local_network: bool = "localNetwork",
        overlay_network: bool = "overlayNetwork",
        loopback: bool = "loopback",
    }
}

record! {
    pub(super) struct EncodeParams {
        position: PositionWord = "position",
        value: Value = "value",
        options: Option<Value> = "options",
    }
}

words! {
    enum PositionWord {
        Path = "path",
        Query = "query",
        Header = "header",
        Json = "json",
        Form = "form",
    }
}

record! {
    pub(super) struct MapParams {
        response: Value = "response",
        status: Integer<100, 599> = "status",
        headers: List<List<SmolStr, 2, 2>, 0, 1_024> = "headers",
        body: SmolStr = "bodyBase64",
        method: Option<MethodWord> = "method",
        limits: Option<Value> = "limits",
        secrets: Option<List<SmolStr, 0, 64>> = "secrets",
        tool: Option<SmolStr> = "tool",
    }
}

words! {
    enum MethodWord {
        Get = "GET",
        Head = "HEAD",
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
    }
}

/// `origin.parse`. Without `userProvided` the text is held to the rules of a fixed origin; with it, to what a person
/// may bind when the grant opens all local addresses.
pub(super) fn parse_origin(params: &OriginParams) -> Result<Value, Failure> {
    let refuse = |fault: OriginFault| Failure::from(fault.refusal(Code::OriginInvalid));
    let origin = match &params.user_provided {
        None => OriginEntry::fixed(&params.origin).and_then(|entry| entry.bind(None, Reach::default())),
        Some(entry) => {
            let entry = object([("userProvided", entry.clone())]);
            let entry: OriginEntry =
                read_part(&entry, Code::OriginInvalid, "`userProvided` is not as in a manifest")?;
            let reach = Reach { local_network: true, overlay_network: true, loopback: true };
            entry.bind(Some(&params.origin), reach)
        }
    };
    Ok(object([("origin", origin.map_err(refuse)?.as_str().into())]))
}

/// `address.classify`.
pub(super) fn classify_address(params: &AddressParams) -> Value {
    let AddressParams { address, local_network, overlay_network, loopback } = params;
    let reach =
        Reach { local_network: *local_network, overlay_network: *overlay_network, loopback: *loopback };
    let classified = classify(address, reach);
    object([("allowed", classified.allowed.into()), ("reason", classified.reason.into())])
}

/// `request.encode`.
pub(super) fn encode(params: &EncodeParams) -> Result<Value, Failure> {
    let position = match params.position {
        PositionWord::Path => Position::Path,
        PositionWord::Query => Position::Query,
        PositionWord::Header => Position::Header,
        PositionWord::Json => Position::Json,
        PositionWord::Form => Position::Form,
    };
    let none = Object::new();
    let options = match &params.options {
        None => &none,
        Some(Value::Object(options)) => options,
        Some(_) => return Err(Failure::Params("/options: expected an object".into())),
    };
    let encoded = encode_one(position, &params.value, options, &TrustLimits::default())?;
    let Encoded { encoded, pairs, segments, omitted } = encoded;
    let pair = |(name, value): (String, String)| Value::Array(vec![name.into(), value.into()]);
    let mut members = vec![("encoded", Value::from(encoded))];
    members.extend(pairs.map(|pairs| ("pairs", Value::Array(pairs.into_iter().map(pair).collect()))));
    members.extend(
        segments.map(|segments| ("segments", Value::Array(segments.into_iter().map(Value::from).collect()))),
    );
    members.extend(omitted.then_some(("omitted", true.into())));
    Ok(object(members))
}

/// `response.map`. The body stands after content decoding, as the transport hands it on; what is over the decoded
/// cap is cut off, as the transport would.
pub(super) fn map(params: &MapParams) -> Result<Value, Failure> {
    let limits = params.limits.as_ref().map_or_else(|| Ok(TrustLimits::default()), read_limits);
    let limits = limits.map_err(Failure::Params)?;
    let map: ResponseMap =
        read_part(&params.response, Code::ManifestInvalid, "the response is not as in a manifest")?;
    let mut body = decode("bodyBase64", &params.body)?;
    let (wire_bytes, body_cut) = (body.len(), body.len() > limits.response_decoded_bytes);
    body.truncate(limits.response_decoded_bytes);
    let header = |pair: &List<SmolStr, 2, 2>| match pair.0.as_slice() {
        [name, value] => Some((name.to_ascii_lowercase(), value.as_bytes().to_vec())),
        _ => None,
    };
    let received = Received {
        status: u16::try_from(params.status.get()).unwrap_or(599),
        headers: params.headers.0.iter().filter_map(header).collect(),
        body,
        body_cut,
        wire_bytes,
    };
    let secrets = params.secrets.iter().flat_map(|secrets| secrets.0.iter());
    let context = MapContext {
        tool: params.tool.as_deref().unwrap_or("x.x"),
        method: params.method.map_or(Method::Get, method),
        limits: &limits,
        tokens: &ModelTokens::default(),
        secrets: &Redactor::new(secrets.map(|secret| secret.as_bytes())),
        max_chars: None,
    };
    let mapped = map.apply(&received, &context);
    let mut members = vec![
        ("text", Value::from(mapped.text)),
        ("truncated", mapped.truncated.into()),
        ("isError", mapped.is_error.into()),
        ("omitted", mapped.omitted.into()),
    ];
    members.extend(mapped.refusal.map(|refusal| ("code", refusal.code.as_str().into())));
    Ok(object(members))
}

fn method(word: MethodWord) -> Method {
    match word {
        MethodWord::Get => Method::Get,
        MethodWord::Head => Method::Head,
        MethodWord::Post => Method::Post,
        MethodWord::Put => Method::Put,
        MethodWord::Patch => Method::Patch,
        MethodWord::Delete => Method::Delete,
    }
}

/// Reads a part of a manifest; the pointers of the findings lead into it.
fn read_part<T: Shape>(value: &Value, code: Code, reason: &str) -> Result<T, Failure> {
    let (limits, mut findings) = (TrustLimits::default(), Findings::new());
    let read = T::read(value, &Path::Root, &mut Reading { limits: &limits, findings: &mut findings });
    read.filter(|_| !findings.has_errors())
        .ok_or_else(|| Refusal::new(code, reason).with_findings(findings.into_list()).into())
}
