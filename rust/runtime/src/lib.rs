//! Sessions: the core and the transport joined, with clocks, plans, flows and rates.
