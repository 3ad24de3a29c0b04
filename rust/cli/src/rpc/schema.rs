//! Parameter schemas.

use connector_core::json::{Path, Value, read_strict};
use connector_core::schema::{
    Change, Dialect, Formats, Grammar, Note, Options, Schema, Verdict, Violation, World,
};
use connector_core::text::{Cleaner, Context, ModelTokens};
use connector_core::{Code, Findings, Refusal, TrustLimits, record, words};
use smol_str::SmolStr;

use super::message::{Failure, findings, object};
use super::pure::TEXT;

record! {
    pub(super) struct SchemaParams {
        schema: Option<Value> = "schema",
        schema_text: Option<SmolStr> = "schemaText",
        world: Option<WorldWord> = "world",
        dialect: Option<DialectWord> = "dialect",
        formats: Option<FormatsWord> = "formats",
    }
}

record! {
    pub(super) struct AcceptsParams {
        schema: Option<Value> = "schema",
        schema_text: Option<SmolStr> = "schemaText",
        world: Option<WorldWord> = "world",
        dialect: Option<DialectWord> = "dialect",
        formats: Option<FormatsWord> = "formats",
        value: Option<Value> = "value",
        value_text: Option<SmolStr> = "valueText",
    }
}

record! {
    pub(super) struct NarrowerParams {
        old: Option<Value> = "old",
        old_text: Option<SmolStr> = "oldText",
        new: Option<Value> = "new",
        new_text: Option<SmolStr> = "newText",
        world: Option<WorldWord> = "world",
        dialect: Option<DialectWord> = "dialect",
        formats: Option<FormatsWord> = "formats",
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

/// `schema.compile`: a bad schema is a report, not an error.
pub(super) fn compile(params: SchemaParams) -> Result<Value, Failure> {
    let Compiled { schema, found, source } = Compiled::new(params)?;
    let list = findings(found.list(), source.as_deref().map(str::as_bytes));
    let mut members = vec![("ok", schema.is_some().into()), ("findings", list)];
    if found.omitted() > 0 {
        members.push(("omitted", found.omitted().into()));
    }
    Ok(object(members))
}

/// `schema.accepts`: every violation of a value.
pub(super) fn accepts(params: AcceptsParams) -> Result<Value, Failure> {
    let AcceptsParams { schema, schema_text, world, dialect, formats, value, value_text } = params;
    let value = value_of(value, value_text.as_ref(), "`value` and `valueText`")?;
    let schema = Compiled::schema(SchemaParams { schema, schema_text, world, dialect, formats })?;
    let violations = schema.accepts(&value).err().unwrap_or_default();
    let accepted = violations.is_empty();
    let violation = |violation: &Violation| {
        object([
            ("pointer", violation.pointer.as_str().into()),
            ("keyword", violation.keyword.into()),
            ("message", violation.message.as_str().into()),
        ])
    };
    let violations = Value::Array(violations.iter().map(violation).collect());
    Ok(object([("accepted", accepted.into()), ("violations", violations)]))
}

/// `schema.narrower`: whether a new schema takes nothing that the old one refuses.
pub(super) fn narrower(params: &NarrowerParams) -> Result<Value, Failure> {
    let compile = |which: &str, schema: &Option<Value>, text: &Option<SmolStr>| {
        if schema.is_some() == text.is_some() {
            return Err(Failure::Params(format!("give one of `{which}` and `{which}Text`")));
        }
        Compiled::new(SchemaParams {
            schema: schema.clone(),
            schema_text: text.clone(),
            world: params.world,
            dialect: params.dialect,
            formats: params.formats,
        })?
        .valid(&format!("`{which}` breaks rules of the profile"))
    };
    let old = compile("old", &params.old, &params.old_text)?;
    let new = compile("new", &params.new, &params.new_text)?;
    Ok(object(match new.is_narrower_than(&old) {
        Verdict::Narrower => vec![("verdict", "narrower".into())],
        Verdict::Wider { witness, pointer } => {
            vec![("verdict", "wider".into()), ("witness", witness), ("pointer", pointer.into())]
        }
        Verdict::Undecided { pointer, reason } => vec![
            ("verdict", "undecided".into()),
            ("pointer", pointer.into()),
            ("reason", reason.to_string().into()),
        ],
    }))
}

/// `schema.grammar`: the schema as GBNF, and where that is wider.
pub(super) fn grammar(params: SchemaParams) -> Result<Value, Failure> {
    Ok(grammar_value(Compiled::schema(params)?.to_grammar()?))
}

/// A grammar of one schema, as the answer of `schema.grammar`.
pub(crate) fn grammar_value(grammar: Grammar) -> Value {
    let exact = grammar.is_exact();
    let inexact = Value::Array(grammar.notes.iter().map(|note| object(note_members(note))).collect());
    object([("gbnf", grammar.text.into()), ("exact", exact.into()), ("inexact", inexact)])
}

/// The members of a note on a grammar.
pub(super) fn note_members(note: &Note) -> [(&'static str, Value); 3] {
    [
        ("pointer", note.pointer.as_str().into()),
        ("keyword", note.keyword.into()),
        ("reason", note.reason.into()),
    ]
}

/// `schema.safe`: the schema as it is handed to llama.rn, and in what it differs.
pub(super) fn safe(params: SchemaParams) -> Result<Value, Failure> {
    let schema = Compiled::schema(params)?;
    let safe = schema.to_safe(&Cleaner::new(Context::Description, &ModelTokens::default()));
    Ok(object([("schema", safe.schema), ("changes", changes(&safe.changes))]))
}

/// The differences of a safe form.
pub(super) fn changes(changes: &[Change]) -> Value {
    let each = |change: &Change| {
        object([("pointer", change.pointer.as_str().into()), ("reason", change.reason.as_str().into())])
    };
    Value::Array(changes.iter().map(each).collect())
}

/// What became of a schema.
struct Compiled {
    /// The schema, when no finding refuses it.
    schema: Option<Schema>,
    found: Findings,
    /// The text that it was read from, for lines and columns.
    source: Option<SmolStr>,
}

impl Compiled {
    fn new(params: SchemaParams) -> Result<Self, Failure> {
        let SchemaParams { schema, schema_text: source, world, dialect, formats } = params;
        let schema = value_of(schema, source.as_ref(), "`schema` and `schemaText`")?;
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
        let (limits, mut found) = (TrustLimits::default(), Findings::new());
        let schema = Schema::compile(&schema, &Path::Root, options, &limits, &mut found);
        Ok(Self { schema: schema.filter(|_| !found.has_errors()), found, source })
    }

    /// The schema, or `schema.invalid` with all findings.
    fn valid(self, reason: &str) -> Result<Schema, Failure> {
        let Self { schema, found, source } = self;
        schema.ok_or_else(|| {
            let refusal = Refusal::new(Code::SchemaInvalid, reason).with_findings(found.into_list());
            match source {
                Some(source) => Failure::about(refusal, source.as_bytes()),
                None => refusal.into(),
            }
        })
    }
}

impl Compiled {
    /// The schema, or every finding.
    fn schema(params: SchemaParams) -> Result<Schema, Failure> {
        Self::new(params)?.valid("the schema breaks rules of the profile")
    }
}

/// JSON that a caller gives as a value of the message or as text of its own.
fn value_of(value: Option<Value>, text: Option<&SmolStr>, names: &str) -> Result<Value, Failure> {
    match (value, text) {
        (Some(value), None) => Ok(value),
        (None, Some(text)) => {
            read_strict(text.as_bytes(), TEXT).map_err(|refusal| Failure::about(refusal, text.as_bytes()))
        }
        _ => Err(Failure::Params(format!("give one of {names}"))),
    }
}
