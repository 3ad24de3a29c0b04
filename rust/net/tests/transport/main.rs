//! The transport against loopback servers that do exactly what a script says.

mod address;
mod answers;
mod cancel;
mod corpora;
mod deadline;
mod redirects;
mod repeats;
mod requests;
mod secrecy;
mod support;
mod tls;
