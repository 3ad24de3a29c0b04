//! Which kinds of local address a grant opens.

/// Addresses that are not globally reachable and may be connected to all the same. The default is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Reach {
    /// Private addresses: RFC 1918, unique local (RFC 4193) and link-local ones.
    pub local_network: bool,
    /// The shared address space `100.64.0.0/10` (RFC 6598), which overlay networks use.
    pub overlay_network: bool,
    /// The device itself: `127.0.0.0/8` and `::1`.
    pub loopback: bool,
}

impl Reach {
    /// Globally reachable addresses only.
    pub const PUBLIC: Self = Self { local_network: false, overlay_network: false, loopback: false };
    /// Everything that a grant can open.
    pub const WIDEST: Self = Self { local_network: true, overlay_network: true, loopback: true };
}
