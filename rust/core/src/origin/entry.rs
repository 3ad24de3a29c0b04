//! The origins of a manifest.

use smol_str::{SmolStr, format_smolstr};

use super::Reach;
use super::binding::permit;
use super::origin::Origin;
use super::rules::{ORIGIN_CHOICE_REPEATED, ORIGIN_CHOICES_OR_UNDER, ORIGIN_UNDER, OriginFault};
use crate::json::{Path, Value};
use crate::record;
use crate::shape::{Definitions, Reading, SHAPE_TYPE, Shape, fragment};
use crate::text::{Description, Title};

/// Where the requests of a manifest go: a server that the author names, or one that the person names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginEntry {
    /// The same server for everybody: https, a name of the public DNS.
    Fixed(Origin),
    /// The server of the person who installs.
    UserProvided(UserProvided),
}

/// An origin that the person gives at install time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserProvided {
    title: Option<Title>,
    description: Option<Description>,
    local_network: bool,
    base_path: bool,
    selection: Selection,
}

/// Which origins a person may give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Any that the other members permit.
    Free,
    /// One of a list.
    Choices(Vec<Origin>),
    /// A host of exactly one more label than this name.
    Under(SmolStr),
}

impl OriginEntry {
    /// Takes the text of a fixed origin: https, no IP address, a name of the public DNS.
    pub fn fixed(text: &str) -> Result<Self, OriginFault> {
        let origin = Origin::parse(text)?;
        permit(&origin, false, Reach::PUBLIC)?;
        Ok(Self::Fixed(origin))
    }
}

impl UserProvided {
    /// What the person is asked for, one line; clean.
    pub fn title(&self) -> Option<&str> {
        self.title.as_ref().map(Title::as_str)
    }

    /// More about it.
    pub fn description(&self) -> Option<&str> {
        self.description.as_ref().map(Description::as_str)
    }

    /// Whether local addresses, IP literals and http are permitted.
    pub fn local_network(&self) -> bool {
        self.local_network
    }

    /// Whether the value may carry a path.
    pub fn base_path(&self) -> bool {
        self.base_path
    }

    /// Which origins may be given.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }
}

/// The JSON forms, as the manifest page lists their members.
mod members {
    use smol_str::SmolStr;

    use crate::origin::Origin;
    use crate::record;
    use crate::shape::List;
    use crate::text::{Description, Title};

    record! {
        /// An origin that the person who installs gives, never the model.
        pub(super) struct UserProvided {
            /// What the person is asked for, one line.
            pub(super) title: Option<Title> = "title",
            /// More about it.
            pub(super) description: Option<Description> = "description",
            /// Permits (does not require) a local address, an IP literal, and http.
            pub(super) local_network: bool = "localNetwork",
            /// Lets the value carry `/segment` parts after the origin.
            pub(super) base_path: bool = "basePath",
            /// The value is one of these origins.
            pub(super) choices: Option<List<Origin, 1, 100>> = "choices",
            /// The host has exactly one more label than this name.
            pub(super) under: Option<SmolStr> = "under",
        }
    }
}

record! {
    /// An origin that the person who installs binds.
    struct BoundByPerson {
        /// How it may be bound.
        user_provided: UserProvided = "userProvided",
    }
}

impl Shape for UserProvided {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let members = members::UserProvided::read(value, at, reading)?;
        let local_network = members.local_network;
        let selection = match (members.choices, members.under) {
            (None, None) => Selection::Free,
            (Some(choices), None) => {
                check_choices(&choices.0, local_network, &at.name("choices"), reading)?;
                Selection::Choices(choices.0)
            }
            (None, Some(name)) => match check_under(&name, local_network) {
                Ok(()) => Selection::Under(name),
                Err(fault) => {
                    return reading.refuse(fault.rule(), &at.name("under"), format_args!("{fault}"));
                }
            },
            (Some(_), Some(_)) => {
                let message = format_args!("`choices` and `under` exclude each other");
                return reading.refuse(&ORIGIN_CHOICES_OR_UNDER, at, message);
            }
        };
        let (title, description) = (members.title, members.description);
        Some(Self { title, description, local_network, base_path: members.base_path, selection })
    }

    fn describe(definitions: &mut Definitions) -> Value {
        members::UserProvided::describe(definitions)
    }
}

impl Shape for OriginEntry {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match value {
            Value::String(text) => match Self::fixed(text) {
                Ok(entry) => Some(entry),
                Err(fault) => reading.refuse(fault.rule(), at, format_args!("{fault}")),
            },
            Value::Object(_) => {
                BoundByPerson::read(value, at, reading).map(|entry| Self::UserProvided(entry.user_provided))
            }
            _ => {
                let kind = value.kind();
                let message =
                    format_args!("expected an origin or an object with `userProvided`, found {kind}");
                reading.refuse(&SHAPE_TYPE, at, message)
            }
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let fixed = fragment([
            ("type", "string".into()),
            ("pattern", r"^https://[a-z0-9_-]+(\.[a-z0-9_-]+)+(:[1-9][0-9]{0,4})?$".into()),
        ]);
        let bound = BoundByPerson::describe(definitions);
        fragment([("anyOf", Value::Array(vec![fixed, bound]))])
    }
}

/// Each choice may lead where the entry permits. What a grant opens is not known yet: what any could, counts.
fn check_choices(
    choices: &[Origin],
    local_network: bool,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) -> Option<()> {
    let mut fine = Some(());
    for (index, origin) in choices.iter().enumerate() {
        let repeated = choices.iter().take(index).any(|earlier| earlier == origin);
        let judged = permit(origin, local_network, Reach::WIDEST);
        let judged = judged.and(if repeated { Err((&ORIGIN_CHOICE_REPEATED).into()) } else { Ok(()) });
        if let Err(fault) = judged {
            fine = reading.refuse(fault.rule(), &at.index(index), format_args!("{fault}"));
        }
    }
    fine
}

fn check_under(name: &str, local_network: bool) -> Result<(), OriginFault> {
    let host = format_smolstr!("a.{name}");
    let sample =
        Origin::parse(&format_smolstr!("https://{host}")).ok().filter(|origin| origin.host() == host);
    let Some(sample) = sample.filter(|sample| sample.address().is_none()) else {
        return Err((&ORIGIN_UNDER).into());
    };
    permit(&sample, local_network, Reach::WIDEST)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::json::read_text;
    use crate::limits::TrustLimits;
    use crate::rule::Findings;

    pub(crate) fn load(text: &str) -> Result<OriginEntry, Vec<(&'static str, String)>> {
        let (limits, mut findings) = (TrustLimits::default(), Findings::new());
        let mut reading = Reading { limits: &limits, findings: &mut findings };
        let entry = OriginEntry::read(&read_text(text).unwrap(), &Path::Root, &mut reading);
        let found: Vec<_> =
            findings.list().iter().map(|found| (found.rule.id, found.pointer.clone())).collect();
        entry.filter(|_| found.is_empty()).ok_or(found)
    }

    #[test]
    fn the_members_of_a_user_provided_origin_are_those_of_the_format() {
        let text = r#"{"userProvided": {"title": "Your server", "description": "Where it runs.", "localNetwork": true, "basePath": true}}"#;
        let entry = load(text).unwrap();
        let OriginEntry::UserProvided(entry) = entry else { panic!("{entry:?}") };
        assert_eq!((entry.title(), entry.description()), (Some("Your server"), Some("Where it runs.")));
        assert!(entry.local_network() && entry.base_path() && *entry.selection() == Selection::Free);
        for (text, found) in [
            ("{}", vec![("shape.missing_member", "")]),
            (r#"{"userProvided": []}"#, vec![("shape.type", "/userProvided")]),
            (
                r#"{"userProvided": {"title": "x", "port": 1}}"#,
                vec![("shape.unknown_member", "/userProvided/port")],
            ),
            (
                r#"{"userProvided": {"title": "x", "choices": ["https://a.example"], "under": "example.com"}}"#,
                vec![("origin.choices_or_under", "/userProvided")],
            ),
            (
                r#"{"userProvided": {"title": "x", "choices": []}}"#,
                vec![("shape.count", "/userProvided/choices")],
            ),
            (
                r#"{"userProvided": {"title": "x", "choices": ["https://a.example", "http://b.example", "https://a.example"]}}"#,
                vec![
                    ("origin.https", "/userProvided/choices/1"),
                    ("origin.choice_repeated", "/userProvided/choices/2"),
                ],
            ),
            (
                r#"{"userProvided": {"title": "x", "choices": ["https://a.example/", "https://8.8.8.8"]}}"#,
                vec![("origin.path", "/userProvided/choices/0")],
            ),
            (
                r#"{"userProvided": {"title": "x", "localNetwork": true, "choices": ["http://8.8.8.8", "http://169.254.169.254"]}}"#,
                vec![
                    ("origin.public_address", "/userProvided/choices/0"),
                    ("origin.address", "/userProvided/choices/1"),
                ],
            ),
        ] {
            let found = found.into_iter().map(|(rule, pointer)| (rule, pointer.to_owned())).collect();
            assert_eq!(load(text), Err(found), "{text}");
        }
        for name in [
            "",
            "Zendesk.com",
            "zendesk.com.",
            "zendesk.com:8443",
            "https://zendesk.com",
            ".com",
            "a b",
            "1.2.3",
        ] {
            let text = format!(r#"{{"userProvided": {{"title": "x", "under": "{name}"}}}}"#);
            assert_eq!(load(&text), Err(vec![("origin.under", "/userProvided/under".to_owned())]), "{name}");
        }
        let local = r#"{"userProvided": {"title": "x", "under": "home.arpa"}}"#;
        assert_eq!(load(local), Err(vec![("origin.local_name", "/userProvided/under".to_owned())]));
    }

    #[test]
    fn the_schema_lists_the_members_and_takes_the_example_of_the_manifest() {
        let mut definitions = Definitions::default();
        let schema = OriginEntry::describe(&mut definitions);
        let definitions = definitions.into_object();
        let members = definitions.get("UserProvided").and_then(|entry| entry.get("properties"));
        let names: Vec<_> = members.and_then(Value::as_object).unwrap().keys().map(SmolStr::as_str).collect();
        assert_eq!(names, ["title", "description", "localNetwork", "basePath", "choices", "under"]);
        let document = fragment([("$defs", definitions.into()), ("allOf", Value::Array(vec![schema]))]);
        let document: serde_json::Value = serde_json::from_str(&document.to_text()).unwrap();
        let judge = jsonschema::validator_for(&document).unwrap();
        for text in [
            r#"{"userProvided": {"title": "Your server", "localNetwork": true, "basePath": true}}"#,
            r#"{"userProvided": {}}"#,
            r#""https://api.example.com:8443""#,
            r#"{"userProvided": {"title": "Site", "choices": ["http://[fd00::1]:8123"]}}"#,
        ] {
            assert!(judge.is_valid(&serde_json::from_str(text).unwrap()), "{text}");
        }
        for text in [r#""http://api.example.com""#, r#""https://localhost""#, r#"{"userProvided": 1}"#] {
            assert!(!judge.is_valid(&serde_json::from_str(text).unwrap()), "{text}");
        }
    }
}
