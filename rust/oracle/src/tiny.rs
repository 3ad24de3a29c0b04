//! A language model of a quarter of a megabyte, made here: random weights, one layer, a byte-level vocabulary and a chat
//! template that shows tools in the way of Hermes. It knows nothing and helps no grammar: whatever it writes, the grammar
//! made it write.
//!
//! The file is GGUF, version 3, as llama.cpp reads it.

use std::f64::consts::TAU;

const EMBEDDING: u32 = 64;
const HEADS: u32 = 4;
const FORWARD: u32 = 128;
const CONTEXT: u32 = 8_192;
/// Tensor data begins at multiples of this.
const ALIGNMENT: usize = 32;

/// Tokens of two characters, which the vocabulary joins: some of them cross the joints of JSON.
const PAIRS: [&str; 17] = [
    "{\"", "\":", "\",", "\"}", ": ", ", ", "tr", "ru", "fa", "nu", "ll", "in", "th", "er", "an", "10", "20",
];
/// Characters beyond ASCII that are tokens.
const OTHERS: [&str; 9] = ["é", "ü", "ß", "ñ", "日", "本", "語", "🙂", "€"];
/// Whole words of the template that are tokens.
const SPECIAL: [&str; 5] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"];
/// Words with which a call begins: tokens of a model that is to write calls by chance.
const BEGINNINGS: [&str; 2] = ["{\"name\":", "[{\"name\":"];

/// Numbers of token types in GGUF.
const NORMAL: i32 = 1;
const CONTROL: i32 = 3;
const USER_DEFINED: i32 = 4;

const TEMPLATE: &str = include_str!("../llama/template.jinja");

/// The bytes of the model. With `begins_calls` the words with which a call begins are tokens, so that it writes some.
pub fn tiny_model(seed: u64, begins_calls: bool) -> Vec<u8> {
    let mut tokens: Vec<(String, i32)> =
        (0..128_u8).map(|byte| (spelled(byte).to_string(), NORMAL)).collect();
    let mut merges = Vec::new();
    for pair in PAIRS {
        let [a, b] = [0, 1].map(|at| pair.as_bytes().get(at).copied().map_or(' ', spelled));
        merges.push(format!("{a} {b}"));
        tokens.push((format!("{a}{b}"), NORMAL));
    }
    tokens.extend(OTHERS.iter().map(|text| (text.bytes().map(spelled).collect(), NORMAL)));
    let first_special = u32::try_from(tokens.len()).unwrap_or_default();
    let kind = |text: &str| if text.starts_with("<|") { CONTROL } else { USER_DEFINED };
    let beginnings = BEGINNINGS.iter().filter(|_| begins_calls);
    tokens.extend(SPECIAL.iter().chain(beginnings).map(|text| ((*text).to_owned(), kind(text))));
    let vocabulary = u32::try_from(tokens.len()).unwrap_or_default();
    let mut file = Gguf::default();
    file.text("general.architecture", "llama");
    file.text("general.name", "tiny-random");
    file.number("general.file_type", 0);
    file.number("llama.context_length", CONTEXT);
    file.number("llama.embedding_length", EMBEDDING);
    file.number("llama.block_count", 1);
    file.number("llama.feed_forward_length", FORWARD);
    file.number("llama.attention.head_count", HEADS);
    file.number("llama.attention.head_count_kv", HEADS);
    file.number("llama.rope.dimension_count", EMBEDDING / HEADS);
    file.number("llama.vocab_size", vocabulary);
    file.float("llama.attention.layer_norm_rms_epsilon", 1e-5);
    file.text("tokenizer.ggml.model", "gpt2");
    file.text("tokenizer.ggml.pre", "gpt-2");
    file.texts("tokenizer.ggml.tokens", tokens.iter().map(|(text, _)| text.as_str()));
    file.integers("tokenizer.ggml.token_type", tokens.iter().map(|(_, kind)| *kind));
    file.texts("tokenizer.ggml.merges", merges.iter().map(String::as_str));
    file.number("tokenizer.ggml.bos_token_id", first_special);
    file.number("tokenizer.ggml.eos_token_id", first_special + 2);
    file.flag("tokenizer.ggml.add_bos_token", false);
    file.text("tokenizer.chat_template", TEMPLATE);
    let mut random = Random(seed);
    let (e, f, v) = (EMBEDDING, FORWARD, vocabulary);
    file.weights("token_embd.weight", &[e, v], &mut random);
    file.ones("output_norm.weight", e);
    file.weights("output.weight", &[e, v], &mut random);
    file.ones("blk.0.attn_norm.weight", e);
    file.ones("blk.0.ffn_norm.weight", e);
    for name in ["attn_q", "attn_k", "attn_v", "attn_output"] {
        file.weights(&format!("blk.0.{name}.weight"), &[e, e], &mut random);
    }
    for (name, shape) in [("ffn_gate", [e, f]), ("ffn_up", [e, f]), ("ffn_down", [f, e])] {
        file.weights(&format!("blk.0.{name}.weight"), &shape, &mut random);
    }
    file.finish()
}

/// The letter that stands for a byte in a byte-level vocabulary: itself where it shows, else one from U+0100 on.
fn spelled(byte: u8) -> char {
    let shows = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    if shows(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|other| !shows(*other)).count();
    u32::try_from(before).ok().and_then(|before| char::from_u32(0x100 + before)).unwrap_or(' ')
}

/// A GGUF file under construction.
#[derive(Default)]
struct Gguf {
    members: u64,
    head: Vec<u8>,
    tensors: u64,
    infos: Vec<u8>,
    data: Vec<u8>,
}

impl Gguf {
    fn text(&mut self, key: &str, text: &str) {
        self.key(key, 8);
        string(&mut self.head, text);
    }

    fn number(&mut self, key: &str, number: u32) {
        self.key(key, 4);
        self.head.extend(number.to_le_bytes());
    }

    fn float(&mut self, key: &str, number: f32) {
        self.key(key, 6);
        self.head.extend(number.to_le_bytes());
    }

    fn flag(&mut self, key: &str, flag: bool) {
        self.key(key, 7);
        self.head.push(u8::from(flag));
    }

    fn texts<'t>(&mut self, key: &str, texts: impl ExactSizeIterator<Item = &'t str>) {
        self.list(key, 8, texts.len());
        texts.for_each(|text| string(&mut self.head, text));
    }

    fn integers(&mut self, key: &str, numbers: impl ExactSizeIterator<Item = i32>) {
        self.list(key, 5, numbers.len());
        numbers.for_each(|number| self.head.extend(number.to_le_bytes()));
    }

    fn list(&mut self, key: &str, kind: u32, length: usize) {
        self.key(key, 9);
        self.head.extend(kind.to_le_bytes());
        self.head.extend((length as u64).to_le_bytes());
    }

    fn key(&mut self, key: &str, kind: u32) {
        self.members += 1;
        string(&mut self.head, key);
        self.head.extend(kind.to_le_bytes());
    }

    fn weights(&mut self, name: &str, shape: &[u32], random: &mut Random) {
        let count: u32 = shape.iter().product();
        self.tensor(name, shape, (0..count).map(|_| random.normal() * 0.4));
    }

    fn ones(&mut self, name: &str, count: u32) {
        self.tensor(name, &[count], (0..count).map(|_| 1.0));
    }

    fn tensor(&mut self, name: &str, shape: &[u32], values: impl Iterator<Item = f32>) {
        const F32: u32 = 0;
        self.tensors += 1;
        pad(&mut self.data);
        string(&mut self.infos, name);
        self.infos.extend(u32::try_from(shape.len()).unwrap_or_default().to_le_bytes());
        for length in shape {
            self.infos.extend(u64::from(*length).to_le_bytes());
        }
        self.infos.extend(F32.to_le_bytes());
        self.infos.extend((self.data.len() as u64).to_le_bytes());
        values.for_each(|value| self.data.extend(value.to_le_bytes()));
    }

    fn finish(self) -> Vec<u8> {
        const VERSION: u32 = 3;
        let mut file = b"GGUF".to_vec();
        file.extend(VERSION.to_le_bytes());
        file.extend(self.tensors.to_le_bytes());
        file.extend(self.members.to_le_bytes());
        file.extend(self.head);
        file.extend(self.infos);
        pad(&mut file);
        file.extend(self.data);
        pad(&mut file);
        file
    }
}

fn string(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
}

/// Splitmix64, and normal numbers of it by Box and Muller.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    #[allow(clippy::cast_precision_loss, reason = "53 bits are exact")]
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    #[allow(clippy::cast_possible_truncation, reason = "weights are of single precision")]
    fn normal(&mut self) -> f32 {
        let (radius, angle) = ((-2.0 * self.unit().ln()).sqrt(), TAU * self.unit());
        (radius * angle.cos()) as f32
    }
}
