//! Schemas as GBNF, the grammar language of llama.cpp.

mod automaton;
mod chars;
mod digits;
mod formats;
#[cfg(test)]
mod gbnf;
mod lattice;
mod names;
mod repeat;
mod rules;
mod shared;
mod words;
mod writer;
