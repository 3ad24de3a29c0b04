//! The guarded transport: the one place that opens a connection.
