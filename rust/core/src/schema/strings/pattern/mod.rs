//! ECMA-262 patterns with the meaning of the `u` flag, compiled into automata.
//!
//! A pattern matches a string when it matches anywhere in it (JSON Schema searches), so `foo` is `Σ*fooΣ*`.
//!
//! **Taken**: characters and classes, `.` (without the four line ends), `\d \w \s` and their complements,
//! `\t \n \v \f \r \0 \cX \xHH \uHHHH \u{H}` with surrogate pairs joined, `[^]` and `[]`, capturing, named and
//! non-capturing groups, greedy and lazy quantifiers, `^ $ \b \B` anywhere, and look-ahead right after a
//! leading `^`, which is intersection or difference. A lone surrogate escape matches nothing, since no string
//! holds one.
//!
//! **Taken beyond `u`**, where an engine without the flag has exactly one reading: any ASCII punctuation or
//! blank after a backslash is itself (`\-`, `\_`, `\"`, `\@`); `]` and `}` stand for themselves outside a class,
//! and so does `{` when nothing after it looks like a count; a hyphen beside a class escape (`[\w-.]`) is itself.
//! A letter or digit after a backslash that ECMA-262 gives no meaning is refused: in other dialects it has one.
//!
//! **Refused by name**: back-references, look-behind, other look-ahead, `\p{..}`, inline flags.

mod automaton;
mod parse;
mod plain;

use std::sync::Arc;

use super::chars::CharSet;
use super::{ANY_LENGTH, Dfa, Length, Operation, TooLarge};
use automaton::{Ends, Nfa};
use parse::Node;

pub(crate) use plain::plain;

/// The most bytes of a pattern.
pub const PATTERN_BYTES: usize = 65_536;
/// The deepest nesting of groups.
pub const GROUP_DEPTH: u32 = 64;
/// The most nodes of the nondeterministic automaton of a pattern.
pub const NFA_NODES: usize = 60_000;
/// The most states of the automaton of a pattern.
pub const DFA_STATES: usize = 4_096;
/// The most steps of compiling one pattern, which take 30 to 50 ms on a desktop machine.
pub const PATTERN_STEPS: usize = 2_000_000;

/// A compiled pattern: the strings that `dfa` matches *and* whose length lies in `length`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The words, whatever their length.
    pub dfa: Arc<Dfa>,
    /// The lengths, when the pattern bounds them by a count (`^.{1,200}$`, `^(?=.{1,253}$)..`).
    pub length: Length,
}

impl Pattern {
    /// Whether the pattern matches the string.
    pub fn matches(&self, text: &str) -> bool {
        let fits = self.length == ANY_LENGTH || {
            let length = text.chars().count() as u64;
            length >= self.length.0 && self.length.1.is_none_or(|most| length <= most)
        };
        fits && self.dfa.matches(text)
    }

    /// The same set as one automaton, of at most [`DFA_STATES`] states.
    pub fn to_dfa(&self) -> Result<Arc<Dfa>, TooLarge> {
        if self.length == ANY_LENGTH {
            return Ok(Arc::clone(&self.dfa));
        }
        self.dfa.with_length(self.length.0, self.length.1, DFA_STATES).map(Arc::new)
    }
}

/// Why a pattern is refused. Positions count the characters before the place, from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The text is not a pattern of ECMA-262.
    #[error("not an ECMA-262 pattern: {what} (at character {at})")]
    Syntax {
        /// The characters before the place.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// The pattern uses a feature that the core does not have.
    #[error("the pattern uses {feature} (at character {at}), which is not supported")]
    Unsupported {
        /// The characters before the place.
        at: usize,
        /// The name of the feature, as it stands after "uses".
        feature: &'static str,
    },
    /// The pattern needs more than the core allows.
    #[error("pattern too large: {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
    },
}

impl From<TooLarge> for PatternError {
    fn from(TooLarge: TooLarge) -> Self {
        Self::TooLarge { what: STATES }
    }
}

const STATES: &str = "its automaton has too many states";

/// Compiles a pattern. Bounded by [`PATTERN_BYTES`], [`GROUP_DEPTH`], [`NFA_NODES`], [`DFA_STATES`] and
/// [`PATTERN_STEPS`].
pub fn compile(pattern: &str) -> Result<Pattern, PatternError> {
    compile_within(pattern, &mut { PATTERN_STEPS })
}

/// Compiles a pattern, for callers that bound the sum of many: what it costs is taken from `steps`, and the
/// pattern is too large when they are used up.
pub fn compile_within(pattern: &str, steps: &mut usize) -> Result<Pattern, PatternError> {
    if pattern.len() > PATTERN_BYTES {
        return Err(PatternError::TooLarge { what: "the text is too long" });
    }
    *steps = steps.saturating_sub(pattern.len());
    let node = parse::parse(pattern)?;
    let (dfa, length) = Compiler { pattern, steps }.disjunction(&node, false)?;
    Ok(Pattern { dfa: Arc::new(dfa), length })
}

/// What is left of the steps for one pattern.
struct Compiler<'p> {
    pattern: &'p str,
    steps: &'p mut usize,
}

/// One alternative at the top of a pattern, its outer assertions told apart.
struct Branch<'a> {
    at_start: bool,
    looks: Vec<(bool, &'a Node)>,
    body: Vec<&'a Node>,
    at_end: bool,
}

impl Compiler<'_> {
    /// The strings in which a search finds the node; with `anchored`, finds it at the start.
    fn disjunction(&mut self, node: &Node, anchored: bool) -> Result<(Dfa, Length), PatternError> {
        let mut branches = Vec::new();
        alternatives(node, anchored, &mut branches);
        if let [branch] = branches.as_slice() {
            return self.branch(branch);
        }
        // Alternatives without conditions of their own share one automaton.
        let (plain, special): (Vec<_>, Vec<_>) =
            branches.iter().partition(|branch| branch.looks.is_empty() && counted(branch).is_none());
        let mut union = self.plain(&plain)?;
        for branch in special {
            let (dfa, length) = self.branch(branch)?;
            let dfa = self.count(&dfa, length)?;
            union = self.combine(&union, &dfa, Operation::Or)?;
        }
        Ok((union, ANY_LENGTH))
    }

    fn branch(&mut self, branch: &Branch<'_>) -> Result<(Dfa, Length), PatternError> {
        let (mut dfa, mut length) = match counted(branch) {
            Some((class, length)) => (self.star(class)?, length),
            None => (self.plain(&[branch])?, ANY_LENGTH),
        };
        for (negative, body) in &branch.looks {
            let (seen, seen_length) = self.disjunction(body, true)?;
            if *negative {
                let seen = self.count(&seen, seen_length)?;
                dfa = self.combine(&dfa, &seen, Operation::Minus)?;
            } else {
                dfa = self.combine(&dfa, &seen, Operation::And)?;
                length = both(length, seen_length);
            }
        }
        if dfa.is_none() || length.1.is_some_and(|most| most < length.0) {
            return Ok((Dfa::none(), ANY_LENGTH));
        }
        Ok((dfa, length))
    }

    fn star(&mut self, class: &CharSet) -> Result<Dfa, PatternError> {
        let node = Node::Repeat { body: Box::new(Node::Set(class.clone())), min: 0, max: None };
        let branch = Branch { at_start: true, looks: Vec::new(), body: vec![&node], at_end: true };
        self.plain(&[&branch])
    }

    fn plain(&mut self, branches: &[&Branch<'_>]) -> Result<Dfa, PatternError> {
        let mut nfa = Nfa::new(self.pattern);
        for branch in branches {
            nfa.branch(&branch.body, Ends { start: branch.at_start, end: branch.at_end })?;
        }
        nfa.determinise(self.steps)
    }

    fn combine(&mut self, left: &Dfa, right: &Dfa, operation: Operation) -> Result<Dfa, PatternError> {
        let dfa = left.combine(right, operation, self.steps)?;
        if dfa.states() as usize > DFA_STATES { Err(TooLarge.into()) } else { Ok(dfa) }
    }

    /// Takes a length into the automaton.
    fn count(&mut self, dfa: &Dfa, length: Length) -> Result<Dfa, PatternError> {
        Ok(dfa.with_length_within(length.0, length.1, DFA_STATES, self.steps)?)
    }
}

fn alternatives<'a>(node: &'a Node, anchored: bool, out: &mut Vec<Branch<'a>>) {
    if let Node::Or(nodes) = node {
        for node in nodes {
            alternatives(node, anchored, out);
        }
        return;
    }
    let items = match node {
        Node::Then(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    let mut branch = Branch { at_start: anchored, looks: Vec::new(), body: Vec::new(), at_end: false };
    for item in items {
        match item {
            Node::Start if branch.body.is_empty() => branch.at_start = true,
            Node::Look { negative, body, .. } if branch.body.is_empty() && branch.at_start => {
                branch.looks.push((*negative, body));
            }
            other => branch.body.push(other),
        }
    }
    while let Some(Node::End) = branch.body.last() {
        branch.body.pop();
        branch.at_end = true;
    }
    out.push(branch);
}

/// `^C{m,n}$` with one class is `C*` with a length, at whatever `n`; so is an unanchored `[^]{m,}`.
fn counted<'a>(branch: &Branch<'a>) -> Option<(&'a CharSet, Length)> {
    let [Node::Repeat { body, min, max }] = branch.body.as_slice() else { return None };
    let Node::Set(class) = &**body else { return None };
    // `?`, `*` and `+` are as short without a length.
    if class.is_empty() || (*min).max(max.unwrap_or(0)) < 2 {
        None
    } else if branch.at_start && branch.at_end {
        Some((class, (*min, *max)))
    } else {
        class.is_any().then_some((class, (*min, None)))
    }
}

fn both(a: Length, b: Length) -> Length {
    let most = match (a.1, b.1) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    (a.0.max(b.0), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}")).matches(text)
    }

    fn yes_and_no(pattern: &str, yes: &[&str], no: &[&str]) {
        for text in yes {
            assert!(matches(pattern, text), "{pattern} matches {text:?}");
        }
        for text in no {
            assert!(!matches(pattern, text), "{pattern} does not match {text:?}");
        }
    }

    fn refused(pattern: &str) -> PatternError {
        compile(pattern).expect_err(pattern)
    }

    #[test]
    fn a_pattern_is_searched_for() {
        yes_and_no("foo", &["foo", "a foo b"], &["", "fo o"]);
        yes_and_no("", &["", "anything"], &[]);
        yes_and_no("^foo", &["foot"], &["a foo"]);
        yes_and_no("foo$", &["a foo"], &["foot", "foo\n"]);
        yes_and_no("^a|b$", &["ax", "xb"], &["xa", "bx"]);
    }

    #[test]
    fn classes_are_those_of_ecma_262() {
        yes_and_no(r"^\d$", &["7"], &["٧", "a"]);
        yes_and_no(r"^\w$", &["a", "_", "Z", "0"], &["é", "-", "ſ"]);
        yes_and_no(
            r"^\s$",
            &[" ", "\u{A0}", "\u{FEFF}", "\u{2028}", "\u{B}"],
            &["\u{85}", "\u{180E}", "\u{200B}"],
        );
        yes_and_no("^.$", &["a", "😀", "\u{85}"], &["\n", "\r", "\u{2028}", "\u{2029}", ""]);
        yes_and_no("^[^]$", &["\n", "a"], &["", "ab"]);
        yes_and_no("[]", &[], &["", "a"]);
        yes_and_no(r"^[\b]$", &["\u{8}"], &["b"]);
        yes_and_no(r"^[^\D]$", &["5"], &["x"]);
        yes_and_no("^[--/]$", &["-", ".", "/"], &["0"]);
    }

    #[test]
    fn escapes_are_those_of_ecma_262() {
        yes_and_no(r"^\cJ\x41\u0042\u{43}\0\t\n\v\f\r$", &["\nABC\0\t\n\u{B}\u{C}\r"], &[]);
        yes_and_no(r"^\u{000000041}$", &["A"], &[]);
        yes_and_no(r"^\uD83D\uDE00$", &["😀"], &[]);
        yes_and_no(r"^[\uD83D\uDE00-\uD83D\uDE02]+$", &["😀😁😂"], &["😃"]);
        yes_and_no("^😀{2}$", &["😀😀"], &["😀"]);
    }

    #[test]
    fn a_lone_surrogate_matches_nothing() {
        assert!(compile(r"\uD83D").unwrap().dfa.is_none());
        assert!(compile(r"[\uD800-\uDFFF]").unwrap().dfa.is_none());
        assert!(compile(r"\u{D83D}\u{DE00}").unwrap().dfa.is_none(), "only the four-digit form makes pairs");
        assert!(compile(r"^[^\uD800-\uDFFF]*$").unwrap().dfa.is_all());
    }

    #[test]
    fn needless_escapes_that_have_one_reading_are_taken() {
        yes_and_no(r#"^\-\_\/\"\'\@\ \:\,\#\%\&\~\`\;\=\!\<\>$"#, &[r#"-_/"'@ :,#%&~`;=!<>"#], &[]);
        yes_and_no(r"^[\w-.]+$", &["a-b.c"], &["a+b"]);
        yes_and_no(r"^[a-\d]+$", &["a-1"], &["b"]);
        yes_and_no("^{a}]$", &["{a}]"], &["a"]);
    }

    #[test]
    fn escapes_with_other_meanings_elsewhere_are_syntax_errors() {
        for pattern in
            [r"\a", r"\e", r"\A", r"\Z", r"\z", r"\h", r"\Q", r"\G", r"\é", r"[\B]", r"[\c1]", r"\c", r"\c1"]
        {
            assert!(matches!(refused(pattern), PatternError::Syntax { .. }), "{pattern}");
        }
        for pattern in [r"\01", r"\00", r"[\1]", r"\x4", r"\u12", r"\u{}", r"\u{110000}", r"\u{41", "\\"] {
            assert!(matches!(refused(pattern), PatternError::Syntax { .. }), "{pattern}");
        }
    }

    #[test]
    fn syntax_errors_have_their_place() {
        let at = |pattern| match refused(pattern) {
            PatternError::Syntax { at, .. } => at,
            other => panic!("{pattern}: {other}"),
        };
        assert_eq!(at("^*a$"), 1);
        assert_eq!(at("é+*"), 2);
        assert_eq!(at("a{2}{3}"), 4);
        assert_eq!(at("a{3,2}"), 1);
        assert_eq!(at("a{,2}"), 1);
        assert_eq!(at("a{2"), 1);
        assert_eq!(at("{2}"), 0);
        assert_eq!(at("(a"), 0);
        assert_eq!(at("a)"), 1);
        assert_eq!(at("x[a"), 1);
        assert_eq!(at("[z-a]"), 1);
        assert_eq!(at("(?P<n>a)"), 0);
        assert_eq!(at("(?i)a"), 0);
        assert_eq!(at("(?<1>a)"), 3);
        assert_eq!(at("(?<n>a)(?<n>b)"), 10);
        assert_eq!(at("(?=a)*"), 5);
        assert_eq!(at(r"\b+"), 2);
    }

    #[test]
    fn what_is_not_supported_is_refused_by_name_and_place() {
        let named = |pattern| match refused(pattern) {
            PatternError::Unsupported { at, feature } => (at, feature),
            other => panic!("{pattern}: {other}"),
        };
        assert_eq!(named(r"(é)\1"), (3, "a back-reference"));
        assert_eq!(named(r"(?<n>a)\k<n>"), (7, "a back-reference"));
        assert_eq!(named("(?<=a)b"), (0, "look-behind"));
        assert_eq!(named("(?<!a)b"), (0, "look-behind"));
        assert_eq!(named(r"^\p{Letter}+$"), (1, "a Unicode property escape"));
        assert_eq!(named(r"[\P{L}]"), (1, "a Unicode property escape"));
        assert_eq!(named("(?i:a)"), (0, "inline flags"));
        assert_eq!(named("(?i-s:a)"), (0, "inline flags"));
        assert_eq!(named("é(?!b)"), (1, "look-ahead that is not right after a leading `^`"));
        assert_eq!(named("(?=.*a)b").0, 0);
        assert_eq!(named("^(?:(?!x).)*$").0, 4);
    }

    #[test]
    fn names_of_groups_may_come_again_in_another_alternative() {
        yes_and_no("^(?:(?<y>a)|(?<y>b))$", &["a", "b"], &["c"]);
        assert!(matches!(refused("(?:(?<y>a)|b)(?<y>c)"), PatternError::Syntax { .. }));
    }

    #[test]
    fn look_ahead_after_the_leading_anchor_is_taken() {
        yes_and_no("^(?!x)y$", &["y"], &["x", "yy"]);
        yes_and_no(r"^(?=.*\d)(?=.*[a-z])(?!.* ).{4,8}$", &["abc1"], &["abcd", "1234", "ab 1", "ab1"]);
        yes_and_no("^((?!a)[ab]+)$|^c$", &["b", "ba", "c"], &["ab"]);
        yes_and_no("^(?=(?!ab)a)..$", &["aa"], &["ab", "bb"]);
    }

    #[test]
    fn a_count_over_the_whole_is_a_length() {
        let pattern = compile("^.{0,5000}$").unwrap();
        assert_eq!((pattern.dfa.states(), pattern.length), (2, (0, Some(5_000))));
        let pattern = compile("^(?=.{1,253}$)[a-z]+$").unwrap();
        assert_eq!((pattern.dfa.states(), pattern.length), (3, (1, Some(253))));
        let pattern = compile("^(?=.{3,}$)(?=.{2,9}$)").unwrap();
        assert_eq!(pattern.length, (3, Some(9)));
        let pattern = compile(r"^(.|\n){1,99999999999999999999999}$").unwrap();
        assert_eq!(pattern.length, (1, Some(u64::MAX)));
        let pattern = compile("[^]{7,}").unwrap();
        assert_eq!((pattern.dfa.is_all(), pattern.length), (true, (7, None)));
        assert!(compile("^(?=.{5,}$)(?=.{2,4}$)").unwrap().dfa.is_none());
        assert_eq!(compile("^[a-z]+$").unwrap().length, ANY_LENGTH);
        yes_and_no("^[a-z]{2,3}$|^x{5}$", &["ab", "abc", "xxxxx"], &["a", "abcd", "x"]);
        yes_and_no("^(?!.{3}$)a*$", &["", "aa", "aaaa"], &["aaa"]);
    }

    #[test]
    fn what_is_too_large_is_refused_and_not_built() {
        let deep = "(".repeat(30_000);
        let long = "a".repeat(PATTERN_BYTES + 1);
        let many =
            format!("^(?:{})$", (0..2_000).map(|n| format!("^a{{{n}}}$")).collect::<Vec<_>>().join("|"));
        for pattern in
            ["^(a|b)*a(a|b){20}$", "(((a{999}){999}){999}){999}", "^(?:a?){9999}$", &deep, &long, &many]
        {
            assert!(matches!(refused(pattern), PatternError::TooLarge { .. }), "{pattern:.20}");
        }
        let nested = format!("{}a{}", "(".repeat(64), ")".repeat(64));
        assert!(matches(&nested, "a"));
        assert!(matches("(?:){1000000000}(?:(?:x{0}){9}){999999}", ""));
    }

    #[test]
    fn steps_bound_the_sum_of_many_patterns() {
        let mut steps = 10_000;
        assert!(compile_within("^[a-z]+$", &mut steps).is_ok());
        assert!(steps < 10_000);
        while compile_within("^(a|bc)*$", &mut steps).is_ok() {}
        assert_eq!(steps, 0);
    }
}
