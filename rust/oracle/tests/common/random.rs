//! Random schemas of the profile and random values for them, from a fixed seed.

use serde_json::{Map, Value, json};

/// The generator of Marsaglia (2003): enough for choices, the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from((self.next() >> 11) % bound.max(1) as u64).unwrap()
    }

    pub fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub fn pick<'l, T: ?Sized>(&mut self, list: &[&'l T]) -> &'l T {
        list[self.below(list.len())]
    }
}

const NAMES: [&str; 26] = [
    "a",
    "b",
    "c",
    "id",
    "name",
    "names",
    "name_first",
    "user.id",
    "user_id",
    "user-id",
    "type",
    "kind",
    "value",
    "ws",
    "root",
    "string",
    "größe",
    "名前",
    "a b",
    "a\"b",
    "a\\b",
    "\u{1F600}",
    "",
    "-",
    "x2",
    "x-2",
];
const WORDS: [&str; 14] = [
    "red",
    "green",
    "blue",
    "redder",
    "re",
    "",
    "a\"b",
    "\\",
    "é",
    "on",
    "off",
    "1",
    "null",
    "a longer word with blanks",
];
const PATTERNS: [&str; 16] = [
    "^[a-z]+$",
    "foo",
    "^\\d{3}-\\w+$",
    "^(a|b)*$",
    "^[^,]+(,[^,]+)*$",
    "^.{0,20}$",
    "^\\S+$",
    "^#[0-9a-fA-F]{6}$",
    "a.c$",
    "^v?\\d+\\.\\d+(\\.\\d+)?$",
    "^$",
    "^[\\s\\S]*x",
    "^(?!admin).*$",
    "\"",
    "^[A-Z]{2,4}$",
    "^(yes|no|maybe)$",
];
const FORMATS: [&str; 9] =
    ["date", "date-time", "time", "email", "uuid", "ipv4", "uri", "duration", "no-such-format"];
const CONSTANTS: [&str; 9] = [
    "0",
    "-1",
    "2.5",
    "1e-7",
    "-0.00001",
    "1.5e300",
    "1234567890123456",
    "100000000000000000",
    "0.1234567890123456",
];
const KINDS: [&str; 7] = ["string", "integer", "number", "boolean", "null", "array", "object"];

/// A schema for the parameters of a tool.
pub fn parameters(random: &mut Random) -> Value {
    let mut schema = object(random, 3);
    let defs = random.below(3);
    if defs > 0 {
        let list: Map<String, Value> = (0..defs).map(|at| (format!("d{at}"), any(random, 2, defs))).collect();
        schema.insert("$defs".into(), list.into());
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert("ref".into(), json!({"$ref": "#/$defs/d0"}));
        }
    }
    schema.into()
}

fn any(random: &mut Random, depth: usize, defs: usize) -> Value {
    if depth == 0 {
        return scalar(random).into();
    }
    match random.below(16) {
        0 => {
            let keyword = random.pick(&["anyOf", "oneOf", "allOf"]);
            let count = 1 + random.below(3);
            json!({keyword: (0..count).map(|_| any(random, depth - 1, defs)).collect::<Vec<_>>()})
        }
        1 if defs > 0 => json!({"$ref": format!("#/$defs/d{}", random.below(defs))}),
        2 => {
            let mut schema = scalar(random);
            schema.insert("not".into(), any(random, depth - 1, 0));
            schema.into()
        }
        3 => {
            let list = [random.pick(&KINDS), random.pick(&KINDS)];
            if list[0] == list[1] { json!({"type": list[0]}) } else { json!({"type": list}) }
        }
        4..=6 => array(random, depth, defs).into(),
        7..=9 => object(random, depth).into(),
        10 => random.pick(&[&json!(true), &json!({})]).clone(),
        _ => scalar(random).into(),
    }
}

fn scalar(random: &mut Random) -> Map<String, Value> {
    let schema = match random.below(12) {
        0 => json!({"type": "boolean"}),
        1 => json!({"type": ["string", "null"]}),
        2 | 3 => {
            let count = 1 + random.below(4);
            let mut words: Vec<Value> = (0..count).map(|_| json!(random.pick(&WORDS))).collect();
            if random.one_in(5) {
                words.push(json!(random.below(30)));
            }
            json!({"enum": distinct(words)})
        }
        4 if random.one_in(2) => {
            let count = 1 + random.below(3);
            let list: Vec<Value> =
                (0..count).map(|_| serde_json::from_str(random.pick(&CONSTANTS)).unwrap()).collect();
            if list.len() == 1 { json!({"const": list[0]}) } else { json!({"enum": distinct(list)}) }
        }
        4 => json!({"const": random.pick(&WORDS)}),
        5..=7 => number(random),
        _ => string(random),
    };
    schema.as_object().unwrap().clone()
}

fn distinct(list: Vec<Value>) -> Vec<Value> {
    let mut unique = Vec::new();
    for value in list {
        if !unique.contains(&value) {
            unique.push(value);
        }
    }
    unique
}

/// Two counts of which the first may be the greater: what then has no value may be a part that nobody has to write.
fn counts(random: &mut Random, schema: &mut Value, keywords: [&str; 2]) {
    for keyword in keywords {
        schema[keyword] = match random.below(4) {
            0 => 1_900 + random.below(200),
            1 => 400 + random.below(200),
            _ => random.below(4),
        }
        .into();
    }
}

fn string(random: &mut Random) -> Value {
    let mut schema =
        json!({"type": random.pick(&[&json!("string"), &json!("string"), &json!(["string", "null"])])});
    if random.one_in(12) {
        counts(random, &mut schema, ["minLength", "maxLength"]);
        return schema;
    }
    if random.one_in(3) {
        schema["minLength"] = random.below(4).into();
    }
    if random.one_in(3) {
        schema["maxLength"] = (3 + random.below(400)).into();
    }
    match random.below(6) {
        0 | 1 => schema["pattern"] = random.pick(&PATTERNS).into(),
        2 => schema["format"] = random.pick(&FORMATS).into(),
        _ => {}
    }
    schema
}

fn number(random: &mut Random) -> Value {
    let mut schema = json!({"type": random.pick(&["integer", "integer", "number"])});
    let bounds = [
        "0",
        "1",
        "-1",
        "0.5",
        "-273.15",
        "10",
        "100",
        "65535",
        "9007199254740991",
        "-9007199254740991",
        "1e-7",
        "12345.678",
        "10000000000000000",
        "-1e17",
    ];
    let bound = |random: &mut Random| serde_json::from_str::<Value>(random.pick(&bounds)).unwrap();
    if random.one_in(2) {
        let keyword = random.pick(&["minimum", "minimum", "exclusiveMinimum"]);
        schema[keyword] = bound(random);
    }
    if random.one_in(2) {
        let keyword = random.pick(&["maximum", "maximum", "exclusiveMaximum"]);
        schema[keyword] = bound(random);
    }
    if random.one_in(5) {
        schema["multipleOf"] =
            serde_json::from_str(random.pick(&["5", "7", "0.5", "0.01", "100", "3", "1e16", "30000"]))
                .unwrap();
    }
    schema
}

fn array(random: &mut Random, depth: usize, defs: usize) -> Map<String, Value> {
    let mut schema = json!({"type": "array"});
    if random.one_in(12) {
        counts(random, &mut schema, ["minItems", "maxItems"]);
        schema["items"] = scalar(random).into();
        return schema.as_object().unwrap().clone();
    }
    if !random.one_in(5) {
        schema["items"] = any(random, depth - 1, defs);
    }
    if random.one_in(5) {
        let count = 1 + random.below(3);
        schema["prefixItems"] = (0..count).map(|_| any(random, depth - 1, defs)).collect::<Vec<_>>().into();
    }
    if random.one_in(4) {
        schema["minItems"] = random.below(3).into();
    }
    if random.one_in(4) {
        schema["maxItems"] = (2 + random.below(200)).into();
    }
    if random.one_in(12) {
        schema["uniqueItems"] = true.into();
    }
    if random.one_in(20) {
        schema["contains"] = any(random, depth - 1, 0);
    }
    schema.as_object().unwrap().clone()
}

fn object(random: &mut Random, depth: usize) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    let count = if random.one_in(30) { 40 } else { random.below(6) };
    let mut properties = Map::new();
    for at in 0..count {
        let name = if at < 6 { random.pick(&NAMES).to_owned() } else { format!("field_{at}") };
        properties.insert(name, any(random, depth.saturating_sub(1), 0));
    }
    let names: Vec<String> = properties.keys().cloned().collect();
    let some = |random: &mut Random, chances: usize| -> Vec<String> {
        names.iter().filter(|_| random.one_in(chances)).cloned().collect()
    };
    let required = some(random, 2);
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    match random.below(8) {
        0 => {
            let extra = any(random, depth.saturating_sub(1), 0);
            schema.insert("additionalProperties".into(), extra);
        }
        1 => {
            schema.insert("additionalProperties".into(), random.one_in(2).into());
        }
        _ => {}
    }
    if random.one_in(16) {
        schema.insert(
            "patternProperties".into(),
            json!({random.pick(&["^x", "_id$", "^[a-z]+$"]): any(random, depth.saturating_sub(1), 0)}),
        );
    }
    if random.one_in(16) {
        schema.insert("propertyNames".into(), json!({"pattern": random.pick(&["^[a-z]+$", "^.{1,8}$"])}));
    }
    if random.one_in(10) {
        schema.insert("minProperties".into(), random.below(3).into());
    }
    if random.one_in(10) {
        schema.insert("maxProperties".into(), (1 + random.below(6)).into());
    }
    if random.one_in(12) && names.len() > 1 {
        schema.insert("dependentRequired".into(), json!({names[0].clone(): [names[names.len() - 1]]}));
    }
    if random.one_in(12) && names.len() > 1 {
        let branches: Vec<Value> = names.iter().take(3).map(|name| json!({"required": [name]})).collect();
        schema.insert(random.pick(&["anyOf", "oneOf"]).into(), branches.into());
    }
    if random.one_in(16) && !names.is_empty() {
        let condition = json!({"properties": {names[0].clone(): scalar(random)}, "required": [names[0]]});
        schema.insert("if".into(), condition);
        schema.insert("then".into(), json!({"required": [names[names.len() - 1]]}));
    }
    if random.one_in(20) && depth > 1 {
        let count = 2 + random.below(3);
        let branches: Vec<Value> = (0..count)
            .map(|at| {
                let mut branch = object(random, depth - 1);
                branch.insert("required".into(), json!(["kind"]));
                let inner = branch.entry("properties").or_insert_with(|| json!({}));
                let mut first = Map::new();
                first.insert("kind".into(), json!({"const": format!("kind-{at}")}));
                first.extend(
                    inner
                        .as_object()
                        .unwrap()
                        .iter()
                        .filter(|(name, _)| *name != "kind")
                        .map(|(name, value)| (name.clone(), value.clone())),
                );
                *inner = first.into();
                branch.into()
            })
            .collect();
        properties.insert("variant".into(), json!({"oneOf": branches}));
    }
    if !properties.is_empty() || random.one_in(2) {
        schema.insert("properties".into(), properties.into());
    }
    schema
}

/// A value that the schema may accept: members in declared order, or at least near it.
pub fn value(random: &mut Random, schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(object) = schema.as_object() else { return anything(random) };
    if depth == 0 {
        return Value::Null;
    }
    let get = |name: &str| object.get(name);
    if let Some(reference) = get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null);
        return value(random, target, root, depth - 1);
    }
    if let Some(constant) = get("const") {
        return constant.clone();
    }
    if let Some(list) = get("enum").and_then(Value::as_array).filter(|list| !list.is_empty()) {
        return list[random.below(list.len())].clone();
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(list) = get(keyword).and_then(Value::as_array)
            && get("type").is_none()
            && get("properties").is_none()
        {
            let branch = random.below(list.len());
            return value(random, &list[branch], root, depth - 1);
        }
    }
    let kinds: Vec<&str> = match get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ if get("properties").is_some() => vec!["object"],
        _ => return anything(random),
    };
    match random.pick(&kinds) {
        "object" => {
            let mut members = Map::new();
            let required: Vec<&str> = get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            for (name, schema) in get("properties").and_then(Value::as_object).into_iter().flatten() {
                if required.contains(&name.as_str()) || random.one_in(2) {
                    members.insert(name.clone(), value(random, schema, root, depth - 1));
                }
            }
            let extra = get("additionalProperties").filter(|extra| **extra != Value::Bool(false));
            if let Some(extra) = extra {
                for _ in 0..random.below(3) {
                    members
                        .insert(format!("extra{}", random.below(9)), value(random, extra, root, depth - 1));
                }
            }
            members.into()
        }
        "array" => {
            let least = get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let count = usize::try_from(least).unwrap() + random.below(3);
            let prefix = get("prefixItems").and_then(Value::as_array);
            let item =
                |at: usize| prefix.and_then(|prefix| prefix.get(at)).or(get("items")).unwrap_or(&Value::Null);
            (0..count).map(|at| value(random, item(at), root, depth - 1)).collect()
        }
        "string" => {
            let samples = [
                "",
                "a",
                "ab",
                "abc",
                "foo",
                "123-x",
                "x",
                "2024-02-29",
                "2024-01-01T00:00:00Z",
                "12:30:00Z",
                "a@b.example",
                "123e4567-e89b-12d3-a456-426614174000",
                "10.0.0.1",
                "https://example.com/",
                "P1D",
                "#aabbcc",
                "v1.2",
                "AB",
                "\u{0}\n\"\\",
                "été 😀 \u{2028}",
                "admin",
                "yes",
                "a,b",
                "\u{7f}/",
            ];
            random.pick(&samples).into()
        }
        "integer" => json!(
            [0, 1, -1, 5, 7, 10, 35, 99, 100, 700, -100, 65535, 9_007_199_254_740_991_i64][random.below(13)]
        ),
        "number" => {
            let texts = [
                "0",
                "0.5",
                "-0.25",
                "1",
                "3.5",
                "-273.15",
                "12.34",
                "99.99",
                "0.0000001",
                "12345.678",
                "1e3",
                "1e-7",
            ];
            serde_json::from_str(random.pick(&texts)).unwrap()
        }
        "boolean" => random.one_in(2).into(),
        _ => Value::Null,
    }
}

fn anything(random: &mut Random) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1.5),
        json!("x"),
        json!("a\"\n"),
        json!([]),
        json!([1, "a"]),
        json!({}),
        json!({"a": 1, "b": [null]}),
        json!(1_000_000),
        json!(""),
    ];
    values[random.below(values.len())].clone()
}
