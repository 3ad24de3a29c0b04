//! Whole calls: one of several names, each before the arguments that its schema takes.
//!
//! ```text
//! root ::= open call (between call)* close
//! call ::= before {"name": "..", "arguments": ..} after
//! ```
//!
//! The names are one prefix tree, so that a model reads on in one place until they differ.

use smol_str::SmolStr;

use super::GRAMMAR_BYTES;
use super::notes::Note;
use super::rules::Rules;
use super::shared::Shared;
use super::values::Values;
use super::words::Words;
use crate::error::{Code, Refusal};
use crate::schema::Schema;

/// What stands around calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallFrame {
    /// Before all of them.
    pub open: &'static str,
    /// Before each.
    pub before: &'static str,
    /// After each.
    pub after: &'static str,
    /// Between two, before an optional blank where [`blank`](Self::blank) says so.
    pub between: &'static str,
    /// Whether a blank may follow `between`.
    pub blank: bool,
    /// After all of them.
    pub close: &'static str,
    /// How many there may be, at least one.
    pub most: u64,
}

/// A grammar of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallGrammar {
    /// The rules, `root` first.
    pub text: String,
    /// Where the grammar is wider than a schema: the place of the tool among those given, and what is wider.
    pub notes: Vec<(usize, Note)>,
}

/// The grammar of calls to these tools, of which each has another name; the same text for the same tools, always.
///
/// # Errors
/// `schema.grammar_too_large` when it is over [`GRAMMAR_BYTES`] in its widest form too; `call.invalid` without tools.
pub fn call_grammar(frame: &CallFrame, tools: &[(SmolStr, &Schema)]) -> Result<CallGrammar, Refusal> {
    if tools.is_empty() {
        return Err(Refusal::new(Code::CallInvalid, "a grammar of calls needs a tool to call"));
    }
    [false, true].into_iter().find_map(|short| written(frame, tools, short)).ok_or_else(|| {
        let reason =
            format!("the grammar of the calls is larger than {GRAMMAR_BYTES} bytes even in its widest form");
        Refusal::new(Code::SchemaGrammarTooLarge, reason)
    })
}

fn written(frame: &CallFrame, tools: &[(SmolStr, &Schema)], short: bool) -> Option<CallGrammar> {
    let mut rules = Rules::new();
    let several = (frame.most > 1).then(|| rules.names.like("call"));
    let named: Vec<(&SmolStr, SmolStr)> =
        tools.iter().map(|(name, _)| (name, rules.names.like(name))).collect();
    rules.begin("root");
    rules.writer.literal(frame.open);
    if let Some(name) = &several {
        rules.writer.name(name);
        rules.writer.open();
        rules.writer.literal(frame.between);
        if frame.blank {
            rules.shared(Shared::Ws);
        }
        rules.writer.name(name);
        rules.writer.close();
        rules.writer.times(0, Some(frame.most - 1));
        rules.writer.literal(frame.close);
        rules.end();
        rules.begin(name);
    }
    call(frame, &named, &mut rules);
    if several.is_none() {
        rules.writer.literal(frame.close);
    }
    rules.end();
    let mut notes = Vec::new();
    for (place, ((_, schema), (_, rule))) in tools.iter().zip(&named).enumerate() {
        let inner = &schema.0;
        let mut values = Values::new(&mut rules, &inner.arena, short);
        values.write(inner.root, rule.clone());
        let of_tool = std::mem::take(&mut values.notes).list(&inner.source);
        notes.extend(of_tool.into_iter().map(|note| (place, note)));
    }
    let text = rules.finish();
    (text.len() <= GRAMMAR_BYTES).then_some(CallGrammar { text, notes })
}

fn call(frame: &CallFrame, named: &[(&SmolStr, SmolStr)], rules: &mut Rules) {
    rules.writer.literal(frame.before);
    rules.writer.literal("{\"name\":");
    rules.shared(Shared::Ws);
    rules.writer.literal("\"");
    Words::new(named.iter().map(|(name, rule)| (*name, rule))).write(rules, |rules, rule| {
        rules.writer.literal(",");
        rules.shared(Shared::Ws);
        rules.writer.literal("\"arguments\":");
        rules.shared(Shared::Ws);
        rules.writer.name(rule);
    });
    rules.writer.literal("}");
    rules.writer.literal(frame.after);
}

#[cfg(test)]
mod tests {
    use super::super::gbnf::Gbnf;
    use super::*;
    use crate::json::{Path, read_text};
    use crate::limits::TrustLimits;
    use crate::rule::Findings;

    fn schema(text: &str) -> Schema {
        let source = read_text(text).unwrap();
        Schema::parameters(&source, &Path::Root, &TrustLimits::default(), &mut Findings::new()).unwrap()
    }

    const ONE: CallFrame =
        CallFrame { open: "", before: "<", after: ">", between: "", blank: false, close: "", most: 1 };
    const LIST: CallFrame =
        CallFrame { open: "[", before: "", after: "", between: ",", blank: true, close: "]", most: 3 };

    #[test]
    fn each_name_comes_with_its_own_arguments() {
        let (a, b) = (
            schema(r#"{"type":"object","properties":{"x":{"type":"boolean"}},"required":["x"]}"#),
            schema(r#"{"type":"object","properties":{"x":{"type":"null"}},"required":["x"]}"#),
        );
        let tools = [("notes_add".into(), &a), ("notes_all".into(), &b)];
        let grammar = Gbnf::read(&call_grammar(&ONE, &tools).unwrap().text);
        for (text, taken) in [
            (r#"<{"name":"notes_add","arguments":{"x":true}}>"#, true),
            (r#"<{"name": "notes_all", "arguments": {"x": null}}>"#, true),
            (r#"<{"name":"notes_all","arguments":{"x":true}}>"#, false),
            (r#"<{"name":"notes","arguments":{"x":true}}>"#, false),
            (r#"<{"name":"notes_add","arguments":{"x":true}}"#, false),
        ] {
            assert_eq!(grammar.takes("root", text), taken, "{text}");
        }
        let call = r#"{"name":"notes_add","arguments":{"x":true}}"#;
        let grammar = Gbnf::read(&call_grammar(&LIST, &tools).unwrap().text);
        for (count, taken) in [(0, false), (1, true), (3, true), (4, false)] {
            let text = format!("[{}]", vec![call; count].join(", "));
            assert_eq!(grammar.takes("root", &text), taken, "{text}");
        }
    }

    #[test]
    fn rules_of_several_schemas_do_not_meet() {
        // Members and tools that would take the same names for their rules.
        let one = schema(r#"{"type":"object","properties":{"call":{"enum":["a","b"]},"t":{"enum":[1,2]}}}"#);
        let two = schema(r#"{"type":"object","properties":{"call":{"enum":["c","d"]},"t":{"enum":[3,4]}}}"#);
        let tools = [("call".into(), &one), ("t".into(), &two)];
        let text = call_grammar(&LIST, &tools).unwrap().text;
        assert_eq!(text, call_grammar(&LIST, &tools).unwrap().text);
        let grammar = Gbnf::read(&text);
        assert!(grammar.takes("root", r#"[{"name":"t","arguments":{"call":"c","t":3}}]"#));
        assert!(grammar.takes("root", r#"[{"name":"call","arguments":{"call":"a","t":1}}]"#));
        assert!(!grammar.takes("root", r#"[{"name":"call","arguments":{"call":"c","t":1}}]"#));
    }
}
