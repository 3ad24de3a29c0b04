//! The text cleaner against the corpora of hostile text, and its laws.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test may fail as the test does"
)]

mod corpus;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use connector_core::text::{
    Cleaned, Cleaner, Context, ModelTokens, Redactor, contains_control, contains_control_token,
    escape_display,
};
use proptest::prelude::*;

const CONTEXTS: [Context; 3] = [Context::Title, Context::Description, Context::Response];
const NO_LIMIT: usize = usize::MAX;

fn clean(context: Context, text: &str, max_chars: usize) -> Cleaned {
    Cleaner::new(context, &ModelTokens::default()).clean(text, max_chars)
}

fn text_of(case: &serde_json::Value, key: &str) -> String {
    case[key].as_str().unwrap().to_owned()
}

/// Code points that may stand in no cleaned text, wherever they stand. Written apart from the cleaner's tables.
fn is_forbidden(c: char) -> bool {
    matches!(u32::from(c),
        0..=8 | 0xb..=0x1f | 0x7f..=0x9f | 0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180e
        | 0x200b | 0x200e | 0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfdd0..=0xfdef
        | 0xfe00..=0xfe0d | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0xe000..=0xf8ff | 0x1bca0..=0x1bca3
        | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff | 0xf0000..=0x10_ffff)
        || u32::from(c) & 0xfffe == 0xfffe
}

/// What holds of every cleaned text.
fn assert_clean(context: Context, cleaned: &Cleaned, max_chars: usize, what: &str) {
    let text = &cleaned.text;
    assert!(text.chars().count() <= max_chars, "{what}: too long");
    assert!(!text.chars().any(is_forbidden), "{what}: {}", text.escape_unicode());
    assert!(!contains_control_token(text), "{what}: {text}");
    let visible = text.replace(['\n', '\t'], " ");
    assert!(!contains_control(&visible), "{what}: {}", text.escape_unicode());
    if context == Context::Title {
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(*text == folded || (cleaned.truncated && text.trim_end() == folded), "{what}: {text:?}");
    }
    if context == Context::Response {
        assert!(!text.contains("!["), "{what}: {text}");
        let lower = text.to_ascii_lowercase();
        for tag in ["img", "script", "iframe", "svg", "style", "link", "object", "embed", "video", "!doctype"]
        {
            assert!(!lower.contains(&format!("<{tag}")), "{what}: {text}");
        }
    }
    let again = clean(context, text, max_chars);
    assert_eq!(again.text, *text, "{what}: cleaning twice is cleaning once");
    assert!(!again.truncated && !again.changed, "{what}");
}

#[test]
fn each_code_point_is_treated_as_documented() {
    let Some(cases) = corpus::cases("text/codepoints.json") else { return };
    let (mut right, mut policy, mut wrong) = (0, 0, Vec::new());
    for case in &cases {
        let c = text_of(case, "char").chars().next().unwrap();
        let cleaned = clean(Context::Description, &format!("a{c}b"), NO_LIMIT);
        assert_clean(Context::Description, &cleaned, NO_LIMIT, &text_of(case, "cp"));
        let lost = cleaned.text == "ab";
        let line = cleaned.text == "a\nb";
        let as_labelled = match case["expect"].as_str().unwrap() {
            // VT, FF and NEL end a line and leave as LF: the character is gone, the words stay apart.
            "strip" => lost || (line && matches!(c, '\u{b}' | '\u{c}' | '\u{85}')),
            "normalise" => line,
            "keep" => !cleaned.changed,
            // Left to us; between two Latin letters every one of them only hides something. See the table in `text`.
            "policy" => {
                policy += 1;
                lost
            }
            other => panic!("{other}"),
        };
        if as_labelled {
            right += 1;
        } else {
            wrong.push(text_of(case, "cp"));
        }
    }
    println!("text/codepoints: {right} right ({policy} by our choice), 0 argued, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn smuggled_text_does_not_arrive() {
    let Some(cases) = corpus::cases("text/smuggling.json") else { return };
    let (mut right, mut pinned) = (0, 0);
    for case in &cases {
        let (id, text) = (text_of(case, "id"), text_of(case, "text"));
        for context in CONTEXTS {
            assert_clean(context, &clean(context, &text, NO_LIMIT), NO_LIMIT, &id);
        }
        let out = clean(Context::Response, &text, NO_LIMIT).text;
        if let Some(hidden) = case["hidden"].as_str() {
            assert!(!out.contains(hidden), "{id}: {out}");
            assert!(out.is_ascii() || id == "vs-emoji", "{id}: {out}");
        }
        let expected = match id.as_str() {
            "tag-suffix" => "Weather: sunny.",
            "tag-with-begin" => "ok",
            "flag-england" => "\u{1f3f4}",
            "vs-emoji" => "Great \u{1f600}!",
            "vs-letter" | "bom-middle" | "mongolian-vs" => "ab",
            "vs-han-legit" => "\u{8fbb}",
            "zw-binary" => "helloworld",
            "soft-hyphen" => "admin",
            "hangul-filler" | "bidi-isolate" | "bidi-unterminated" => "abc",
            "bidi-rlo" => "filetxt.exe",
            "line-sep" => "a\nb\nc\nd\ne\nf",
            "cr-overwrite" => "safe text\nEVIL text",
            "backspace" => "abcdef",
            "crlf" => "a\nb\nc\nd",
            "ansi-csi-color" | "ansi-c1-csi" => "red",
            "ansi-csi-hide" => "hidden",
            "ansi-osc8-st" => "click",
            "ansi-esc-in-osc" => "b",
            "tag-bare" | "ansi-osc-title" | "ansi-apc" | "ansi-esc-nested" | "ansi-esc-only"
            | "ansi-bel-spam" | "ansi-decset" | "ansi-dsr" => "",
            "zalgo" => {
                assert_eq!(out.matches('\u{301}').count(), 30);
                right += 1;
                continue;
            }
            // Content, not names: kept as it is.
            "family-zwj" | "persian-zwnj" | "devanagari-zwj" | "nbsp" | "nfc" | "nfkc-fullwidth"
            | "homoglyph-name" | "kelvin-name" | "format-md-link-js" | "format-data-uri"
            | "format-json-break" => text.as_str(),
            _ if id.starts_with("template-") => {
                assert_ne!(out, text, "{id}");
                let letters =
                    |s: &str| s.chars().filter(|c| !matches!(c, ' ' | '\u{200b}')).collect::<String>();
                assert_eq!(letters(&out), letters(&text), "{id}: broken up, nothing lost");
                right += 1;
                continue;
            }
            _ => panic!("{id} is new: say what is right"),
        };
        pinned += 1;
        assert_eq!(out, expected, "{id}");
    }
    println!("text/smuggling: {} right ({pinned} pinned to one text), 0 argued, 0 wrong", right + pinned);
}

#[test]
fn trojan_sources_lose_their_hidden_characters_only() {
    let Some(cases) = corpus::cases("text/trojan-source.json") else { return };
    for case in &cases {
        let (id, text) = (text_of(case, "id"), text_of(case, "text"));
        let cleaned = clean(Context::Description, &text, NO_LIMIT);
        assert_clean(Context::Description, &cleaned, NO_LIMIT, &id);
        let visible: String = text
            .replace("\r\n", "\n")
            .chars()
            .filter(|c| !is_forbidden(*c) && !matches!(c, '\u{200c}' | '\u{200d}'))
            .collect();
        assert_eq!(cleaned.text, visible, "{id}");
        let shown = escape_display(&text);
        assert!(!shown.chars().any(is_forbidden), "{id}");
        if case["bidi"].as_bool().unwrap() || case["zero_width"].as_bool().unwrap() {
            assert!(shown.contains("\\u{20") && cleaned.changed, "{id}: {shown}");
        }
    }
    println!("text/trojan-source: {} right, 0 argued, 0 wrong", cases.len());
}

#[test]
fn naughty_strings_are_clean_in_every_context() {
    let Some(cases) = corpus::cases("text/blns.json") else { return };
    let mut unchanged = 0;
    for case in &cases {
        let (id, text) = (text_of(case, "id"), text_of(case, "s"));
        for context in CONTEXTS {
            for max_chars in [0, 1, 20, NO_LIMIT] {
                assert_clean(context, &clean(context, &text, max_chars), max_chars, &id);
            }
        }
        unchanged += usize::from(!clean(Context::Description, &text, NO_LIMIT).changed);
        let shown = escape_display(&text);
        assert!(!shown.chars().any(|c| is_forbidden(c) || c == '\n'), "{id}");
    }
    println!("text/blns: {} right ({unchanged} unchanged as a description), 0 argued, 0 wrong", cases.len());
}

#[test]
fn a_cut_is_inside_its_limit_and_tears_nothing() {
    let Some(cases) = corpus::cases("text/truncation.json") else { return };
    for case in &cases {
        let (id, unit) = (text_of(case, "id"), text_of(case, "unit"));
        let number = |key: &str| usize::try_from(case[key].as_u64().unwrap()).unwrap();
        let (text, cap) = (unit.repeat(number("times")), number("cap"));
        let whole = clean(Context::Description, &text, NO_LIMIT).text;
        let cleaned = clean(Context::Description, &text, cap);
        assert_clean(Context::Description, &cleaned, cap, &id);
        assert_eq!(cleaned.truncated, whole.chars().count() > cap, "{id}");
        if !cleaned.truncated {
            assert_eq!(cleaned.text, whole, "{id}");
            continue;
        }
        let head = cleaned.text.split('\u{2026}').next().unwrap();
        assert!(whole.starts_with(head), "{id}");
        assert_eq!(cleaned.text.contains('\u{2026}'), cap > 0, "{id}: marked");
        let cleaned_unit = clean(Context::Description, &unit, NO_LIMIT).text;
        // The unit of these is four characters that may part.
        if !id.starts_with("mixed") {
            assert_eq!(head.len() % cleaned_unit.len(), 0, "{id}: a unit is torn");
        }
        assert!(!head.ends_with('\u{200d}'), "{id}: a joiner dangles");
    }
    println!("text/truncation: {} right, 0 argued, 0 wrong", cases.len());
}

/// Text in which each rule of the cleaner has something to do.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[ -~]{0,6}".boxed(),
        2 => any::<char>().prop_map(String::from).boxed(),
        3 => prop::sample::select(vec![
            "<", ">", "|", "[", "]", "!", "im_start", "s", "/s", "INST", "think", "img ", "src=x", "=", "\n\nHuman:",
            "tool_call", "\u{ff5c}", "\u{ff1c}", "\u{2581}", "script", "\u{2028}", "turn", " ", "\n", "\r", "\t", "\"",
        ]).prop_map(String::from).boxed(),
        3 => prop::sample::select(vec![
            "\u{1b}", "\u{1b}[", "\u{1b}]", "\u{9b}", "\u{9d}", "\u{9c}", "\u{7}", "\u{1b}\\", "\u{18}", "0", ";", "m",
            "\u{200d}", "\u{200c}", "\u{200b}", "\u{fe0f}", "\u{fe0e}", "\u{e0041}", "\u{e0101}", "\u{202e}", "\u{ad}",
            "\u{645}", "\u{94d}", "\u{915}", "\u{301}", "\u{20e3}", "1", "👨", "🏽", "❤", "🇩", "\u{180b}", "\u{1820}",
        ]).prop_map(String::from).boxed(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let byte = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte {
            Some(byte) if bytes[at] == b'%' => {
                out.push(byte);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// One encoding of a secret, as a server may send it back.
fn encoded(secret: &str, form: usize, salt: &[bool]) -> String {
    let chosen = |at: usize| salt[at % salt.len()];
    let percent = |wanted: &dyn Fn(usize, u8) -> bool| {
        let one = |(at, b): (usize, u8)| match (wanted(at, b) || !b.is_ascii(), chosen(at + 1)) {
            (true, true) => format!("%{b:02X}"),
            (true, false) => format!("%{b:02x}"),
            _ => char::from(b).to_string(),
        };
        secret.bytes().enumerate().map(one).collect::<String>()
    };
    let json = serde_json::to_string(secret).unwrap();
    match form {
        0 => secret.to_owned(),
        1 => percent(&|_, _| true),
        2 => percent(&|_, b| !b.is_ascii_alphanumeric()),
        3 => percent(&|at, b| b == b'%' || chosen(at)),
        4 => json[1..json.len() - 1].replace('/', "\\/"),
        5 => secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat(),
        6 => STANDARD.encode(secret),
        7 => URL_SAFE_NO_PAD.encode(secret),
        8 => STANDARD.encode(format!("u:{secret}")),
        9 => URL_SAFE.encode(format!("us:{secret}")),
        10 => STANDARD_NO_PAD.encode(format!("user:{secret}!!")),
        11 => {
            STANDARD.encode(format!("xy{secret}")).replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
        }
        _ => percent(&|_, _| true).replace('%', "%25"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whatever_comes_in_comes_out_clean(text in hostile(), max_chars in prop_oneof![0..60_usize, Just(NO_LIMIT)]) {
        for context in CONTEXTS {
            assert_clean(context, &clean(context, &text, max_chars), max_chars, &format!("{}", text.escape_unicode()));
        }
    }

    #[test]
    fn a_longer_limit_only_shows_more(text in hostile(), cap in 1..40_usize) {
        let whole = clean(Context::Response, &text, NO_LIMIT).text;
        let cut = clean(Context::Response, &text, cap);
        if cut.truncated {
            let head = cut.text.rsplit_once('\u{2026}').unwrap().0;
            prop_assert!(whole.starts_with(head));
            prop_assert!(whole.chars().count() > cap);
        } else {
            prop_assert_eq!(cut.text, whole);
        }
    }

    #[test]
    fn tokens_of_the_model_never_pass(tokens in prop::collection::vec("[ab<|> \\[\\]!\u{645}\u{200c}]{1,5}", 0..4), pieces in prop::collection::vec(0..8_usize, 0..12)) {
        let model = ModelTokens::new(&tokens);
        let fixed = ["a", "b", "<|x|>", " "];
        let text: String = pieces.iter().map(|at| tokens.get(*at).map_or(fixed[at % 4], String::as_str)).collect();
        for context in CONTEXTS {
            let cleaner = Cleaner::new(context, &model);
            let cleaned = cleaner.clean(&text, NO_LIMIT);
            prop_assert!(!model.occurs_in(&cleaned.text), "{:?} {:?} {:?}", tokens, text, cleaned.text);
            prop_assert_ne!(&cleaned.text, "[text withheld]");
            for token in tokens.iter().filter(|t| t.chars().count() > 1 && !t.trim().is_empty()) {
                prop_assert!(!cleaned.text.contains(token.as_str()), "{:?} in {:?}", token, cleaned.text);
            }
            prop_assert_eq!(&cleaner.clean(&cleaned.text, NO_LIMIT).text, &cleaned.text);
        }
    }

    #[test]
    fn a_secret_never_comes_back(
        secret in "[!-~]{4,24}|[ -~é]{4,12}", form in 0..13_usize, salt in prop::collection::vec(any::<bool>(), 7),
        before in hostile(), behind in hostile(), max_chars in prop_oneof![0..60_usize, Just(NO_LIMIT)],
    ) {
        let secrets = Redactor::new([secret.as_bytes()]);
        let text = format!("{before} {} {behind}", encoded(&secret, form, &salt));
        prop_assert!(secrets.occurs_in(&text), "{text}");
        for context in CONTEXTS {
            let cleaner = Cleaner::new(context, &ModelTokens::default());
            let out = cleaner.clean_redacted(&text, max_chars, &secrets).text;
            prop_assert!(!secrets.occurs_in(&out), "{out}");
            prop_assert!(!contains(out.as_bytes(), secret.as_bytes()), "{out}");
            prop_assert!(!contains(&percent_decoded(&out), secret.as_bytes()), "{out}");
            prop_assert!(!out.contains(&STANDARD_NO_PAD.encode(&secret)), "{out}");
            prop_assert!(!out.contains(encoded(&secret, form, &salt).trim_end_matches('=')), "{out}");
            prop_assert!(out.chars().count() <= max_chars);
            prop_assert_eq!(cleaner.clean_redacted(&out, max_chars, &secrets).text, out);
        }
    }

    #[test]
    fn redaction_leaves_the_rest_alone(secret in "[a-z]{8,16}", before in "[A-Z .%&\\\\]{0,20}", behind in "[A-Z .%&\\\\]{0,20}") {
        let secrets = Redactor::new([secret.as_bytes()]);
        let text = format!("{before} {secret} {behind}");
        prop_assert_eq!(secrets.redact(&text), format!("{before} [credential] {behind}"));
    }

    #[test]
    fn the_display_form_hides_nothing_and_says_all(a in hostile(), b in hostile()) {
        let shown = escape_display(&a);
        prop_assert!(!shown.chars().any(|c| is_forbidden(c) || matches!(c, '\n' | '\t')));
        prop_assert_eq!(a == b, shown == escape_display(&b));
    }
}

/// Each of these made some cleaner quadratic: if one did here, this test would run for an hour.
#[test]
fn a_long_text_of_anything_is_cleaned() {
    let secrets = Redactor::new([b"aaaaaaaab".as_slice(), b"s3cr3t".as_slice()]);
    let tokens = ModelTokens::new(["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "<unused1>"]);
    let units = [
        "<",
        "<|",
        "<a ",
        "<a",
        "<|im_start|>",
        "![",
        "\u{1b}",
        "\u{1b}]",
        "\u{9d}",
        "\u{1b}[1",
        "\u{200d}",
        "\u{200b}",
        "\u{301}",
        "\u{645}\u{200c}",
        "😀\u{fe0f}",
        "🇩",
        "a",
        "aaaaaaaa%",
        "\\u0061",
        "&#97;",
        "YWFh\n",
        "\n",
        " ",
        "[",
        "\u{e0041}",
        "s3cr3t",
        "czNjcjN0",
        "\\",
    ];
    for unit in units {
        let text = unit.repeat((1 << 18) / unit.len());
        for context in CONTEXTS {
            let cleaned = Cleaner::new(context, &tokens).clean_redacted(&text, 4000, &secrets);
            assert!(cleaned.text.chars().count() <= 4000, "{}", unit.escape_unicode());
        }
        assert!(!escape_display(&text).is_empty());
    }
}

/// Real descriptions of real tools read as their authors wrote them.
#[test]
fn real_descriptions_stay_as_they_are() {
    fn descriptions(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(members) => {
                for (name, value) in members {
                    match value {
                        serde_json::Value::String(text) if name == "description" => found.push(text.clone()),
                        _ => descriptions(value, found),
                    }
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| descriptions(item, found)),
            _ => {}
        }
    }
    let (mut all, mut changed) = (0, Vec::new());
    for file in
        ["github-mcp-server", "notionhq-notion-mcp-server", "doist-todoist-mcp", "mcp-server-filesystem"]
    {
        let Some(cases) = corpus::cases(&format!("mcp-tools/{file}.json")) else { return };
        let mut found = Vec::new();
        for case in &cases {
            descriptions(case, &mut found);
        }
        all += found.len();
        changed.extend(found.into_iter().filter(|text| clean(Context::Description, text, NO_LIMIT).changed));
    }
    println!("mcp-tools descriptions: {all}, changed {}", changed.len());
    assert!(changed.is_empty(), "{changed:?}");
}
