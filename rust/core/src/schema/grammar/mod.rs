//! Schemas as GBNF, the grammar language of llama.cpp.

mod automaton;
mod chars;
mod formats;
#[cfg(test)]
mod gbnf;
mod names;
mod repeat;
mod rules;
mod shared;
mod words;
mod writer;
