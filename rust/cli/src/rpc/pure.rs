//! The pure functions of the core.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_core::json::{Numbers, Path, Profile, Value, canonical, read_strict, sha256};
use connector_core::manifest::{Report, check};
use connector_core::origin::{OriginEntry, Reach, classify};
use connector_core::schema::{Dialect, Formats, Options, Schema, World};
use connector_core::shape::{Integer, List, Reading, Shape};
use connector_core::text::{Cleaner, Context, ModelTokens};
use connector_core::{Code, Findings, Refusal, TrustLimits, record, words};
use smol_str::SmolStr;

use super::message::{Failure, Request, findings, object};

record! {
    struct Source {
        text: Option<SmolStr> = "text",
        base64: Option<SmolStr> = "base64",
    }
}

record! {
    struct SchemaParams {
        schema: Option<Value> = "schema",
        schema_text: Option<SmolStr> = "schemaText",
        world: Option<WorldWord> = "world",
        dialect: Option<DialectWord> = "dialect",
        formats: Option<FormatsWord> = "formats",
    }
}

record! {
    struct AcceptsParams {
        schema: Option<Value> = "schema",
        schema_text: Option<SmolStr> = "schemaText",
        world: Option<WorldWord> = "world",
        dialect: Option<DialectWord> = "dialect",
        formats: Option<FormatsWord> = "formats",
        value: Option<Value> = "value",
        value_text: Option<SmolStr> = "valueText",
    }
}

words! {
    enum WorldWord {
        Closed = "closed",
        Open = "open",
    }
}

words! {
    enum DialectWord {
        Draft202012 = "2020-12",
        Draft07 = "draft-07",
    }
}

words! {
    enum FormatsWord {
        Assert = "assert",
        Annotate = "annotate",
    }
}

record! {
    struct OriginParams {
        origin: SmolStr = "origin",
        user_provided: Option<Value> = "userProvided",
    }
}

record! {
    struct AddressParams {
        address: SmolStr = "address",
        local_network: bool = "localNetwork",
        overlay_network: bool = "overlayNetwork",
        loopback: bool = "loopback",
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
        "schema.compile" => request.params().and_then(|params| schema_compile(params)),
        "schema.accepts" => request.params().and_then(schema_accepts),
        "canonical.hash" => request.params().and_then(|params| canonical_hash(&params)),
        "origin.parse" => request.params().and_then(|params| origin_parse(&params)),
        "address.classify" => request.params().map(|params| address_classify(&params)),
        "text.clean" => request.params().map(|params| text_clean(&params)),
        _ => return None,
    })
}

/// The bytes of `text` or `base64`, of which one is given.
fn bytes(text: Option<&SmolStr>, base64: Option<&SmolStr>) -> Result<Vec<u8>, Failure> {
    match (text, base64) {
        (Some(text), None) => Ok(text.as_bytes().to_vec()),
        (None, Some(base64)) => STANDARD
            .decode(base64.as_str())
            .map_err(|_| Failure::Params("/base64: this is not base64".into())),
        _ => Err(Failure::Params("give one of `text` and `base64`".into())),
    }
}

fn manifest_check(params: &Source) -> Result<Value, Failure> {
    let bytes = bytes(params.text.as_ref(), params.base64.as_ref())?;
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

/// JSON that a caller gives as a value of the message or as text of its own.
fn value_of(value: Option<Value>, text: Option<&SmolStr>, names: &str) -> Result<Value, Failure> {
    match (value, text) {
        (Some(value), None) => Ok(value),
        (None, Some(text)) => {
            let profile = Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Any };
            Ok(read_strict(text.as_bytes(), profile)?)
        }
        _ => Err(Failure::Params(format!("give one of {names}"))),
    }
}

fn compile(params: SchemaParams) -> Result<(Option<Schema>, Findings), Failure> {
    let SchemaParams { schema, schema_text, world, dialect, formats } = params;
    let schema = value_of(schema, schema_text.as_ref(), "`schema` and `schemaText`")?;
    let options = Options {
        dialect: match dialect {
            Some(DialectWord::Draft07) => Dialect::Draft07,
            Some(DialectWord::Draft202012) | None => Dialect::Draft202012,
        },
        world: match world {
            Some(WorldWord::Open) => World::Open,
            Some(WorldWord::Closed) | None => World::Closed,
        },
        formats: match formats {
            Some(FormatsWord::Annotate) => Formats::Annotate,
            Some(FormatsWord::Assert) | None => Formats::Assert,
        },
    };
    let mut findings = Findings::new();
    let limits = TrustLimits::default();
    let schema = Schema::compile(&schema, &Path::Root, options, &limits, &mut findings);
    Ok((schema.filter(|_| !findings.has_errors()), findings))
}

fn schema_compile(params: SchemaParams) -> Result<Value, Failure> {
    let (schema, list) = compile(params)?;
    Ok(object([("ok", schema.is_some().into()), ("findings", findings(list.list(), None))]))
}

fn schema_accepts(params: AcceptsParams) -> Result<Value, Failure> {
    let AcceptsParams { schema, schema_text, world, dialect, formats, value, value_text } = params;
    let value = value_of(value, value_text.as_ref(), "`value` and `valueText`")?;
    let (schema, findings) = compile(SchemaParams { schema, schema_text, world, dialect, formats })?;
    let Some(schema) = schema else {
        let refusal = Refusal::new(Code::SchemaInvalid, "the schema breaks rules of the profile");
        return Err(refusal.with_findings(findings.into_list()).into());
    };
    let violations = schema.accepts(&value).err().unwrap_or_default();
    let accepted = violations.is_empty();
    let violation = |violation: &connector_core::schema::Violation| {
        object([
            ("pointer", violation.pointer.as_str().into()),
            ("keyword", Value::from(&*violation.keyword)),
            ("message", violation.message.as_str().into()),
        ])
    };
    let violations = Value::Array(violations.iter().map(violation).collect());
    Ok(object([("accepted", accepted.into()), ("violations", violations)]))
}

fn canonical_hash(params: &Source) -> Result<Value, Failure> {
    let bytes = bytes(params.text.as_ref(), params.base64.as_ref())?;
    let profile = Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Exact };
    let value = read_strict(&bytes, profile)?;
    let text = canonical(&value).ok_or(Failure::Internal)?;
    let hash = sha256(&text).to_string();
    Ok(object([("canonical", text.into()), ("sha256", hash.into())]))
}

/// Without `userProvided` the text is held to the rules of a fixed origin; with it, to what a person may bind when
/// the grant opens all local addresses.
fn origin_parse(params: &OriginParams) -> Result<Value, Failure> {
    let refuse =
        |fault: connector_core::origin::OriginFault| Failure::from(fault.refusal(Code::OriginInvalid));
    let origin = match &params.user_provided {
        None => OriginEntry::fixed(&params.origin).and_then(|entry| entry.bind(None, Reach::default())),
        Some(entry) => {
            let (limits, mut findings) = (TrustLimits::default(), Findings::new());
            let entry = object([("userProvided", entry.clone())]);
            let mut reading = Reading { limits: &limits, findings: &mut findings };
            let entry =
                OriginEntry::read(&entry, &Path::Root, &mut reading).filter(|_| !findings.has_errors());
            let Some(entry) = entry else {
                let refusal = Refusal::new(Code::OriginInvalid, "`userProvided` is not as in a manifest");
                return Err(refusal.with_findings(findings.into_list()).into());
            };
            let reach = Reach { local_network: true, overlay_network: true, loopback: true };
            entry.bind(Some(&params.origin), reach)
        }
    };
    Ok(object([("origin", origin.map_err(refuse)?.as_str().into())]))
}

fn address_classify(params: &AddressParams) -> Value {
    let AddressParams { address, local_network, overlay_network, loopback } = params;
    let reach =
        Reach { local_network: *local_network, overlay_network: *overlay_network, loopback: *loopback };
    let classified = classify(address, reach);
    object([("allowed", classified.allowed.into()), ("reason", classified.reason.into())])
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
