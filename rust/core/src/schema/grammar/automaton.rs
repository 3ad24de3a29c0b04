//! Automata as right-linear rules.
//!
//! Each rule stands for a state and takes what remains of the text. For a string that includes its closing quote: no
//! rule is ever empty, and the matcher's stack does not deepen. Chains of states become one sequence, and a state from
//! which characters are counted becomes a repetition.

use std::rc::Rc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::chars::Spelled;
use super::rules::Rules;
use super::shared::Shared;
use crate::schema::strings::{Dfa, START};

/// An automaton on its way into rules. It starts in state [`START`]; from every state an accepting one is reached.
#[derive(Debug)]
pub(super) struct Automaton {
    states: Vec<State>,
    /// What is written where a text may end: the closing quote of a string, after a number nothing, or zeros.
    end: &'static str,
    /// What new names are made from.
    hint: SmolStr,
    /// States with a name and without a rule.
    open: Vec<(u32, SmolStr)>,
}

/// A state of an automaton.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) accepting: bool,
    /// Where the text may go on, one edge per target.
    pub(super) edges: Rc<[Edge]>,
    /// How many edges lead here.
    incoming: u32,
    run: Option<Run>,
    name: Option<SmolStr>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) to: u32,
    pub(super) characters: Spelled,
}

/// From here on characters of one set are counted, and then the text goes on as from the exit.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Which edge of the state has the characters.
    edge: usize,
    least: u64,
    most: u64,
    exit: u32,
}

impl State {
    pub(super) fn new(accepting: bool, edges: impl IntoIterator<Item = Edge>) -> Self {
        Self { accepting, edges: edges.into_iter().collect(), ..Self::default() }
    }

    /// Whether nothing may follow.
    fn is_last(&self) -> bool {
        self.edges.is_empty()
    }

    /// Whether the state without one of its edges goes on as another one does.
    fn is_without(&self, edge: usize, other: &Self) -> bool {
        let others = self.edges.iter().enumerate().filter(|(at, _)| *at != edge).map(|(_, edge)| edge);
        self.accepting == other.accepting
            && self.edges.len() == other.edges.len() + 1
            && others.eq(other.edges.iter())
    }
}

impl Automaton {
    /// The strings of an automaton, which must not be empty, after the opening quote.
    pub(super) fn of_strings(dfa: &Dfa, hint: SmolStr) -> Self {
        Self::of_texts(dfa, "\"", hint)
    }

    /// The texts of an automaton, which must not be empty, each before an end.
    pub(super) fn of_texts(dfa: &Dfa, end: &'static str, hint: SmolStr) -> Self {
        let dead = dfa.dead();
        let mut states: Vec<State> = Vec::with_capacity(dfa.states() as usize);
        for state in 0..dfa.states() {
            let mut targets: SmallVec<[u32; 8]> = SmallVec::new();
            if Some(state) != dead {
                for to in dfa.edges(state).map(|(_, to)| to).filter(|to| Some(*to) != dead) {
                    if !targets.contains(&to) {
                        targets.push(to);
                    }
                }
            }
            let edges = targets.iter().map(|&to| {
                let ranges = dfa.edges(state).filter(|(_, target)| *target == to).map(|(range, _)| range);
                Edge { to, characters: Spelled::of(ranges) }
            });
            states.push(State::new(dfa.is_accepting(state), edges));
        }
        Self::new(states, end, hint)
    }

    /// An automaton of these states that ends with a text.
    pub(super) fn new(mut states: Vec<State>, end: &'static str, hint: SmolStr) -> Self {
        let targets: Vec<u32> =
            states.iter().flat_map(|state| state.edges.iter()).map(|edge| edge.to).collect();
        for to in targets {
            if let Some(state) = states.get_mut(to as usize) {
                state.incoming += 1;
            }
        }
        let mut automaton = Self { states, end, hint, open: Vec::new() };
        automaton.find_runs();
        automaton
    }

    /// The same with this text at the end. The start must not accept.
    pub(super) fn with_end(self, end: &'static str) -> Self {
        Self { end, ..self }
    }

    pub(super) fn states(&self) -> usize {
        self.states.len()
    }

    /// Writes what remains of a text from the start on into the open rule, as one sequence.
    pub(super) fn start(&mut self, rules: &mut Rules) {
        self.follow(START, rules);
    }

    /// Writes the alternatives of the start into the open rule. The start must not accept where nothing ends a text.
    pub(super) fn alternatives(&mut self, rules: &mut Rules) {
        let chain =
            self.states.first().is_some_and(|start| is_link(START, start) || self.counted(start).is_some());
        if chain { self.follow(START, rules) } else { self.state(START, rules) }
    }

    /// Writes the rules that the start needs. No rule may be open.
    pub(super) fn finish(&mut self, rules: &mut Rules) {
        // First come, first written: the rules read in the order of the text.
        let mut next = 0;
        while let Some((state, name)) = self.open.get(next).cloned() {
            next += 1;
            if rules.is_full() {
                return;
            }
            let optional =
                self.end.is_empty() && self.states.get(state as usize).is_some_and(|state| state.accepting);
            if optional {
                rules.begin_optional(&name);
            } else {
                rules.begin(&name);
            }
            self.state(state, rules);
            rules.end();
        }
    }

    /// The alternatives of a state.
    fn state(&mut self, state: u32, rules: &mut Rules) {
        let Some(State { accepting, edges, .. }) = self.states.get(state as usize) else { return };
        let edges = Rc::clone(edges);
        if *accepting {
            rules.writer.literal(self.end);
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
    fn is_short(&self, at: u32) -> bool {
        self.states
            .get(at as usize)
            .is_some_and(|state| state.is_last() || (self.counted(state).is_none() && !is_link(at, state)))
    }

    /// Writes what remains from a state on: its name, or characters that lead to one.
    fn follow(&mut self, mut at: u32, rules: &mut Rules) {
        let hint = self.hint.clone();
        loop {
            let Some(state) = self.states.get(at as usize) else { return };
            if state.is_last() {
                return rules.writer.literal(self.end);
            }
            if let Some(run) = self.counted(state)
                && let Some(edge) = state.edges.get(run.edge)
            {
                let element = rules.element_of(&edge.characters, &hint);
                rules.repeat(&element, run.least, Some(run.most));
                at = run.exit;
                // The way from the exit may lead back here: only an end is written out.
                if self.states.get(at as usize).is_some_and(State::is_last) {
                    continue;
                }
            } else if is_link(at, state)
                && let Some(edge) = state.edges.first()
            {
                // The same characters again and again are counted.
                let (mut count, mut to) = (1, edge.to);
                while let Some(next) = self.states.get(to as usize)
                    && self.counted(next).is_none()
                    && is_link(to, next)
                    && let Some(further) = next.edges.first()
                    && further.characters == edge.characters
                {
                    count += 1;
                    to = further.to;
                }
                if let Some(text) = edge.characters.only() {
                    (0..count).for_each(|_| rules.writer.literal(&text));
                } else {
                    let element = rules.element_of(&edge.characters, &hint);
                    rules.repeat(&element, count, Some(count));
                }
                at = to;
                continue;
            }
            let name = self.name(at, rules);
            return rules.writer.name(&name);
        }
    }

    /// The run from a state, where writing it spares a rule: to count once, it must lead to an end.
    fn counted(&self, state: &State) -> Option<Run> {
        let last = |exit: u32| self.states.get(exit as usize).is_some_and(State::is_last);
        state.run.filter(|run| run.most > 1 || last(run.exit))
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

    /// Finds the states from which characters are counted.
    fn find_runs(&mut self) {
        let mut seen = vec![false; self.states.len()];
        let mut see = |at: usize| seen.get_mut(at).is_some_and(|seen| !std::mem::replace(seen, true));
        let mut path: Vec<(usize, usize)> = Vec::new();
        for from in 0..self.states.len() {
            if see(from) {
                path.push((from, 0));
            }
            // Depth first, so that a state is judged after those that it leads to, but for cycles.
            while let Some((at, next)) = path.last_mut() {
                let (at, edge) = (*at, self.states.get(*at).and_then(|state| state.edges.get(*next)));
                *next += 1;
                if let Some(edge) = edge {
                    if see(edge.to as usize) {
                        path.push((edge.to as usize, 0));
                    }
                    continue;
                }
                let run = self.run(at);
                if let Some(state) = self.states.get_mut(at) {
                    state.run = run;
                }
                path.pop();
            }
        }
    }

    fn run(&self, at: usize) -> Option<Run> {
        let state = self.states.get(at)?;
        let candidates = state.edges.iter().enumerate();
        candidates.filter(|(_, edge)| edge.to as usize != at).find_map(|(place, edge)| {
            let next = self.states.get(edge.to as usize)?;
            let further = next.run.filter(|run| {
                next.edges.get(run.edge).is_some_and(|further| further.characters == edge.characters)
            });
            let (least, most, exit) = further.map_or((0, 0, edge.to), |run| (run.least, run.most, run.exit));
            let after = self.states.get(exit as usize)?;
            let run = |least, most| Some(Run { edge: place, least, most, exit });
            if least == 0 && state.is_without(place, after) {
                return run(0, most + 1);
            }
            let only = !state.accepting && state.edges.len() == 1 && further.is_some();
            if only { run(least + 1, most + 1) } else { None }
        })
    }
}

/// Whether a state is only passed on the way from one state to one other.
fn is_link(at: u32, state: &State) -> bool {
    let once = state.incoming == u32::from(at != START);
    once && !state.accepting && state.edges.len() == 1
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
        let mut automaton = Automaton::of_strings(dfa, name.clone());
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
            "",
            "a",
            "aa",
            "aaa",
            "ab",
            "abc",
            "foo",
            "xfoox",
            "fo\no",
            "\"",
            "\\",
            "\n",
            "\u{0}",
            "\u{7f}",
            "\u{1f}",
            "a\"b",
            "é",
            "\u{2028}",
            "\u{d7ff}\u{e000}",
            "\u{10ffff}",
            "123-abc",
            "a-b-c",
            "000",
            "😀",
            "a\tb",
        ];
        for text in [
            "",
            "^$",
            "^a$",
            "^a{2,3}$",
            "foo",
            "^.*$",
            "^[^a]*$",
            "^\\s*$",
            "^\\d{3}-\\w+$",
            "^[\"\\\\]+$",
            "^[\\x00-\\x1f]$",
            "^(a|b)*abb?$",
            "^(?:[a-z]-?)+$",
            "^[\\n\\t]*x?",
            "^[^\\n]{1,4}$",
            "b",
            "^(aa)*$",
            "^a?b?c?$",
            "^.$",
            "^[a-z]{1,63}$",
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
        for other in
            [r#""\u000a""#, r#""\u0041""#, r#""\/""#, r#""\u001F""#, r#""\ud83d\ude00""#, "\"\n\"", "\"\"\""]
        {
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
