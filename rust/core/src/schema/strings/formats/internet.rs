//! Addresses and identifiers of the Internet, each from the grammar of its RFC.

/// `dotted-quad` of RFC 2673, section 3.2, without leading zeros: some programs read those as octal.
pub(super) fn ipv4() -> String {
    let byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    format!("{byte}(?:\\.{byte}){{3}}")
}

/// `IPv6address` of RFC 3986, section 3.2.2, which is RFC 4291, section 2.2 without zones.
pub(super) fn ipv6() -> String {
    let low = format!("(?:{GROUP}:{GROUP}|{})", ipv4());
    let mut forms = vec![format!("(?:{GROUP}:){{6}}{low}")];
    // `::` with at most `before` groups on its left, and all the others but one on its right.
    forms.extend((0..=5).map(|before| format!("{}::(?:{GROUP}:){{{}}}{low}", at_most(before), 5 - before)));
    forms.push(format!("{}::{GROUP}", at_most(6)));
    forms.push(format!("{}::", at_most(7)));
    forms.join("|")
}

/// `h16`, a group of an IPv6 address.
const GROUP: &str = "[0-9A-Fa-f]{1,4}";

/// Up to `n` groups, colons between them.
fn at_most(n: usize) -> String {
    n.checked_sub(1).map(|n| format!("(?:(?:{GROUP}:){{0,{n}}}{GROUP})?")).unwrap_or_default()
}

/// `Mailbox` of RFC 5321, section 4.1.2. The sizes of section 4.5.3 are not part of that grammar. Of the
/// address literals there are those for IPv4 and IPv6: no other tag is registered.
pub(super) fn mailbox() -> String {
    let atom = "[0-9A-Za-z!#$%&'*+\\-/=?^_`{|}~]+";
    let quoted = "\"(?:[ !#-\\[\\]-~]|\\\\[ -~])*\"";
    let label = "[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?";
    // `Snum` may have leading zeros.
    let byte = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})";
    let ipv4 = format!("{byte}(?:\\.{byte}){{3}}");
    let mut forms = vec![format!("(?:{GROUP}:){{7}}{GROUP}"), format!("(?:{GROUP}:){{6}}{ipv4}")];
    // `::` stands for at least two groups here, so six are left, or four before an IPv4 address.
    for before in 0..=6 {
        let left = if before == 0 { String::new() } else { format!("(?:{GROUP}:){{{}}}{GROUP}", before - 1) };
        forms.push(format!("{left}::{}", at_most(6 - before)));
        if before <= 4 {
            forms.push(format!("{left}::(?:{GROUP}:){{0,{}}}{ipv4}", 4 - before));
        }
    }
    let literal = format!("\\[(?:{ipv4}|[Ii][Pp][Vv]6:(?:{}))\\]", forms.join("|"));
    format!("(?:{atom}(?:\\.{atom})*|{quoted})@(?:{label}(?:\\.{label})*|{literal})")
}

/// The characters that a URI and an IRI differ in: those of RFC 3987 beyond ASCII.
struct Characters {
    /// `ucschar`, everywhere.
    everywhere: &'static str,
    /// `iprivate`, in the query.
    query: &'static str,
}

const URI: Characters = Characters { everywhere: "", query: "" };
const IRI: Characters = Characters { everywhere: UCSCHAR, query: IPRIVATE };

/// `ucschar` of RFC 3987, section 2.2.
const UCSCHAR: &str = "\\u{A0}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}\
    \\u{10000}-\\u{1FFFD}\\u{20000}-\\u{2FFFD}\\u{30000}-\\u{3FFFD}\\u{40000}-\\u{4FFFD}\
    \\u{50000}-\\u{5FFFD}\\u{60000}-\\u{6FFFD}\\u{70000}-\\u{7FFFD}\\u{80000}-\\u{8FFFD}\
    \\u{90000}-\\u{9FFFD}\\u{A0000}-\\u{AFFFD}\\u{B0000}-\\u{BFFFD}\\u{C0000}-\\u{CFFFD}\
    \\u{D0000}-\\u{DFFFD}\\u{E1000}-\\u{EFFFD}";

/// `iprivate` of RFC 3987, section 2.2.
const IPRIVATE: &str = "\\u{E000}-\\u{F8FF}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}";

/// `URI` of RFC 3986, appendix A.
pub(super) fn uri() -> String {
    absolute(&URI)
}

/// `URI-reference` of RFC 3986, appendix A.
pub(super) fn uri_reference() -> String {
    reference(&URI)
}

/// `IRI` of RFC 3987, section 2.2.
pub(super) fn iri() -> String {
    absolute(&IRI)
}

/// `IRI-reference` of RFC 3987, section 2.2.
pub(super) fn iri_reference() -> String {
    reference(&IRI)
}

const PERCENT: &str = "%[0-9A-Fa-f]{2}";

/// Characters of a part of the identifier: unreserved ones, sub-delimiters, escapes, and some more.
fn part(characters: &Characters, more: &str) -> String {
    format!("(?:[0-9A-Za-z._~!$&'()*+,;={}{more}-]|{PERCENT})", characters.everywhere)
}

fn authority(characters: &Characters) -> String {
    let userinfo = part(characters, ":");
    let name = part(characters, "");
    let future = "[Vv][0-9A-Fa-f]+\\.[0-9A-Za-z._~!$&'()*+,;=:-]+";
    format!("//(?:{userinfo}*@)?(?:\\[(?:{}|{future})\\]|{name}*)(?::[0-9]*)?", ipv6())
}

fn tail(characters: &Characters) -> String {
    let query = part(characters, &format!(":@/?{}", characters.query));
    let fragment = part(characters, ":@/?");
    format!("(?:\\?{query}*)?(?:#{fragment}*)?")
}

const SCHEME: &str = "[A-Za-z][0-9A-Za-z+.-]*:";

/// What may follow a scheme and may stand alone too: an authority with its path, an absolute path, or nothing.
fn rooted(characters: &Characters) -> String {
    let pchar = part(characters, ":@");
    format!("(?:{}(?:/{pchar}*)*|/(?:{pchar}+(?:/{pchar}*)*)?|)", authority(characters))
}

/// A path whose first segment is made of this.
fn rootless(first: &str, characters: &Characters) -> String {
    format!("{first}+(?:/{}*)*", part(characters, ":@"))
}

fn absolute(characters: &Characters) -> String {
    let rootless = rootless(&part(characters, ":@"), characters);
    format!("{SCHEME}(?:{}|{rootless}){}", rooted(characters), tail(characters))
}

fn reference(characters: &Characters) -> String {
    let rootless_after_scheme = rootless(&part(characters, ":@"), characters);
    let rootless_alone = rootless(&part(characters, "@"), characters);
    let rooted = rooted(characters);
    let tail = tail(characters);
    format!("(?:(?:{SCHEME})?{rooted}|{SCHEME}{rootless_after_scheme}|{rootless_alone}){tail}")
}

/// `URI-Template` of RFC 6570, section 2, with the apostrophe of erratum 6937 among the literals.
pub(super) fn uri_template() -> String {
    let literal = format!("(?:[!#$&'()*+,\\-./0-9:;=?@A-Z\\[\\]_a-z~{UCSCHAR}{IPRIVATE}]|{PERCENT})");
    let name_char = format!("(?:[0-9A-Za-z_]|{PERCENT})");
    let name = format!("{name_char}(?:\\.?{name_char})*");
    let variable = format!("{name}(?:\\*|:[1-9][0-9]{{0,3}})?");
    format!("(?:{literal}|\\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\\}})*")
}
