//! The pure functions of the core: manifests, canonical JSON, text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_core::json::{Numbers, Profile, Value, canonical, read_strict, sha256};
use connector_core::manifest::{Report, check};
use connector_core::shape::{Integer, List};
use connector_core::text::{Cleaner, Context, ModelTokens};
use connector_core::{TrustLimits, record, words};
use smol_str::SmolStr;

use super::message::{Failure, Request, findings, object};
use super::{schema, wire};

/// What is read as JSON of its own, beside a manifest: a schema, a value, a document to be hashed.
pub(super) const TEXT: Profile = Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Any };

record! {
    struct Source {
        text: Option<SmolStr> = "text",
        base64: Option<SmolStr> = "base64",
    }
}

record! {
    struct CleanParams {
        text: SmolStr = "text",
        max_chars: Option<Integer<0, 4_294_967_295>> = "maxChars",
        context: Option<ContextWord> = "context",
        tokens: Option<List<SmolStr, 0, 4096>> = "tokens",
    }
}

words! {
    enum ContextWord {
        Title = "title",
        Description = "description",
        Response = "response",
    }
}

/// Calls a pure function; nothing when the method is not one.
pub(super) fn call(request: &Request) -> Option<Result<Value, Failure>> {
    Some(match request.method.as_str() {
        "manifest.check" => request.params().and_then(|params| manifest_check(&params)),
        "schema.compile" => request.params().and_then(schema::compile),
        "schema.accepts" => request.params().and_then(schema::accepts),
        "schema.narrower" => request.params().and_then(|params| schema::narrower(&params)),
        "schema.grammar" => request.params().and_then(schema::grammar),
        "schema.safe" => request.params().and_then(schema::safe),
        "canonical.hash" => request.params().and_then(|params| canonical_hash(&params)),
        "origin.parse" => request.params().and_then(|params| wire::parse_origin(&params)),
        "address.classify" => request.params().map(|params| wire::classify_address(&params)),
        "request.encode" => request.params().and_then(|params| wire::encode(&params)),
        "response.map" => request.params().and_then(|params| wire::map(&params)),
        "text.clean" => request.params().map(|params| text_clean(&params)),
        _ => return None,
    })
}

/// The bytes of `text` or `base64`, of which one is given.
fn bytes(source: &Source) -> Result<Vec<u8>, Failure> {
    match (&source.text, &source.base64) {
        (Some(text), None) => Ok(text.as_bytes().to_vec()),
        (None, Some(base64)) => decode("base64", base64),
        _ => Err(Failure::Params("give one of `text` and `base64`".into())),
    }
}

/// The bytes of a member in base64 (RFC 4648 section 4).
pub(super) fn decode(name: &str, base64: &str) -> Result<Vec<u8>, Failure> {
    STANDARD.decode(base64).map_err(|_| Failure::Params(format!("/{name}: this is not base64")))
}

fn manifest_check(params: &Source) -> Result<Value, Failure> {
    let bytes = bytes(params)?;
    Ok(report(&check(&bytes, &TrustLimits::default()), &bytes))
}

/// The report of a manifest, as `connector check --format json` prints it too.
pub(crate) fn report(report: &Report, source: &[u8]) -> Value {
    let list = report.findings.list();
    let mut members =
        vec![("ok", Value::from(report.manifest.is_some())), ("findings", findings(list, Some(source)))];
    if report.findings.omitted() > 0 {
        members.push(("omitted", report.findings.omitted().into()));
    }
    if let Some(manifest) = &report.manifest {
        let tools = manifest.tools().iter().map(|tool| Value::String(tool.full_name().clone())).collect();
        let manifest = object([
            ("id", manifest.id().as_str().into()),
            ("version", manifest.version().into()),
            ("sha256", manifest.sha256().to_string().into()),
            ("tools", Value::Array(tools)),
        ]);
        members.push(("manifest", manifest));
    }
    object(members)
}

/// RFC 8785 for any strict JSON: a number is written as its double is. Manifests are read by a stricter rule, which
/// refuses a number that would change (`manifest.check`); here only one beyond all doubles is refused.
fn canonical_hash(params: &Source) -> Result<Value, Failure> {
    let bytes = bytes(params)?;
    let read = |profile| read_strict(&bytes, profile).map_err(|refusal| Failure::about(refusal, &bytes));
    let Some(text) = canonical(&read(TEXT)?) else {
        let inexact = read(Profile { numbers: Numbers::Exact, ..TEXT }).err();
        return Err(inexact.unwrap_or(Failure::Internal));
    };
    let hash = sha256(&text).to_string();
    Ok(object([("canonical", text.into()), ("sha256", hash.into())]))
}

fn text_clean(params: &CleanParams) -> Value {
    let context = match params.context {
        Some(ContextWord::Title) => Context::Title,
        Some(ContextWord::Response) => Context::Response,
        Some(ContextWord::Description) | None => Context::Description,
    };
    let tokens = ModelTokens::new(params.tokens.iter().flat_map(|tokens| tokens.0.iter()));
    let max = params.max_chars.and_then(|max| usize::try_from(max.get()).ok());
    let max = max.unwrap_or(TrustLimits::default().result_chars);
    let cleaned = Cleaner::new(context, &tokens).clean(&params.text, max);
    object([("text", cleaned.text.into()), ("truncated", cleaned.truncated.into())])
}
