//! The control tokens of known model families. Tokens between bars, `<|...|>` and its kin, are known by
//! their shape (`tokens.rs`) and need no line here.
//!
//! Sources: the tokenizers' own lists and chat templates, llama.cpp's chat templates and its list of tokens
//! that it takes for control tokens whatever their declared type. In each text a space parts the tokens.

/// Matched in any case. No token holds a space: see `ModelTokens::new`.
const ANY_CASE: &[&str] = &[
    // Sentencepiece: Llama 1 and 2, Mistral, Gemma, T5
    "<s> </s> <unk> <pad> <bos> <eos> <mask> <eod> <sep> <cls>",
    // Llama 2, Mistral v1
    "[INST] [/INST] <<SYS>> <</SYS>>",
    // Mistral v3 to Tekken
    "[AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CONTENT]",
    "[/TOOL_CONTENT] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [MODEL_SETTINGS] [/MODEL_SETTINGS] [IMG_BREAK] [IMG_END]",
    "[BEGIN_AUDIO]",
    // Gemma, FunctionGemma
    "<start_of_turn> <end_of_turn> <start_of_image> <end_of_image> <image_soft_token> <start_of_audio>",
    "<end_of_audio> <audio_soft_token> <start_function_declaration> <end_function_declaration>",
    "<start_function_call> <end_function_call> <start_function_response> <end_function_response> <escape>",
    // Qwen, Hermes, GLM, LFM, Nemotron, Seed, MiniMax: tool calls and thoughts
    "<tool_call> </tool_call> <tool_calls> </tool_calls> <tool_response> </tool_response> <tool_result>",
    "</tool_result> <tool_results> </tool_results> <tools> </tools> <toolcall> </toolcall> <available_tools>",
    "</available_tools> <function_call> </function_call> <function_calls> </function_calls>",
    "<function_response> </function_response> <function_result> </function_result> <function_results>",
    "</function_results> <functions> </functions> <function= </function> <parameter= </parameter> <invoke",
    "</invoke> <arg_key> </arg_key> <arg_value> </arg_value> <think> </think> <scratch_pad> </scratch_pad>",
    "<seed: </seed: <minimax: </minimax:",
    // Chat turns of SmolVLM, Bailing, ChatGLM, MiniCPM, MiniMax
    "<end_of_utterance> <role> </role> [gMASK] <sop> <用户> ]~b] ]~!b[ [e~[",
    // Code models: fill in the middle, repositories
    "<fim_prefix> <fim_middle> <fim_suffix> <fim_pad> <fim-prefix> <fim-middle> <fim-suffix> <fim-pad> <fim-repo>",
    "<reponame> <repo_name> <file_sep> <gh_stars> <issue_start> <issue_comment> <issue_closed> <jupyter_start>",
    "<jupyter_code> <jupyter_output> <jupyter_text> <commit_before> <commit_msg> <commit_after>",
    // llama.cpp's place for an image or a sound: one too many fails the whole prompt
    "<__media__> <__image__>",
];

/// Matched in their own case only: in another they are HTML, a manual page or plain prose (`<pre>`, `[args]`).
const EXACT_CASE: &[&str] = &[
    "[ARGS] [CALL_ID] [THINK] [/THINK] [PREFIX] [MIDDLE] [SUFFIX] [IMG] [AUDIO] [TRANSCRIBE] [BOS] [EOS] [EOT]",
    "[PAD] [UNK] [CLS] [SEP] [MASK] <PRE> <SUF> <MID> <EOT> <REPO> <AI>",
];

/// A blank line and a speaker: the turns of older chat models, in any case.
const SPEAKERS: &[&str] = &["\n\nHuman:", "\n\nAssistant:"];

/// The tokens that are matched in any case.
pub(super) fn any_case() -> impl Iterator<Item = &'static str> {
    ANY_CASE.iter().flat_map(|line| line.split(' ')).chain(SPEAKERS.iter().copied())
}

/// The tokens that are matched in their own case.
pub(super) fn exact_case() -> impl Iterator<Item = &'static str> {
    EXACT_CASE.iter().flat_map(|line| line.split(' '))
}
