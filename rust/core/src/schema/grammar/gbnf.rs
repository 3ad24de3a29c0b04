//! A reader and matcher of GBNF for the tests here: small, slow, and independent of the writer. The judge of all that
//! is written is llama.rn's own parser, in a crate of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug)]
enum Node {
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Rule(String),
    Class(bool, Vec<(u32, u32)>),
    Times(Box<Node>, usize, usize),
}

/// A grammar that was read.
#[derive(Debug)]
pub(in crate::schema) struct Gbnf(BTreeMap<String, Node>);

type Ends = BTreeSet<usize>;

impl Gbnf {
    /// Reads a grammar; panics where it is not well-formed, or names a rule that is not there.
    pub(in crate::schema) fn read(text: &str) -> Self {
        let mut rules = BTreeMap::new();
        for line in text.lines() {
            let (name, body) = line.split_once(" ::= ").unwrap_or_else(|| panic!("no rule: {line}"));
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "name {name}");
            assert!(
                !body.trim_end().ends_with('|') && !body.is_empty(),
                "an empty alternative at the end: {line}"
            );
            let characters: Vec<char> = body.chars().collect();
            let mut reader = Reader { text: &characters, at: 0 };
            let node = reader.choice();
            assert_eq!(reader.at, characters.len(), "{line}");
            assert!(rules.insert(name.to_owned(), node).is_none(), "two rules {name}");
        }
        let grammar = Self(rules);
        grammar.0.values().for_each(|node| grammar.check(node));
        grammar
    }

    fn check(&self, node: &Node) {
        match node {
            Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().for_each(|node| self.check(node)),
            Node::Times(node, least, most) => {
                assert!(least <= most && (*most < 2_000 || *most == usize::MAX));
                self.check(node);
            }
            Node::Rule(name) => assert!(self.0.contains_key(name), "no rule {name}"),
            Node::Class(..) => {}
        }
    }

    /// How many rules begin with a reference to another, one after the other: what stacks are made of, and what the
    /// parser's search for left recursion follows without remembering.
    pub(in crate::schema) fn leftmost_depth(&self) -> usize {
        let mut known = HashMap::new();
        self.0.keys().map(|name| self.depth_of(name, &mut known, &mut Vec::new())).max().unwrap_or(0)
    }

    fn depth_of<'g>(
        &'g self,
        name: &'g str,
        known: &mut HashMap<&'g str, usize>,
        path: &mut Vec<&'g str>,
    ) -> usize {
        if let Some(depth) = known.get(name) {
            return *depth;
        }
        assert!(!path.contains(&name), "{name} is left-recursive");
        path.push(name);
        let mut first = Vec::new();
        self.leftmost(&self.0[name], &mut first);
        let depth = first.iter().map(|next| 1 + self.depth_of(next, known, path)).max().unwrap_or(0);
        path.pop();
        known.insert(name, depth);
        depth
    }

    /// The rules that a node may begin with; says whether it may be empty.
    fn leftmost<'g>(&'g self, node: &'g Node, first: &mut Vec<&'g str>) -> bool {
        match node {
            Node::Sequence(nodes) => nodes.iter().all(|node| self.leftmost(node, first)),
            Node::Choice(nodes) => nodes.iter().fold(false, |empty, node| self.leftmost(node, first) | empty),
            Node::Rule(name) => {
                first.push(name);
                self.leftmost(&self.0[name.as_str()], &mut Vec::new())
            }
            Node::Class(..) => false,
            Node::Times(node, least, _) => self.leftmost(node, first) || *least == 0,
        }
    }

    /// Whether the rule takes the text.
    pub(in crate::schema) fn takes(&self, rule: &str, text: &str) -> bool {
        let characters: Vec<u32> = text.chars().map(u32::from).collect();
        let mut known = HashMap::new();
        self.rule(rule, &characters, 0, &mut known).contains(&characters.len())
    }

    fn rule(&self, name: &str, text: &[u32], at: usize, known: &mut HashMap<(String, usize), Ends>) -> Ends {
        let key = (name.to_owned(), at);
        if let Some(ends) = known.get(&key) {
            return ends.clone();
        }
        let ends = self.ends(&self.0[name], text, at, known);
        known.insert(key, ends.clone());
        ends
    }

    fn ends(&self, node: &Node, text: &[u32], at: usize, known: &mut HashMap<(String, usize), Ends>) -> Ends {
        match node {
            Node::Sequence(nodes) => nodes.iter().fold(Ends::from([at]), |starts, node| {
                starts.into_iter().flat_map(|at| self.ends(node, text, at, known)).collect()
            }),
            Node::Choice(nodes) => nodes.iter().flat_map(|node| self.ends(node, text, at, known)).collect(),
            Node::Rule(name) => self.rule(name, text, at, known),
            Node::Class(not, ranges) => match text.get(at) {
                Some(c) if ranges.iter().any(|(lo, hi)| lo <= c && c <= hi) != *not => Ends::from([at + 1]),
                _ => Ends::new(),
            },
            Node::Times(node, least, most) => {
                let (mut ends, mut starts) = (Ends::new(), Ends::from([at]));
                for count in 0..=*most {
                    if count >= *least {
                        ends.extend(&starts);
                    }
                    starts = starts.into_iter().flat_map(|at| self.ends(node, text, at, known)).collect();
                    if starts.is_empty() || (count >= *least && starts.is_subset(&ends)) {
                        break;
                    }
                }
                ends
            }
        }
    }
}

struct Reader<'t> {
    text: &'t [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> char {
        self.text.get(self.at).copied().unwrap_or('\n')
    }

    fn next(&mut self) -> char {
        self.at += 1;
        self.text[self.at - 1]
    }

    fn eat(&mut self, c: char) -> bool {
        let here = self.peek() == c;
        self.at += usize::from(here);
        here
    }

    fn choice(&mut self) -> Node {
        let mut choices = vec![self.sequence()];
        while self.eat('|') {
            choices.push(self.sequence());
        }
        Node::Choice(choices)
    }

    fn sequence(&mut self) -> Node {
        let mut nodes = Vec::new();
        loop {
            while self.eat(' ') {}
            let node = match self.peek() {
                '"' => {
                    self.next();
                    let mut literal = Vec::new();
                    while !self.eat('"') {
                        let c = self.character();
                        literal.push(Node::Class(false, vec![(c, c)]));
                    }
                    Node::Sequence(literal)
                }
                '[' => {
                    self.next();
                    let not = self.eat('^');
                    let mut ranges = Vec::new();
                    while !self.eat(']') {
                        let first = self.character();
                        let range = self.peek() == '-' && self.text.get(self.at + 1) != Some(&']');
                        let last = if range && self.eat('-') { self.character() } else { first };
                        assert!(first <= last);
                        ranges.push((first, last));
                    }
                    Node::Class(not, ranges)
                }
                '(' => {
                    self.next();
                    let choice = self.choice();
                    assert!(self.eat(')'), "a group is not closed");
                    choice
                }
                c if c.is_ascii_alphanumeric() => {
                    let mut name = String::new();
                    while self.peek().is_ascii_alphanumeric() || self.peek() == '-' {
                        name.push(self.next());
                    }
                    Node::Rule(name)
                }
                _ => return Node::Sequence(nodes),
            };
            nodes.push(self.times(node));
        }
    }

    fn times(&mut self, node: Node) -> Node {
        let (least, most) = match self.peek() {
            '*' => (0, usize::MAX),
            '+' => (1, usize::MAX),
            '?' => (0, 1),
            '{' => {
                self.next();
                let least = self.count().expect("a count");
                let most = if self.eat(',') { self.count().unwrap_or(usize::MAX) } else { least };
                (least, most)
            }
            _ => return node,
        };
        self.next();
        Node::Times(Box::new(node), least, most)
    }

    fn count(&mut self) -> Option<usize> {
        let mut digits = String::new();
        while self.peek().is_ascii_digit() {
            digits.push(self.next());
        }
        digits.parse().ok()
    }

    fn character(&mut self) -> u32 {
        let c = self.next();
        if c != '\\' {
            return c.into();
        }
        let digits = match self.next() {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            'n' => return '\n'.into(),
            'r' => return '\r'.into(),
            't' => return '\t'.into(),
            c @ ('"' | '\\' | '[' | ']') => return c.into(),
            c => panic!("unknown escape {c}"),
        };
        let hex: String = (0..digits).map(|_| self.next()).collect();
        u32::from_str_radix(&hex, 16).unwrap()
    }
}

#[test]
fn the_matcher_follows_rules_classes_and_counts() {
    let grammar = Gbnf::read(
        "root ::= \"a\\\"\" [b-d\\x2D]{2,3} (x | [^z]) tail\nx ::= | \"x\"\ntail ::= \"!\" tail | \"\"\n",
    );
    for (text, taken) in [
        ("a\"b-", true),
        ("a\"bcdx!!!", true),
        ("a\"b", false),
        ("a\"bbbb", true),
        ("a\"bbbbb", false),
        ("a\"bbz", false),
    ] {
        assert_eq!(grammar.takes("root", text), taken, "{text}");
    }
}
