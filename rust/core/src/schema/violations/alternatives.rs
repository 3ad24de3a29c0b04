//! `anyOf` and `oneOf`: where only one branch can be meant, its own reasons are told.

use std::rc::Rc;

use super::{Extra, Place, Scope, Walk};
use crate::json::Value;
use crate::schema::compile::Reading;
use crate::schema::compile::closing::target;
use crate::schema::compile::keywords::{Keywords, members};
use crate::schema::compile::scalar::Kinds;

impl<'s> Walk<'s> {
    pub(super) fn alternatives(
        &mut self,
        keywords: &Keywords<'s>,
        scope: &Scope<'s>,
        value: &Value,
        at: Place<'_>,
    ) {
        for (keyword, branches) in [("anyOf", keywords.any_of), ("oneOf", keywords.one_of)] {
            let Some(branches) = branches.and_then(Value::as_array) else { continue };
            let scope = self.around(keyword, keywords, scope);
            let mut fitting = 0;
            for branch in branches {
                if self.is_done() {
                    return;
                }
                fitting += usize::from(!self.fails(|walk| walk.branch(branch, &scope, value, at)));
                if fitting > 0 && keyword == "anyOf" {
                    break;
                }
            }
            match fitting {
                0 => match self.meant(branches, value) {
                    Some(branch) => self.branch(branch, &scope, value, at),
                    None => self.report(at, keyword, format_args!("the value fits none of the alternatives")),
                },
                1 => {}
                _ => {
                    self.report(
                        at,
                        keyword,
                        format_args!("the value fits more than one of the alternatives"),
                    );
                }
            }
        }
    }

    /// What stands around a group of branches.
    fn around(&mut self, keyword: &'static str, keywords: &Keywords<'s>, scope: &Scope<'s>) -> Scope<'s> {
        if scope.reading == Reading::Open {
            return scope.clone();
        }
        let around = self.closings.around(scope.outer.as_deref(), keywords, |part| part.keyword == keyword);
        let alone =
            around.list().is_empty() && around.patterns().is_empty() && !around.lists && !around.speaks;
        Scope { outer: (!alone).then(|| Rc::new(around)), ..scope.clone() }
    }

    fn branch(&mut self, schema: &'s Value, scope: &Scope<'s>, value: &Value, at: Place<'_>) {
        match schema {
            _ if scope.reading == Reading::Open => self.root(schema, value, Reading::Open, at),
            Value::Object(object) => {
                let keywords = Keywords::of(object);
                let lone = keywords.is_reference() && scope.outer.is_some();
                match target(&self.schema.source, keywords.reference).filter(|_| lone) {
                    Some(target) => self.framed(|walk| walk.branch(target, scope, value, at)),
                    None => self.framed(|walk| walk.conjunction(schema, &keywords, scope, value, at)),
                }
            }
            Value::Bool(false) => self.boolean(schema, at),
            _ => {
                if let Some(outer) = scope.outer.as_ref().filter(|outer| outer.closes()) {
                    let extra = Extra::ClosedOver(Rc::clone(outer));
                    self.assemble(&Keywords::default(), &extra, scope, value, at);
                }
            }
        }
    }

    /// The only branch that takes values of this kind; of several the only one whose constants agree.
    fn meant(&self, branches: &'s [Value], value: &Value) -> Option<&'s Value> {
        let of_kind: Vec<_> = branches.iter().filter(|branch| self.may_take(branch, value)).collect();
        match of_kind.as_slice() {
            [one] => Some(one),
            several => {
                let mut agreeing = several.iter().filter(|branch| self.agrees(branch, value));
                let one = agreeing.next()?;
                agreeing.next().is_none().then_some(*one)
            }
        }
    }

    /// The keywords of a branch, references followed a few steps.
    fn keywords_of(&self, mut branch: &'s Value) -> Option<Keywords<'s>> {
        for _ in 0..8 {
            let keywords = Keywords::of(branch.as_object()?);
            match target(&self.schema.source, keywords.reference) {
                Some(next) if keywords.is_reference() => branch = next,
                _ => return Some(keywords),
            }
        }
        None
    }

    fn may_take(&self, branch: &'s Value, value: &Value) -> bool {
        match branch {
            Value::Bool(takes) => *takes,
            branch => self.keywords_of(branch).is_some_and(|keywords| {
                let constants = keywords.constant.is_none_or(|constant| constant.kind() == value.kind());
                let listed = keywords.values.and_then(Value::as_array);
                let listed =
                    listed.is_none_or(|values| values.iter().any(|other| other.kind() == value.kind()));
                constants && listed && Kinds::of(keywords.kinds).has(value)
            }),
        }
    }

    /// Whether the branch names constants for members of the value, and the value has these.
    fn agrees(&self, branch: &'s Value, value: &Value) -> bool {
        let Some(keywords) = self.keywords_of(branch) else { return false };
        let mut some = false;
        for (name, schema) in members(keywords.properties) {
            let constant = schema.get("const").or_else(|| match schema.get("enum")?.as_array()? {
                [one] => Some(one),
                _ => None,
            });
            if let (Some(constant), Some(member)) = (constant, value.get(name)) {
                some = true;
                if constant != member {
                    return false;
                }
            }
        }
        some
    }
}
