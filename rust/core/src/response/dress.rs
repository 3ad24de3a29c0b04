//! From values of an answer to clean nodes, with bounded work.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::clean::Wash;
use super::mapping::Take;
use super::node::{MIN_SHARE, Node};
use crate::json::{Object, Value};
use crate::limits::TrustLimits;

/// Cleans values. What cannot be shown any more is not even looked at, only counted: no more than `cap`
/// characters reach the model, and all work for one answer together is bounded by its decoded cap.
pub(super) struct Dresser<'a> {
    pub(super) wash: &'a Wash<'a>,
    cap: usize,
    work: usize,
}

/// The most characters of a key of an answer.
const MAX_KEY_CHARS: usize = 128;
/// What looking at a value costs, in bytes of text that could be cleaned for it.
pub(super) const STEP: usize = 16;

impl<'a> Dresser<'a> {
    /// At most `cap` characters will be shown.
    pub(super) fn new(wash: &'a Wash<'a>, cap: usize, limits: &TrustLimits) -> Self {
        Self { wash, cap, work: limits.response_decoded_bytes.saturating_mul(2).saturating_add(1 << 20) }
    }

    /// Takes from the work that may be done; nothing when it is done.
    pub(super) fn spend(&mut self, work: usize) -> Option<()> {
        self.work = self.work.checked_sub(work)?;
        Some(())
    }

    /// The most characters that will be shown.
    pub(super) fn cap(&self) -> usize {
        self.cap
    }

    /// The clean value; nothing when the work is done.
    pub(super) fn value(&mut self, value: &Value) -> Option<Node> {
        self.spend(STEP)?;
        match value {
            Value::Null => Some(Node::literal("null")),
            Value::Bool(true) => Some(Node::literal("true")),
            Value::Bool(false) => Some(Node::literal("false")),
            Value::Number(number) => self.number(number.lexeme()),
            Value::String(text) => self.text(text),
            Value::Array(items) => Some(self.items(items)),
            Value::Object(object) => Some(self.members(object)),
        }
    }

    /// The clean text, cut when it is longer than all that will be shown.
    pub(super) fn text(&mut self, text: &str) -> Option<Node> {
        self.spend(text.len())?;
        let cleaned = self.wash.clean(text, self.cap);
        Some(Node::text(cleaned.text, usize::from(cleaned.truncated)))
    }

    /// A clean key, none longer than [`MAX_KEY_CHARS`], and whether it was cut to that.
    pub(super) fn key(&mut self, key: &str) -> Option<(SmolStr, bool)> {
        self.spend(key.len())?;
        let cleaned = self.wash.clean(key, MAX_KEY_CHARS);
        Some((cleaned.text.into(), cleaned.truncated))
    }

    /// The digits as they came, unless they hold a secret.
    fn number(&mut self, lexeme: &str) -> Option<Node> {
        self.spend(lexeme.len())?;
        if self.wash.holds_secret(lexeme) {
            return self.text(lexeme);
        }
        Some(Node::literal(lexeme))
    }

    fn items(&mut self, values: &[Value]) -> Node {
        let (mut items, mut size) = (Vec::new(), 0);
        for value in values {
            if size > self.cap {
                break;
            }
            let Some(item) = self.value(value) else { break };
            size += item.size() + 1;
            items.push(item);
        }
        let left = values.len() - items.len();
        Node::list(items, Take::First, left)
    }

    /// Of two keys that are one when they are clean the first stays. A key that was cut short is told as a text is.
    fn members(&mut self, object: &Object) -> Node {
        let (mut members, mut size, mut names, mut cut) = (Vec::new(), 0, FxHashSet::default(), 0);
        for (name, value) in object.iter() {
            if size > self.cap {
                break;
            }
            let Some((name, shortened)) = self.key(name) else { break };
            if !names.insert(name.clone()) {
                continue;
            }
            let Some(node) = self.value(value) else { break };
            // The share that it has at least when members are cut.
            size += name.len() + node.size().min(MIN_SHARE);
            members.push((name, node));
            cut += usize::from(shortened);
        }
        let left = object.len() - members.len() + cut;
        Node::object(members, None, left)
    }
}
