use super::*;
use crate::json::read_text;

record! {
    /// A sample.
    struct Sample {
        /// Its name.
        name: Identifier = "name",
        /// Its size.
        size: Option<Integer<1, 9>> = "size",
        /// Samples inside it.
        parts: Option<List<Sample, 1, 2>> = "parts",
        /// How it is.
        mood: Option<Mood> = "mood",
        /// Whether it is done.
        done: bool = "done",
    }
}

words! {
    /// A mood.
    enum Mood {
        /// Well.
        Good = "good",
        /// Not well.
        Bad = "bad",
    }
}

fn read(text: &str) -> (Option<Sample>, Vec<(&'static str, String)>) {
    let (limits, mut findings) = (TrustLimits::default(), Findings::new());
    let value = read_text(text).unwrap();
    let sample = Sample::read(&value, &Path::Root, &mut Reading { limits: &limits, findings: &mut findings });
    (sample, findings.into_list().into_iter().map(|finding| (finding.rule.id, finding.pointer)).collect())
}

#[test]
fn every_breach_is_found_in_one_run() {
    let (sample, found) = read(
        r#"{"name": "a b", "size": 10, "extra": 1, "mood": "so", "done": 1,
            "parts": [{"name": "x"}, {"size": "2", "parts": []}]}"#,
    );
    assert!(sample.is_none());
    let expected = [
        ("shape.unknown_member", "/extra"),
        ("name.identifier", "/name"),
        ("shape.range", "/size"),
        ("shape.missing_member", "/parts/1"),
        ("shape.type", "/parts/1/size"),
        ("shape.count", "/parts/1/parts"),
        ("shape.word", "/mood"),
        ("shape.type", "/done"),
    ];
    assert_eq!(found, expected.map(|(id, pointer)| (id, pointer.to_owned())));
}

#[test]
fn a_right_document_is_read_whole() {
    let (sample, found) = read(r#"{"name": "x", "parts": [{"name": "y", "size": 9.0}], "mood": "bad"}"#);
    assert!(found.is_empty());
    let sample = sample.unwrap();
    assert_eq!((sample.name.as_str(), sample.mood, sample.done), ("x", Some(Mood::Bad), false));
    assert_eq!((Mood::Bad.as_str(), Mood::from_word("good")), ("bad", Some(Mood::Good)));
    assert_eq!(sample.parts.unwrap().0[0].size.map(Integer::get), Some(9));
}

#[test]
fn the_schema_is_made_of_the_same_declaration() {
    let mut definitions = Definitions::default();
    assert_eq!(Sample::describe(&mut definitions).to_text(), r##"{"$ref":"#/$defs/Sample"}"##);
    let schema = definitions.into_object();
    let sample = schema.get("Sample").unwrap();
    assert_eq!(sample.get("required").unwrap().to_text(), r#"["name"]"#);
    let size = sample.get("properties").unwrap().get("size").unwrap();
    assert_eq!(size.to_text(), r#"{"description":"Its size.","type":"integer","minimum":1,"maximum":9}"#);
}

#[test]
fn names_that_only_look_different_collide() {
    let (limits, mut findings) = (TrustLimits::default(), Findings::new());
    let value = read_text(r#"{"my_list": true, "My-List": true, "constructor": true, "ok": false}"#).unwrap();
    let mut reading = Reading { limits: &limits, findings: &mut findings };
    assert!(Named::<bool>::read(&value, &Path::Root, &mut reading).is_none());
    let value = read_text(r#"{"my_list": true, "My-List": true}"#).unwrap();
    let mut reading = Reading { limits: &limits, findings: &mut findings };
    assert!(Named::<bool>::read(&value, &Path::Root, &mut reading).is_some());
    let ids: Vec<_> = findings.list().iter().map(|finding| finding.rule.id).collect();
    assert_eq!(ids, ["name.reserved", "name.collision"]);
}
