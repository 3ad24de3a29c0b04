//! Secrets that come back.

use super::*;

#[test]
fn a_secret_that_comes_back_is_not_shown() {
    json(&format!(r#"{{"a": "x {SECRET}", "{SECRET}": 1}}"#))
        .gives("{}", r#""data":{"a":"x [credential]","[credential]":1}"#);
    answer(200, "text/plain", format!("key={SECRET}")).gives("{}", r#""text":"key=[credential]""#);
    answer(401, "application/json", format!(r#"{{"m": "bad {SECRET}"}}"#)).fails(
        r#"{"error": {"message": "/m"}}"#,
        "Error (401): bad [credential]",
        false,
    );
}

#[test]
fn a_number_can_hold_a_secret_too() {
    let secrets = Redactor::new([b"8675309123".as_slice()]);
    let limits = TrustLimits::default();
    let context = MapContext {
        tool: "a.b",
        method: Method::Get,
        limits: &limits,
        tokens: &ModelTokens::default(),
        secrets: &secrets,
        max_chars: None,
    };
    let mapped = ResponseMap::default().apply(&json("[8675309123, -1.8675309123e5, 7]").received, &context);
    assert_eq!(mapped.text, r#"{"tool":"a.b","status":200,"data":["[credential]","-1.[credential]e5",7]}"#);
}

/// A script without spaces has no last word that could go.
#[test]
fn a_cut_text_loses_only_what_may_be_the_beginning_of_a_secret() {
    let text = "\u{304a}\u{8336}\u{306f}\u{4f53}\u{306b}\u{826f}\u{3044}\u{3002}".repeat(500);
    for end in ["", "correct-ho", "Y29ycmVjdC1ob3", "corr%65ct%2"] {
        let mut body = answer(200, "text/plain", format!("{text}{end}"));
        body.received.body_cut = true;
        let mapped = body.apply(r#"{"maxChars": 8000}"#);
        assert!(mapped.text.contains(&format!("{text}\"")), "{end}");
        assert_eq!(mapped.omitted, end.chars().count().max(1), "{end}");
    }
    // Also what cleaning joins.
    let mut body = answer(200, "text/plain", "x corr\u{200b}ect-ho");
    body.received.body_cut = true;
    body.gives("{}", r#""text":"x ","omitted":10"#);
}

/// What takes a server's text apart before it is shown: the type folds its case and cuts it, markup goes, a label decodes.
#[test]
fn a_secret_is_found_before_the_text_is_taken_apart() {
    let with = |secret: &'static str, media: &str, body: &[u8], response: &str| {
        let case = answer(200, media, body);
        let secrets = Redactor::new([secret.as_bytes()]);
        let context = MapContext {
            tool: "notes.find",
            method: Method::Get,
            limits: &case.limits,
            tokens: &ModelTokens::default(),
            secrets: &secrets,
            max_chars: None,
        };
        map(response).apply(&case.received, &context).text
    };
    let head = r#"{"tool":"notes.find","status":200,"text":""#;
    for (media, shown) in [
        ("image/S3cret-Value", "[image/[credential], 1 bytes, not shown]"),
        ("image/s3cret-value", "[image/[credential], 1 bytes, not shown]"),
        // The type is of the letters of base64 too, and a base64 text goes whole.
        ("image/UzNjcmV0LVZhbHVl", "[[credential], 1 bytes, not shown]"),
        ("image/%53%33cret%2DVALUE", "[image/[credential], 1 bytes, not shown]"),
    ] {
        assert_eq!(with("S3cret-Value", media, b"x", "{}"), format!("{head}{shown}\"}}"));
    }
    let text = with("S3cret-Value", "text/S3cret-Value", b"x", r#"{"from": "/a"}"#);
    assert!(text.contains("the answer is text/[credential] where"), "{text}");
    // The type ends where the secret does not, or begins within it.
    for (secret, media) in [("S3cret;Value=1", "image/S3cret;Value=1"), ("S3c,ret/Value", "a/S3c,ret/Value")]
    {
        let text = with(secret, media, b"x", "{}").to_lowercase();
        assert!(!text.contains("s3c") && !text.contains("value"), "{text}");
    }
    // One that is JSON itself comes back as values, none of which is the secret.
    let key = r#"{"type": "account", "key": [1, 2.50]}"#;
    let text = with(key, "application/json", format!(r#"{{"sent":{key}}}"#).as_bytes(), "{}");
    assert_eq!(text, r#"{"tool":"notes.find","status":200,"omitted":1}"#);
    let text = with("ab<!-- x -->cd", "text/html", b"<p>ab<!-- x -->cd</p>", "{}");
    assert_eq!(text, format!("{head}<p>[credential]</p>\"}}"));
    let text = with("p\u{e4}ssword", "text/plain; charset=windows-1252", b"\xe9 p\xc3\xa4ssword", "{}");
    assert_eq!(text, format!("{head}\u{e9} [credential]\"}}"));
}
