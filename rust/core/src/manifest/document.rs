//! The members of a manifest, as they are written.

use smol_str::SmolStr;

use super::parameters::Parameters;
use super::rules::{
    HOMEPAGE, MANIFEST_VERSION, SETTING_CHOICES, SUPERSEDES, TOOL_COUNT, VERSION, check_tool,
};
use crate::json::{Path, Quoted, Sha256, Value};
use crate::origin::OriginEntry;
use crate::request::{Redirects, RequestDraft};
use crate::response::ResponseMap;
use crate::shape::{
    Definitions, Identifier, Integer, List, Named, Reading, SHAPE_TYPE, SHAPE_WORD, Shape, fragment, merged,
};
use crate::text::{Description, Title};
use crate::{record, words};

record! {
    /// A connector: what its tools are called, what they take, which one request each sends, and what of the answer is shown.
    pub(super) struct Manifest, draft ManifestDraft {
        /// The JSON Schema of this file, for editors.
        pub(super) schema: Option<SmolStr> = "$schema",
        /// The version of the format.
        pub(super) format_version: ManifestVersion = "manifestVersion",
        /// The name of the connector, for good.
        pub(super) id: Identifier = "id",
        /// The version of the connector, compared for equality only.
        pub(super) version: Version = "version",
        /// What a person calls the connector, one line.
        pub(super) title: Title = "title",
        /// What the connector is for.
        pub(super) description: Description = "description",
        /// An https URL; shown, never fetched.
        pub(super) homepage: Option<Homepage> = "homepage",
        /// The SHA-256 of the exact bytes of the manifest that this one replaces.
        pub(super) supersedes: Option<Supersedes> = "supersedes",
        /// The servers that requests may go to, and no others.
        pub(super) origins: Named<OriginEntry> = "origins",
        /// What the person gives at install time; it narrows what the model can reach.
        pub(super) settings: Option<Named<Setting>> = "settings",
        /// Secrets that the host keeps; no file, model or log sees one.
        pub(super) credentials: Option<Named<Credential>> = "credentials",
        /// What the model may call.
        pub(super) tools: Tools = "tools",
    }
}

record! {
    /// One tool: a function for the model, one HTTP request for the server.
    pub(super) struct Tool, draft ToolDraft, check check_tool {
        /// The name; the model calls `id.name`.
        pub(super) name: Identifier = "name",
        /// What a person calls the tool, one line.
        pub(super) title: Option<Title> = "title",
        /// What the tool does, for the model.
        pub(super) description: Description = "description",
        /// What a call does to the server's data.
        pub(super) effect: Effect = "effect",
        /// The arguments: an object schema. Absent: the tool takes none.
        pub(super) parameters: Parameters = "parameters",
        /// The request that a call sends.
        pub(super) request: RequestDraft = "request",
        /// What of the answer reaches the model. Absent: the whole body.
        pub(super) response: ResponseMap = "response",
        /// Bounds below those of the host.
        pub(super) limits: Option<Limits> = "limits",
    }
}

words! {
    /// What a call does to the server's data.
    pub enum Effect {
        /// It changes nothing.
        Read = "read",
        /// It adds or changes something.
        Write = "write",
        /// It removes something, or cannot be undone.
        Destructive = "destructive",
    }
}

record! {
    /// What the person gives at install time: a string unless it says otherwise, required, not empty.
    pub struct Setting {
        /// What the person is asked for, one line.
        pub title: Option<Title> = "title",
        /// More about it.
        pub description: Option<Description> = "description",
        /// The type of the value; a string by default.
        pub kind: Option<SettingType> = "type",
        /// The values that may be given.
        pub choices: Option<Choices> = "choices",
    }
}

words! {
    /// The type of a setting.
    pub enum SettingType {
        /// A string.
        String = "string",
        /// An integer.
        Integer = "integer",
    }
}

record! {
    /// A secret that the host keeps for one origin.
    pub struct Credential {
        /// What the person is asked for, one line.
        pub title: Option<Title> = "title",
        /// More about it.
        pub description: Option<Description> = "description",
        /// The name of the origin that the secret is for.
        pub origin: Identifier = "origin",
        /// Whether slots with `"absent": "omit"` may go without it.
        pub optional: bool = "optional",
    }
}

record! {
    /// Bounds of one tool; they only lower those of the host.
    #[derive(Default)]
    pub struct Limits {
        /// The whole time of a call in milliseconds, 20,000 by default.
        pub timeout_ms: Option<Ceiling<60_000>> = "timeoutMs",
        /// Bytes of the decoded answer.
        pub max_response_bytes: Option<Ceiling<4_194_304>> = "maxResponseBytes",
        /// Further tries of a request that may be repeated; 2 by default for a GET or HEAD of effect read.
        pub retries: Option<Integer<0, 3>> = "retries",
        /// Which redirects are followed; none by default.
        pub redirects: Option<Redirects> = "redirects",
        /// Calls of the connector a minute, 30 by default.
        pub calls_per_minute: Option<Ceiling<30>> = "callsPerMinute",
    }
}

/// A number of at least 1; the host's ceiling is `DEFAULT` unless it moved it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling<const DEFAULT: u64>(Integer<1, 9_007_199_254_740_991>);

impl<const DEFAULT: u64> Ceiling<DEFAULT> {
    /// The number.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl<const DEFAULT: u64> Shape for Ceiling<DEFAULT> {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        Integer::read(value, at, reading).map(Self)
    }

    fn describe(definitions: &mut Definitions) -> Value {
        Integer::<1, DEFAULT>::describe(definitions)
    }
}

impl Shape for Redirects {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match value.as_str() {
            Some("none") => Some(Self::None),
            Some("same-origin") => Some(Self::SameOrigin),
            _ => reading.refuse(&SHAPE_WORD, at, format_args!("expected one of `none`, `same-origin`")),
        }
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("enum", Value::Array(vec!["none".into(), "same-origin".into()]))])
    }
}

/// The token `1`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ManifestVersion;

impl ManifestVersion {
    /// Judges the member of a document, present or not, before anything else of it is.
    pub(super) fn check(document: &Value, reading: &mut Reading<'_>) -> Option<Self> {
        let version = document.get("manifestVersion");
        if let Some(version) = version {
            return Self::read(version, &Path::Root.name("manifestVersion"), reading);
        }
        reading.refuse(&MANIFEST_VERSION, &Path::Root, format_args!("`manifestVersion` is missing"))
    }
}

impl Shape for ManifestVersion {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        if value.as_number().is_some_and(|number| number.lexeme() == "1") {
            return Some(Self);
        }
        reading.refuse(&MANIFEST_VERSION, at, format_args!("`manifestVersion` is not the token `1`"))
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("const", 1u64.into())])
    }
}

/// A version that is compared for equality only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version(pub(super) SmolStr);

impl Shape for Version {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let text = SmolStr::read(value, at, reading)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".+-".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
            return Some(Self(text));
        }
        let message = format_args!("{} is not 1 to 64 of `[0-9A-Za-z.+-]`", Quoted(&text));
        reading.refuse(&VERSION, at, message)
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "string".into()), ("pattern", r"^[0-9A-Za-z.+\-]{1,64}$".into())])
    }
}

/// An https URL as the URL standard writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Homepage(pub(super) SmolStr);

impl Shape for Homepage {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let text = SmolStr::read(value, at, reading)?;
        let url = if text.len() <= reading.limits.url_bytes { url::Url::parse(&text).ok() } else { None };
        let right = url.is_some_and(|url| {
            // The one thing that the standard adds and nobody writes.
            let written = url.as_str() == text || url.as_str().strip_suffix('/') == Some(text.as_str());
            written && url.scheme() == "https" && url.username().is_empty() && url.password().is_none()
        });
        if right {
            return Some(Self(text));
        }
        reading.refuse(&HOMEPAGE, at, format_args!("{} is not such a URL", Quoted(&text)))
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([
            ("type", "string".into()),
            ("pattern", r"^https://[!-~]+$".into()),
            ("maxLength", 8_192u64.into()),
        ])
    }
}

/// The hash of the manifest that is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Supersedes(pub(super) Sha256);

impl Shape for Supersedes {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let text = SmolStr::read(value, at, reading)?;
        let hash = Sha256::parse(&text);
        if hash.is_none() {
            reading.findings.add(
                &SUPERSEDES,
                at,
                format_args!("this is not a SHA-256 in hexadecimal digits"),
            );
        }
        hash.map(Self)
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "string".into()), ("pattern", r"^[0-9a-f]{64}$".into())])
    }
}

/// The tools, each as far as it could be read.
#[derive(Debug, Clone)]
pub(super) struct Tools(pub(super) Vec<ToolDraft>);

impl Shape for Tools {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let Some(items) = value.as_array() else {
            let kind = value.kind();
            return reading.refuse(&SHAPE_TYPE, at, format_args!("expected an array, found {kind}"));
        };
        let most = reading.limits.tools;
        if !(1..=most).contains(&items.len()) {
            let count = items.len();
            return reading.refuse(
                &TOOL_COUNT,
                at,
                format_args!("expected 1 to {most} tools, found {count}"),
            );
        }
        let tools =
            items.iter().enumerate().map(|(index, item)| ToolDraft::read(item, &at.index(index), reading));
        tools.collect::<Option<_>>().map(Self)
    }

    fn describe(definitions: &mut Definitions) -> Value {
        List::<ToolDraft, 1, 512>::describe(definitions)
    }
}

/// The values that a setting may have: 1 to 100 strings, different and not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices(pub Vec<SmolStr>);

impl Shape for Choices {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let List(choices) = List::<SmolStr, 1, 100>::read(value, at, reading)?;
        for (index, choice) in choices.iter().enumerate() {
            let at = at.index(index);
            if choice.is_empty() || choice.contains(char::is_control) {
                let message = format_args!("the choice is empty, or holds a control character");
                reading.findings.add(&SETTING_CHOICES, &at, message);
            } else if choices.iter().take(index).any(|earlier| earlier == choice) {
                let message = format_args!("the choice {} stands before", Quoted(choice));
                reading.findings.add(&SETTING_CHOICES, &at, message);
            }
        }
        Some(Self(choices))
    }

    fn describe(definitions: &mut Definitions) -> Value {
        merged(List::<SmolStr, 1, 100>::describe(definitions), fragment([("uniqueItems", true.into())]))
    }
}
