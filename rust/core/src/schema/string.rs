//! Sets of strings: unions of words or automata, each with an interval of lengths beside it.

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::strings::{ANY_LENGTH, Dfa, Length, Operation};
use super::undecided::Undecided;

/// The most parts of a union.
const PARTS: usize = 1_024;
/// The steps of all products of one question: some tens of milliseconds.
const STEPS: usize = 4_000_000;

/// The steps that a character of a list of words costs in its automaton.
const CHARACTER: usize = 4;

/// The steps that a word costs which is looked up in a list, or copied.
const WORD: usize = 4;

/// The words of one part whose length lies in an interval. Never empty when it stands in a set, as far as
/// that is known without a search.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Str {
    pub(crate) words: Words,
    pub(crate) length: Length,
}

/// Words, whatever their length.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Words {
    /// Exactly these, sorted, each once; an `enum` needs no automaton. Lengths are applied at once.
    List(Arc<[SmolStr]>),
    /// Those that the automaton accepts.
    Dfa(Arc<Dfa>),
}

/// The automaton of every string, shared by the process.
pub(crate) fn all() -> Arc<Dfa> {
    static ALL: LazyLock<Arc<Dfa>> = LazyLock::new(|| Arc::new(Dfa::all()));
    Arc::clone(&ALL)
}

impl Str {
    /// Every string.
    pub(crate) fn any() -> Self {
        Self { words: Words::Dfa(all()), length: ANY_LENGTH }
    }

    /// The words of an automaton with a length in an interval; nothing when that is plainly empty.
    pub(crate) fn of_dfa(dfa: Arc<Dfa>, length: Length) -> Option<Self> {
        let empty = dfa.is_none() || length.1.is_some_and(|most| most < length.0);
        (!empty).then_some(Self { words: Words::Dfa(dfa), length })
    }

    /// Some words; nothing for no words.
    pub(crate) fn of_words(mut words: Vec<SmolStr>) -> Option<Self> {
        words.sort_unstable();
        words.dedup();
        (!words.is_empty()).then(|| Self { words: Words::List(words.into()), length: ANY_LENGTH })
    }

    pub(crate) fn is_any(&self) -> bool {
        self.length == ANY_LENGTH && matches!(&self.words, Words::Dfa(dfa) if dfa.is_all())
    }

    pub(crate) fn has(&self, text: &str) -> bool {
        let fits = self.length == ANY_LENGTH || within(text.chars().count() as u64, self.length);
        fits && match &self.words {
            Words::List(words) => words.binary_search_by(|word| word.as_str().cmp(text)).is_ok(),
            Words::Dfa(dfa) => dfa.is_all() || dfa.matches(text),
        }
    }

    /// A word of the set; `None` is proof that there is none.
    fn member_within(&self, steps: &mut usize) -> Result<Option<SmolStr>, Undecided> {
        match &self.words {
            Words::List(words) => Ok(words.first().cloned()),
            Words::Dfa(dfa) => {
                let (least, most) = self.length;
                Ok(dfa.word_within(least, most, steps)?.map(SmolStr::from))
            }
        }
    }

    /// Whether a member is known without a search.
    pub(crate) fn has_member_at_sight(&self) -> bool {
        match &self.words {
            Words::List(words) => !words.is_empty(),
            Words::Dfa(dfa) if dfa.is_all() => self.length.1.is_none_or(|most| self.length.0 <= most),
            Words::Dfa(dfa) => self.length == ANY_LENGTH && !dfa.is_none(),
        }
    }
}

/// Whether a count lies in an interval.
pub(crate) fn within(count: u64, (least, most): Length) -> bool {
    least <= count && most.is_none_or(|most| count <= most)
}

/// The counts in both intervals.
pub(crate) fn meet(a: Length, b: Length) -> Length {
    let most = match (a.1, b.1) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    (a.0.max(b.0), most)
}

/// Whether no count lies in the interval.
pub(crate) fn is_empty((least, most): Length) -> bool {
    most.is_some_and(|most| most < least)
}

/// The counts outside an interval: below it and above it.
pub(crate) fn outside((least, most): Length) -> impl Iterator<Item = Length> {
    let below = least.checked_sub(1).map(|last| (0, Some(last)));
    let above = most.and_then(|most| most.checked_add(1)).map(|first| (first, None));
    below.into_iter().chain(above)
}

/// Products of automata, remembered, and paid for from one purse.
#[derive(Debug)]
pub(crate) struct Products {
    known: FxHashMap<(Arc<Dfa>, Arc<Dfa>, Operation), Arc<Dfa>>,
    steps: usize,
}

impl Default for Products {
    fn default() -> Self {
        Self::within(STEPS)
    }
}

impl Products {
    /// With so many steps to spend.
    pub(crate) fn within(steps: usize) -> Self {
        Self { known: FxHashMap::default(), steps }
    }

    /// So many steps in place of what is left.
    pub(crate) fn refill(&mut self, steps: usize) {
        self.steps = steps;
    }

    /// What is left.
    pub(crate) fn left(&self) -> usize {
        self.steps
    }

    fn pay(&mut self, steps: usize) -> Result<(), Undecided> {
        let left = self.steps.checked_sub(steps);
        self.steps = left.unwrap_or(0);
        left.map(drop).ok_or(Undecided::Steps)
    }

    /// Pays for looking up the words of a list in another part.
    fn pay_for(&mut self, words: &[SmolStr], part: &Str) -> Result<(), Undecided> {
        self.pay(match &part.words {
            Words::List(_) => WORD.saturating_mul(words.len()),
            Words::Dfa(dfa) if dfa.is_all() => words.len(),
            Words::Dfa(_) => words.iter().fold(words.len(), |sum, word| sum.saturating_add(word.len() / 2)),
        })
    }

    /// Some different words of a part, short ones first: as many as are asked for, unless there are fewer or they are
    /// hard to find.
    pub(crate) fn some_words(&mut self, part: &Str, most: usize) -> Result<Vec<SmolStr>, Undecided> {
        match &part.words {
            Words::List(words) => {
                self.pay(words.len().min(most))?;
                Ok(words.iter().take(most).cloned().collect())
            }
            Words::Dfa(dfa) => {
                let words = dfa.words_within(part.length.0, part.length.1, most, &mut self.steps);
                if self.steps == 0 { Err(Undecided::Steps) } else { Ok(words) }
            }
        }
    }

    /// A word of a part; `None` is proof that there is none.
    pub(crate) fn member(&mut self, part: &Str) -> Result<Option<SmolStr>, Undecided> {
        part.member_within(&mut self.steps)
    }

    /// A word of an automaton with a length in an interval; `None` is proof that there is none.
    pub(crate) fn word(&mut self, dfa: &Arc<Dfa>, length: Length) -> Result<Option<SmolStr>, Undecided> {
        self.member(&Str { words: Words::Dfa(Arc::clone(dfa)), length })
    }

    /// The strings in both.
    pub(crate) fn and(&mut self, a: &Arc<Dfa>, b: &Arc<Dfa>) -> Result<Arc<Dfa>, Undecided> {
        if Arc::ptr_eq(a, b) || b.is_all() {
            return Ok(Arc::clone(a));
        }
        if a.is_all() {
            return Ok(Arc::clone(b));
        }
        self.combine(a, b, Operation::And)
    }

    /// The strings in at least one.
    pub(crate) fn or(&mut self, a: &Arc<Dfa>, b: &Arc<Dfa>) -> Result<Arc<Dfa>, Undecided> {
        if Arc::ptr_eq(a, b) || b.is_none() || a.is_all() {
            return Ok(Arc::clone(a));
        }
        self.combine(a, b, Operation::Or)
    }

    /// The strings of the first that are not in the second.
    pub(crate) fn minus(&mut self, a: &Arc<Dfa>, b: &Arc<Dfa>) -> Result<Arc<Dfa>, Undecided> {
        if b.is_none() {
            return Ok(Arc::clone(a));
        }
        self.combine(a, b, Operation::Minus)
    }

    fn combine(&mut self, a: &Arc<Dfa>, b: &Arc<Dfa>, op: Operation) -> Result<Arc<Dfa>, Undecided> {
        let key = (Arc::clone(a), Arc::clone(b), op);
        if let Some(known) = self.known.get(&key) {
            return Ok(Arc::clone(known));
        }
        if self.steps == 0 {
            return Err(Undecided::Steps);
        }
        let made = Arc::new(a.combine(b, op, &mut self.steps)?);
        self.known.insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// The strings in both parts; nothing when there plainly are none.
    fn meet(&mut self, a: &Str, b: &Str) -> Result<Option<Str>, Undecided> {
        if let Words::List(words) = &a.words {
            self.pay_for(words, b)?;
            return Ok(Str::of_words(words.iter().filter(|word| b.has(word)).cloned().collect()));
        }
        let (Words::Dfa(left), Words::Dfa(right)) = (&a.words, &b.words) else { return self.meet(b, a) };
        let length = meet(a.length, b.length);
        if is_empty(length) {
            return Ok(None);
        }
        let Some(part) = Str::of_dfa(self.and(left, right)?, length) else { return Ok(None) };
        // A part whose words are all too short or too long is none; one too long to say stays.
        Ok((part.has_member_at_sight() || !matches!(self.member(&part), Ok(None))).then_some(part))
    }

    /// The strings in both unions.
    pub(crate) fn meet_all(&mut self, a: &[Str], b: &[Str]) -> Result<Vec<Str>, Undecided> {
        if matches!(a, [one] if one.is_any()) || a == b {
            return Ok(b.to_vec());
        }
        if matches!(b, [one] if one.is_any()) {
            return Ok(a.to_vec());
        }
        let mut parts = Vec::new();
        for x in a {
            for y in b {
                self.pay(1 + parts.len())?;
                if let Some(part) = self.meet(x, y)?
                    && !parts.contains(&part)
                {
                    parts.push(part);
                }
                if parts.len() > PARTS {
                    return Err(Undecided::Clauses);
                }
            }
        }
        Ok(parts)
    }

    /// The strings in at least one union; lists become one list, automata of any length one automaton.
    pub(crate) fn join_all(&mut self, a: &[Str], b: &[Str]) -> Result<Vec<Str>, Undecided> {
        let mut words: Vec<SmolStr> = Vec::new();
        let mut dfas: Vec<Arc<Dfa>> = Vec::new();
        let mut parts: Vec<Str> = Vec::new();
        for part in a.iter().chain(b) {
            self.pay(1 + parts.len())?;
            match &part.words {
                Words::List(list) => words.extend(list.iter().cloned()),
                Words::Dfa(dfa) if part.length == ANY_LENGTH => dfas.push(Arc::clone(dfa)),
                Words::Dfa(_) if parts.contains(part) => {}
                Words::Dfa(_) => parts.push(part.clone()),
            }
        }
        let mut rest = dfas.into_iter();
        if let Some(first) = rest.next() {
            let joined = rest.try_fold(first, |joined, dfa| self.or(&joined, &dfa))?;
            parts.extend(Str::of_dfa(joined, ANY_LENGTH));
        }
        self.pay(WORD.saturating_mul(words.len()))?;
        for part in &parts {
            self.pay_for(&words, part)?;
        }
        words.retain(|word| !parts.iter().any(|part| part.has(word)));
        parts.extend(Str::of_words(words));
        if parts.iter().any(Str::is_any) {
            parts.retain(Str::is_any);
        }
        Ok(parts)
    }

    /// The strings of the first union that are not in the second. Lists meet no automaton here, and lengths
    /// none of their own.
    pub(crate) fn minus_all(&mut self, a: &[Str], b: &[Str]) -> Result<Vec<Str>, Undecided> {
        // Thousands of words that are taken out one by one are one list.
        let mut listed: Vec<SmolStr> = Vec::new();
        let mut others: Vec<Str> = Vec::new();
        for part in b {
            match &part.words {
                Words::List(words) => listed.extend(words.iter().cloned()),
                Words::Dfa(_) => others.push(part.clone()),
            }
        }
        self.pay(WORD.saturating_mul(listed.len()).saturating_add(others.len()))?;
        let mut rest = a.to_vec();
        for out in Str::of_words(listed).iter().chain(&others) {
            let mut parts: Vec<Str> = Vec::new();
            for part in rest {
                self.pay(1 + parts.len())?;
                for left in self.outside(&part, out)? {
                    if !parts.contains(&left) {
                        parts.push(left);
                    }
                }
                if parts.len() > PARTS {
                    return Err(Undecided::Clauses);
                }
            }
            rest = parts;
        }
        Ok(rest)
    }

    /// The strings of one part that are not in another, as parts that may overlap.
    fn outside(&mut self, part: &Str, out: &Str) -> Result<Vec<Str>, Undecided> {
        if part == out {
            return Ok(Vec::new());
        }
        let dfa = match &part.words {
            Words::List(words) => {
                self.pay_for(words, out)?;
                let left = words.iter().filter(|word| !out.has(word)).cloned().collect();
                return Ok(Str::of_words(left).into_iter().collect());
            }
            Words::Dfa(dfa) => dfa,
        };
        let other = self.automaton(out)?;
        let words = self.minus(dfa, &other)?;
        let by_words = Str::of_dfa(words, part.length).into_iter();
        let lengths = outside(out.length).map(|length| meet(part.length, length));
        let by_length = lengths.filter_map(|length| Str::of_dfa(Arc::clone(dfa), length));
        let mut parts: Vec<Str> = by_words.chain(by_length).collect();
        parts.retain(|part| part.has_member_at_sight() || !matches!(self.member(part), Ok(None)));
        Ok(parts)
    }

    /// Every string that is not in the union.
    pub(crate) fn complement(&mut self, parts: &[Str]) -> Result<Vec<Str>, Undecided> {
        let mut rest = vec![Str::any()];
        for part in parts {
            let dfa = self.automaton(part)?;
            let other = self.minus(&all(), &dfa)?;
            let mut outer: Vec<Str> = Str::of_dfa(other, ANY_LENGTH).into_iter().collect();
            if matches!(part.words, Words::Dfa(_)) {
                let lengths = outside(part.length);
                outer.extend(lengths.filter_map(|length| Str::of_dfa(Arc::clone(&dfa), length)));
            }
            rest = self.meet_all(&rest, &outer)?;
        }
        Ok(rest)
    }

    /// The words of a part as an automaton, whatever their length.
    fn automaton(&mut self, part: &Str) -> Result<Arc<Dfa>, Undecided> {
        match &part.words {
            Words::Dfa(dfa) => Ok(Arc::clone(dfa)),
            Words::List(words) => self.of_words(words.iter().map(SmolStr::as_str)),
        }
    }

    /// An automaton of some words.
    pub(crate) fn of_words<'w>(
        &mut self,
        words: impl Iterator<Item = &'w str>,
    ) -> Result<Arc<Dfa>, Undecided> {
        let words: Vec<&str> = words.collect();
        let cost = words.iter().fold(0, |cost: usize, word| cost.saturating_add(CHARACTER * word.len()));
        self.pay(cost)?;
        Ok(Arc::new(Dfa::words(&words)))
    }

    /// The union as one automaton, lengths counted in states.
    pub(crate) fn language(&mut self, parts: &[Str]) -> Result<Arc<Dfa>, Undecided> {
        let mut whole = Arc::new(Dfa::none());
        for part in parts {
            let mut dfa = self.automaton(part)?;
            if part.length != ANY_LENGTH {
                dfa = Arc::new(dfa.with_length(
                    part.length.0,
                    part.length.1,
                    super::strings::pattern::DFA_STATES,
                )?);
            }
            whole = self.or(&whole, &dfa)?;
        }
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::strings::pattern;

    fn of_pattern(text: &str, length: Length) -> Str {
        let pattern = pattern::compile(text).unwrap();
        Str::of_dfa(Arc::clone(&pattern.dfa), meet(pattern.length, length)).unwrap()
    }

    fn of_words(words: &[&str]) -> Str {
        Str::of_words(words.iter().map(SmolStr::new).collect()).unwrap()
    }

    fn has(parts: &[Str], text: &str) -> bool {
        parts.iter().any(|part| part.has(text))
    }

    #[test]
    fn intervals_meet_and_have_an_outside() {
        assert_eq!(meet((1, None), (0, Some(5))), (1, Some(5)));
        assert_eq!(outside((2, Some(4))).collect::<Vec<_>>(), [(0, Some(1)), (5, None)]);
        assert_eq!(outside((0, Some(u64::MAX))).count(), 0);
        assert!(is_empty((3, Some(2))) && !is_empty((3, None)));
    }

    #[test]
    fn every_operation_agrees_with_membership() {
        let sets = [
            vec![Str::any()],
            vec![of_words(&["a", "bb", "1"])],
            vec![of_pattern("^[a-z]+$", (2, Some(3))), of_words(&["9"])],
            vec![of_pattern("[0-9]", ANY_LENGTH)],
            vec![],
        ];
        let samples = ["", "a", "bb", "1", "9", "abc", "abcd", "a1", "12345"];
        let mut products = Products::default();
        for a in &sets {
            let complement = products.complement(a).unwrap();
            let language = products.language(a).unwrap();
            for text in samples {
                assert_eq!(has(&complement, text), !has(a, text), "not {a:?} {text}");
                assert_eq!(language.matches(text), has(a, text), "{a:?} {text}");
            }
            for b in &sets {
                let meet = products.meet_all(a, b).unwrap();
                let join = products.join_all(a, b).unwrap();
                for text in samples {
                    assert_eq!(has(&meet, text), has(a, text) && has(b, text), "{a:?} and {b:?} {text}");
                    assert_eq!(has(&join, text), has(a, text) || has(b, text), "{a:?} or {b:?} {text}");
                }
            }
        }
    }

    #[test]
    fn a_member_is_in_the_set() {
        let part = of_pattern("^[a-z]+$", (5, Some(7)));
        let member = |part: &Str| Products::default().member(part);
        assert!(part.has(&member(&part).unwrap().unwrap()));
        assert_eq!(member(&of_pattern("^ab$", (3, None))), Ok(None));
    }
}
