//! Automata over strings as right-linear rules over JSON spellings.
//!
//! Each rule stands for a state and takes what remains of the string, its closing quote included: no rule is ever
//! empty, and the matcher's stack does not deepen. Chains of states become one sequence.

use std::rc::Rc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::chars::Spelled;
use super::repeat::Element;
use super::rules::Rules;
use super::shared::Shared;
use crate::schema::strings::{Dfa, START};

/// An automaton on its way into rules.
#[derive(Debug)]
pub(super) struct Automaton {
    states: Vec<State>,
    /// What new names are made from.
    hint: SmolStr,
    /// States with a name and without a rule.
    open: Vec<(u32, SmolStr)>,
}

#[derive(Debug, Default)]
struct State {
    accepting: bool,
    /// Where the string may go on; never to the dead state.
    edges: Rc<[Edge]>,
    /// How many edges lead here.
    incoming: u32,
    /// What remains, when it is a counted repetition of the characters of the only edge.
    run: Option<(u64, u64)>,
    name: Option<SmolStr>,
}

#[derive(Debug)]
struct Edge {
    to: u32,
    characters: Spelled,
}

impl Automaton {
    /// The automaton must accept something.
    pub(super) fn new(dfa: &Dfa, hint: SmolStr) -> Self {
        let dead = dfa.dead();
        let mut states: Vec<State> = Vec::with_capacity(dfa.states() as usize);
        for state in 0..dfa.states() {
            let mut targets: SmallVec<[u32; 8]> = SmallVec::new();
            for to in dfa.edges(state).map(|(_, to)| to).filter(|to| Some(*to) != dead) {
                if !targets.contains(&to) {
                    targets.push(to);
                }
            }
            let edge = |to: u32| {
                let ranges = dfa.edges(state).filter(|(_, target)| *target == to).map(|(range, _)| range);
                Edge { to, characters: Spelled::of(ranges) }
            };
            let edges = targets.iter().filter(|_| Some(state) != dead).map(|to| edge(*to)).collect();
            states.push(State { accepting: dfa.is_accepting(state), edges, ..State::default() });
        }
        let targets: Vec<u32> = states.iter().flat_map(|state| state.edges.iter()).map(|edge| edge.to).collect();
        for to in targets {
            if let Some(state) = states.get_mut(to as usize) {
                state.incoming += 1;
            }
        }
        let mut automaton = Self { states, hint, open: Vec::new() };
        automaton.find_runs();
        automaton
    }

    /// Writes what remains of a string from the start on into the open rule.
    pub(super) fn start(&mut self, rules: &mut Rules) {
        self.follow(START, rules);
    }

    /// Writes the rules that the start needs. No rule may be open.
    pub(super) fn finish(&mut self, rules: &mut Rules) {
        // First come, first written: the rules read in the order of the strings.
        let mut next = 0;
        while let Some((state, name)) = self.open.get(next).cloned() {
            next += 1;
            if rules.is_full() {
                return;
            }
            rules.begin(&name);
            self.state(state, rules);
            rules.end();
        }
    }

    /// The alternatives of a state.
    fn state(&mut self, state: u32, rules: &mut Rules) {
        let Some(State { accepting, edges, .. }) = self.states.get(state as usize) else { return };
        let edges = Rc::clone(edges);
        if *accepting {
            rules.writer.literal("\"");
        }
        for edge in edges.iter() {
            rules.writer.alternative();
            let both = !edge.characters.raw.is_empty() && !edge.characters.escaped.is_empty();
            if both && self.is_short(edge.to) {
                rules.writer.class(&edge.characters.raw);
                self.follow(edge.to, rules);
                rules.writer.alternative();
                rules.escape(edge.characters.escaped, &self.hint);
            } else {
                rules.character(&edge.characters, &self.hint);
            }
            self.follow(edge.to, rules);
        }
    }

    /// Whether what [`follow`](Self::follow) writes is one element.
    fn is_short(&self, state: u32) -> bool {
        self.states.get(state as usize).is_some_and(|known| {
            known.edges.is_empty() || (known.run.is_none() && !self.is_link(state, known))
        })
    }

    /// Writes what remains from a state on: its name, or a chain of characters that leads to one.
    fn follow(&mut self, mut at: u32, rules: &mut Rules) {
        let hint = self.hint.clone();
        loop {
            let Some(state) = self.states.get(at as usize) else { return };
            match (&*state.edges, state.run) {
                ([], _) => return rules.writer.literal("\""),
                ([edge], Some((least, most))) => {
                    let element = rules.element_of(&edge.characters, &hint);
                    rules.repeat(&element, least, Some(most));
                    return rules.writer.literal("\"");
                }
                ([edge], None) if self.is_link(at, state) => {
                    // The same characters again and again are counted.
                    let (mut count, mut to) = (1, edge.to);
                    while let Some(next) = self.states.get(to as usize)
                        && next.run.is_none()
                        && self.is_link(to, next)
                        && next.edges.first().is_some_and(|next| next.characters == edge.characters)
                    {
                        count += 1;
                        to = next.edges.first().map_or(to, |next| next.to);
                    }
                    match edge.characters.only() {
                        Some(text) => (0..count).for_each(|_| rules.writer.literal(&text)),
                        None => {
                            let element = rules.element_of(&edge.characters, &hint);
                            rules.repeat(&element, count, Some(count));
                        }
                    }
                    at = to;
                }
                _ => {
                    let name = self.name(at, rules);
                    return rules.writer.name(&name);
                }
            }
        }
    }

    /// Whether a state is only passed on the way from one state to one other.
    fn is_link(&self, at: u32, state: &State) -> bool {
        let once = if at == START { state.incoming == 0 } else { state.incoming == 1 };
        once && !state.accepting && state.edges.len() == 1
    }

    /// The name of a state's rule.
    fn name(&mut self, at: u32, rules: &mut Rules) -> SmolStr {
        let Some(state) = self.states.get_mut(at as usize) else { return SmolStr::default() };
        if let Some(name) = &state.name {
            return name.clone();
        }
        let any = matches!(&*state.edges, [edge] if edge.to == at && edge.characters == Spelled::any());
        let name = if any && state.accepting {
            rules.use_shared(Shared::Text)
        } else {
            let name = rules.names.after(&self.hint);
            self.open.push((at, name.clone()));
            name
        };
        state.name = Some(name.clone());
        name
    }

    /// Finds the states from which only a counted repetition of one set of characters remains.
    fn find_runs(&mut self) {
        let mut done = vec![false; self.states.len()];
        let mut path = Vec::new();
        for from in 0..self.states.len() {
            // Down the chain to a state that is known, is the end, branches or was met on this way.
            let mut at = from;
            while let Some(state) = self.states.get(at)
                && let Some(seen) = done.get_mut(at)
                && !std::mem::replace(seen, true)
            {
                path.push(at);
                match &*state.edges {
                    [edge] => at = edge.to as usize,
                    _ => break,
                }
            }
            while let Some(at) = path.pop() {
                let run = self.run(at);
                if let Some(state) = self.states.get_mut(at) {
                    state.run = run;
                }
            }
        }
    }

    fn run(&self, at: usize) -> Option<(u64, u64)> {
        let state = self.states.get(at)?;
        let [edge] = &*state.edges else { return None };
        let next = self.states.get(edge.to as usize)?;
        let (least, most) = match &*next.edges {
            [] => (0, 0),
            [further] if further.characters == edge.characters => next.run?,
            _ => return None,
        };
        match state.accepting {
            true if least == 0 => Some((0, most + 1)),
            true => None,
            false => Some((least + 1, most + 1)),
        }
        // One character at the end is a literal.
        .filter(|_| state.accepting || !next.edges.is_empty() || edge.characters.only().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::super::gbnf::Gbnf;
    use super::*;
    use crate::json::Value;
    use crate::schema::strings::pattern;

    fn rules_of(dfa: &Dfa) -> String {
        let mut rules = Rules::new();
        let name = rules.names.like("x");
        let mut automaton = Automaton::new(dfa, name.clone());
        rules.begin(&name);
        rules.writer.literal("\"");
        automaton.start(&mut rules);
        rules.end();
        automaton.finish(&mut rules);
        let (mut text, shared) = rules.into_parts();
        shared.write(&mut text);
        text
    }

    /// The automaton of a pattern, lengths counted in states.
    fn compiled(text: &str) -> Dfa {
        let pattern = pattern::compile(text).unwrap();
        pattern.dfa.with_length(pattern.length.0, pattern.length.1, 4_096).unwrap()
    }

    fn of_pattern(text: &str) -> String {
        rules_of(&compiled(text))
    }

    #[test]
    fn the_rules_take_what_the_automaton_accepts_written_as_json() {
        let samples = [
            "", "a", "aa", "aaa", "ab", "abc", "foo", "xfoox", "fo\no", "\"", "\\", "\n", "\u{0}", "\u{7f}", "\u{1f}", "a\"b", "é",
            "\u{2028}", "\u{d7ff}\u{e000}", "\u{10ffff}", "123-abc", "a-b-c", "000", "😀", "a\tb",
        ];
        for text in [
            "", "^$", "^a$", "^a{2,3}$", "foo", "^.*$", "^[^a]*$", "^\\s*$", "^\\d{3}-\\w+$", "^[\"\\\\]+$", "^[\\x00-\\x1f]$",
            "^(a|b)*abb?$", "^(?:[a-z]-?)+$", "^[\\n\\t]*x?", "^[^\\n]{1,4}$", "b", "^(aa)*$", "^a?b?c?$", "^.$", "^[a-z]{1,63}$",
        ] {
            let dfa = compiled(text);
            let rules = rules_of(&dfa);
            let grammar = Gbnf::read(&rules);
            for sample in samples {
                let json = Value::String(sample.into()).to_text();
                assert_eq!(grammar.takes("x", &json), dfa.matches(sample), "{text} {sample:?}\n{rules}");
            }
        }
    }

    #[test]
    fn escapes_have_one_spelling() {
        let grammar = Gbnf::read(&of_pattern("^[\\s\\S]*$"));
        assert!(grammar.takes("x", r#""\n\u0001\"/ ""#));
        for other in [r#""\u000a""#, r#""\u0041""#, r#""\/""#, r#""\u001F""#, r#""\ud83d\ude00""#, "\"\n\"", "\"\"\""] {
            assert!(!grammar.takes("x", other), "{other}");
        }
    }

    #[test]
    fn chains_are_sequences_and_repetitions_are_counted() {
        assert_eq!(
            of_pattern("^[0-9A-F]{8}(-[0-9A-F]{4}){2}$"),
            "x ::= \"\\\"\" [0-9A-F]{8} \"-\" [0-9A-F]{4} \"-\" [0-9A-F]{4} \"\\\"\"\n"
        );
        assert_eq!(of_pattern("^[a-z0-9]{1,63}$"), "x ::= \"\\\"\" [0-9a-z]{1,63} \"\\\"\"\n");
        assert_eq!(of_pattern("^(red|green)$"), "x ::= \"\\\"\" x-2\nx-2 ::= \"green\\\"\" | \"red\\\"\"\n");
        assert_eq!(of_pattern("^[a-z]+$"), "x ::= \"\\\"\" [a-z] x-2\nx-2 ::= \"\\\"\" | [a-z] x-2\n");
    }
}
