//! Requests as they go on the wire: the cases of the first-party connectors, the placement of values, and the
//! laws of the finished request.

mod kit;
mod laws;
mod place;
mod wire;
