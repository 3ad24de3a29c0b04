//! The rules of origins, and the fault that names one.

use std::fmt;

use super::Denied;
use crate::error::{Code, Refusal};
use crate::rule::{Finding, Rule};
use crate::rules;

rules! {
    ORIGIN_SCHEME: Error "origin.scheme", "An origin starts with `https://`, or with `http://` where local addresses are permitted.",
        "Write the origin as `https://host` or `https://host:port`.";
    ORIGIN_HTTPS: Error "origin.https", "A fixed or public origin is https.",
        "Use https. Only an origin that is `userProvided` with `localNetwork` may be http.";
    ORIGIN_ASCII: Error "origin.ascii", "An origin is ASCII.",
        "Write an international name in its `xn--` form, so that everybody sees which name it is.";
    ORIGIN_CHARACTER: Error "origin.character", "An origin holds no white space, control character or backslash.",
        "Remove the character; URL parsers drop some of them and read others as `/`.";
    ORIGIN_USERINFO: Error "origin.userinfo", "An origin holds no user name or password.",
        "Remove everything up to and with the `@`. Secrets are `credentials`, set by the host.";
    ORIGIN_PATH: Error "origin.path", "An origin holds no path, not even a last `/`.",
        "Move the path into `request.path`, or let a userProvided origin carry one with `\"basePath\": true`.";
    ORIGIN_QUERY: Error "origin.query", "An origin holds no query.", "Move the pairs into `request.query`.";
    ORIGIN_FRAGMENT: Error "origin.fragment", "An origin holds no fragment.", "Remove the `#` and what follows it.";
    ORIGIN_PERCENT: Error "origin.percent", "An origin holds no percent-encoding.", "Write the host itself.";
    ORIGIN_UPPER_CASE: Error "origin.upper_case", "An origin is in lower case.", "Write scheme and host in lower case.";
    ORIGIN_TRAILING_DOT: Error "origin.trailing_dot", "The host of an origin does not end with a dot.", "Remove the dot.";
    ORIGIN_HOST: Error "origin.host", "The host of an origin is a DNS name or an IP address.",
        "A name has labels of 1 to 63 of `a-z`, `0-9`, `-` and `_`, without `-` at an end of a label, and is 253 characters long at most. An `xn--` label is one that IDNA makes. An IPv6 address stands in brackets.";
    ORIGIN_PORT: Error "origin.port", "A port is written in decimal, only where it is not that of the scheme, and is none of those that the Fetch standard blocks.",
        "Leave `:443` of https and `:80` of http out. Port 0 and the ports of mail, file and chat protocols are refused, as browsers do.";
    ORIGIN_SERIALISATION: Error "origin.serialisation", "An origin equals its own serialisation by the URL standard.",
        "Write the origin as a browser shows it: `127.0.0.1` for `127.1`, `[::1]` for `[0::1]`.";
    ORIGIN_IP_LITERAL: Error "origin.ip_literal", "A fixed or public origin has a name, no IP address.",
        "Use the host's DNS name. Only an origin that is `userProvided` with `localNetwork` may be an IP address.";
    ORIGIN_LOCAL_NAME: Error "origin.local_name", "A fixed or public origin has a name of the public DNS.",
        "A name of one label, `localhost`, and names under `.local`, `.internal`, `.home.arpa`, `.lan` and the like lead somewhere else on each network. Let the person give them: `userProvided` with `localNetwork`.";
    ORIGIN_CHOICES_OR_UNDER: Error "origin.choices_or_under", "A userProvided origin has `choices` or `under`, not both.",
        "Remove one of the two members.";
    ORIGIN_CHOICE_REPEATED: Error "origin.choice_repeated", "No origin stands twice in `choices`.", "Remove the second.";
    ORIGIN_UNDER: Error "origin.under", "`under` is a DNS name below which a host may have one more label.",
        "Write a name such as `zendesk.com`: lower case, no scheme, port, path or dot at an end.";
    ORIGIN_UNBOUND: Error "origin.unbound", "Each userProvided origin is bound when the connector is installed.",
        "Ask the person for the value and put it into `origins` of the grant.";
    ORIGIN_FIXED_BOUND: Error "origin.fixed_bound", "Only userProvided origins are bound.",
        "Leave the name out of `origins` of the grant; the manifest fixes this origin.";
    ORIGIN_BASE_PATH: Error "origin.base_path", "A base path is made of `/segment` parts held to the rules of literal path items.",
        "Each segment holds letters, digits and `-._~!$&'()*+,;=:@`, is not `.` or `..`, and no `/` stands at the end; the whole is 2,048 bytes long at most.";
    ORIGIN_CHOICE: Error "origin.choice", "A bound origin is one of the `choices` of its manifest.", "Bind one of the origins that the manifest lists.";
    ORIGIN_NOT_UNDER: Error "origin.not_under", "The host of a bound origin is exactly one label before the `under` of its manifest.",
        "Bind a host such as `acme.zendesk.com` where the manifest says `zendesk.com`.";
    ORIGIN_PUBLIC_ADDRESS: Error "origin.public_address", "An IP address that is bound as origin is a local one.",
        "Use the DNS name of a public server.";
    ORIGIN_ADDRESS: Error "origin.address", "An IP address that is bound as origin is one that the grant opens.",
        "Open `localNetwork`, `overlayNetwork` or `loopback` in the grant where the address is of that kind. Metadata services, multicast and broadcast are never opened.";
    ORIGIN_CLEARTEXT: Error "origin.cleartext", "An http origin needs a grant that opens local addresses.",
        "http connects only to local addresses: open `localNetwork`, `overlayNetwork` or `loopback` in the grant, or use https.";
}

/// Why a text is not the origin that it should be. Holds no part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginFault {
    rule: &'static Rule,
    denied: Option<Denied>,
}

impl OriginFault {
    pub(super) fn address(denied: Denied) -> Self {
        Self { rule: &ORIGIN_ADDRESS, denied: Some(denied) }
    }

    /// The rule that is broken.
    pub fn rule(&self) -> &'static Rule {
        self.rule
    }

    /// Why the address that the origin names is not opened, where that is the fault.
    pub fn denied(&self) -> Option<Denied> {
        self.denied
    }

    /// The refusal of a bound or given origin, under a code of the caller's choice.
    pub fn refusal(&self, code: Code) -> Refusal {
        let finding = Finding::new(self.rule, "", self);
        Refusal::new(code, format!("{self} {}", self.rule.help)).with_findings(vec![finding])
    }
}

impl From<&'static Rule> for OriginFault {
    fn from(rule: &'static Rule) -> Self {
        Self { rule, denied: None }
    }
}

impl fmt::Display for OriginFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule.says)?;
        self.denied.map_or(Ok(()), |denied| write!(f, " Here {denied}."))
    }
}

impl std::error::Error for OriginFault {}

impl From<OriginFault> for Refusal {
    fn from(fault: OriginFault) -> Self {
        fault.refusal(Code::OriginInvalid)
    }
}
