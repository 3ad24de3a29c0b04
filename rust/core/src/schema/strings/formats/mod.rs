//! The known values of `format`: each either exact, as an automaton, or an annotation, never in between.
//!
//! | format | states | first use | defined by |
//! |---|---|---|---|
//! | `date` | 30 | 0.07 ms | RFC 3339, section 5.6, with the days of the months and leap years |
//! | `time` | 885 | 0.65 ms | RFC 3339, section 5.6; leap seconds where it is 23:59:60 in UTC |
//! | `date-time` | 914 | 0.7 ms | RFC 3339, section 5.6 |
//! | `duration` | 16 | 0.03 ms | RFC 3339, appendix A, in capitals |
//! | `email` | 152 | 0.6 ms | `Mailbox` of RFC 5321, section 4.1.2 |
//! | `ipv4` | 25 | 0.03 ms | RFC 2673, section 3.2, without leading zeros |
//! | `ipv6` | 152 | 0.75 ms | RFC 4291, section 2.2 |
//! | `uri`, `uri-reference` | 180, 183 | 1 ms | RFC 3986, appendix A |
//! | `iri`, `iri-reference` | 183, 186 | 1.1 ms | RFC 3987, section 2.2 |
//! | `uri-template` | 14 | 0.07 ms | RFC 6570, section 2 |
//! | `uuid` | 38 | 0.02 ms | RFC 4122, section 3 |
//! | `json-pointer` | 4 | 0.01 ms | RFC 6901, section 3 |
//! | `relative-json-pointer` | 7 | 0.01 ms | draft-handrews-relative-json-pointer-01, section 3 |
//!
//! A leap second is taken at the offsets that clocks have had since there are leap seconds (1972), whole quarters
//! of an hour; at the others it would cost `time` ten thousand states.
//!
//! `hostname` is an annotation because RFC 5891 makes the validity of an `xn--` label depend on decoding it,
//! which no automaton of sensible size does; `idn-hostname` and `idn-email` hold such labels, and `regex` is
//! not a regular language. An author who wants the plain syntax of host names writes it as a `pattern`.

mod internet;
mod time;

use std::sync::Arc;

use once_cell::sync::OnceCell;

use super::{Dfa, pattern};

/// What is known of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// Exactly these strings; the automaton is shared by the whole process.
    Exact(Arc<Dfa>),
    /// A name that is known and asserts nothing.
    Annotation,
}

/// The format of this name, in the spelling of JSON Schema; `None` for a name that is not known, which asserts
/// nothing either. The first use of an exact format compiles it, once for the process.
pub fn lookup(name: &str) -> Option<Format> {
    if let Some(exact) = EXACT.iter().find(|exact| exact.name == name) {
        return Some(Format::Exact(Arc::clone(exact.dfa())));
    }
    ANNOTATIONS.contains(&name).then_some(Format::Annotation)
}

/// The names that are known, the exact ones first.
pub fn names() -> impl Iterator<Item = &'static str> {
    EXACT.iter().map(|exact| exact.name).chain(ANNOTATIONS.iter().copied())
}

/// How many formats are exact; [`names`] gives these first.
pub(crate) const EXACT_COUNT: usize = 15;

/// The place in the table and the name of the exact format whose shared automaton this is.
pub(crate) fn of_dfa(dfa: &Arc<Dfa>) -> Option<(usize, &'static str)> {
    let is = |exact: &Exact| exact.dfa.get().is_some_and(|known| Arc::ptr_eq(known, dfa));
    EXACT.iter().position(is).and_then(|place| EXACT.get(place).map(|exact| (place, exact.name)))
}

/// A format that an automaton decides, made at its first use.
struct Exact {
    name: &'static str,
    pattern: fn() -> String,
    dfa: OnceCell<Arc<Dfa>>,
}

impl Exact {
    const fn new(name: &'static str, pattern: fn() -> String) -> Self {
        Self { name, pattern, dfa: OnceCell::new() }
    }

    fn dfa(&self) -> &Arc<Dfa> {
        self.dfa.get_or_init(|| {
            // The patterns are ours and a test compiles every one; were one broken, nothing would match it.
            let whole = format!("^(?:{})$", (self.pattern)());
            pattern::compile(&whole).map_or_else(|_| Arc::new(Dfa::none()), |pattern| pattern.dfa)
        })
    }
}

static EXACT: [Exact; EXACT_COUNT] = [
    Exact::new("date", time::date),
    Exact::new("time", time::time),
    Exact::new("date-time", time::date_time),
    Exact::new("duration", time::duration),
    Exact::new("email", internet::mailbox),
    Exact::new("ipv4", internet::ipv4),
    Exact::new("ipv6", internet::ipv6),
    Exact::new("uri", internet::uri),
    Exact::new("uri-reference", internet::uri_reference),
    Exact::new("iri", internet::iri),
    Exact::new("iri-reference", internet::iri_reference),
    Exact::new("uri-template", internet::uri_template),
    Exact::new("uuid", uuid),
    Exact::new("json-pointer", json_pointer),
    Exact::new("relative-json-pointer", relative_json_pointer),
];

static ANNOTATIONS: [&str; 4] = ["hostname", "idn-hostname", "idn-email", "regex"];

/// RFC 4122, section 3: five groups of hexadecimal digits, of any version and variant.
fn uuid() -> String {
    "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}".into()
}

/// RFC 6901, section 3.
fn json_pointer() -> String {
    "(?:/(?:[^~/]|~[01])*)*".into()
}

/// draft-handrews-relative-json-pointer-01, section 3.
fn relative_json_pointer() -> String {
    format!("(?:0|[1-9][0-9]*)(?:#|{})", json_pointer())
}
