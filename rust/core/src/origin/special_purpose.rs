//! What an address is for: the special-purpose registries of IANA.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not one that anybody may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressKind {
    /// The address of no host, `0.0.0.0` and `::`; many systems connect it to the device itself.
    Unspecified,
    /// `0.0.0.0/8`, the network that a host is on.
    ThisNetwork,
    /// The device itself.
    Loopback,
    /// RFC 1918.
    Private,
    /// Link-local, `169.254.0.0/16` and `fe80::/10`.
    LinkLocal,
    /// RFC 4193.
    UniqueLocal,
    /// The shared address space of RFC 6598, which overlay networks use.
    Shared,
    /// A service that hands a cloud machine its credentials.
    Metadata,
    /// A group of hosts.
    Multicast,
    /// Every host of a network.
    Broadcast,
    /// Kept by the IETF for protocols.
    Protocol,
    /// Kept by the IETF for the future.
    Reserved,
    /// For examples in documents.
    Documentation,
    /// For measurements of network devices.
    Benchmarking,
    /// Packets to it are dropped.
    Discard,
    /// Once had a purpose, and is not to be used.
    Deprecated,
    /// Segment identifiers of IPv6 segment routing.
    SegmentRouting,
    /// `::ffff:0:0/96`, an IPv4 address written as IPv6.
    Ipv4Mapped,
    /// `::/96`, the older way to write an IPv4 address as IPv6.
    Ipv4Compatible,
    /// `::ffff:0:0:0/96`, an IPv4 address inside a stateless translator.
    Ipv4Translated,
    /// `64:ff9b:1::/48`, an IPv4 address behind a translator of the local network.
    Nat64,
    /// `2002::/16`, an IPv4 address as the end of a tunnel.
    SixToFour,
    /// `2001::/32`, an IPv4 address behind a tunnel server.
    Teredo,
    /// Not allocated for global unicast.
    NotGlobal,
}

impl AddressKind {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::ThisNetwork => "this_network",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link_local",
            Self::UniqueLocal => "unique_local",
            Self::Shared => "shared",
            Self::Metadata => "metadata",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Protocol => "protocol",
            Self::Reserved => "reserved",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Discard => "discard",
            Self::Deprecated => "deprecated",
            Self::SegmentRouting => "segment_routing",
            Self::Ipv4Mapped => "ipv4_mapped",
            Self::Ipv4Compatible => "ipv4_compatible",
            Self::Ipv4Translated => "ipv4_translated",
            Self::Nat64 => "nat64",
            Self::SixToFour => "six_to_four",
            Self::Teredo => "teredo",
            Self::NotGlobal => "not_global",
        }
    }
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One block of addresses with a purpose of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpecialPurpose {
    /// The first address of the block.
    pub prefix: IpAddr,
    /// How many leading bits of an address decide.
    pub length: u8,
    /// What it is, when it is not globally reachable.
    pub kind: Option<AddressKind>,
    /// The document that says so, or the vendor whose manual does.
    pub source: &'static str,
}

impl SpecialPurpose {
    /// Whether the address lies in the block.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.prefix, address) {
            (IpAddr::V4(prefix), IpAddr::V4(address)) => {
                let differs = u128::from(prefix.to_bits() ^ address.to_bits());
                differs.checked_shr(32 - u32::from(self.length)).unwrap_or(0) == 0
            }
            (IpAddr::V6(prefix), IpAddr::V6(address)) => {
                let differs = prefix.to_bits() ^ address.to_bits();
                differs.checked_shr(128 - u32::from(self.length)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// What the longest block that holds the address says of it; nothing when it is globally reachable.
pub(super) fn special_kind(address: IpAddr) -> Option<AddressKind> {
    let blocks = SPECIAL_PURPOSE.iter().filter(|block| block.contains(address));
    blocks.max_by_key(|block| block.length).and_then(|block| block.kind)
}

pub(super) const fn v4(
    octets: [u8; 4],
    length: u8,
    kind: Option<AddressKind>,
    source: &'static str,
) -> SpecialPurpose {
    let [a, b, c, d] = octets;
    SpecialPurpose { prefix: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), length, kind, source }
}

#[allow(clippy::many_single_char_names, reason = "groups by their order")]
pub(super) const fn v6(
    groups: [u16; 8],
    length: u8,
    kind: Option<AddressKind>,
    source: &'static str,
) -> SpecialPurpose {
    let [a, b, c, d, e, f, g, h] = groups;
    SpecialPurpose { prefix: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), length, kind, source }
}

use AddressKind as Is;
const GLOBAL: Option<AddressKind> = None;

/// The IANA IPv4 and IPv6 Special-Purpose Address Registries as of 2026-07, multicast, and the IPv6 address
/// space: outside `2000::/3`, the only block allocated for global unicast (RFC 4291 section 2.4), nothing is
/// globally reachable unless a registry says so. A cell that the registries leave blank or answer with "N/A"
/// (6to4, Teredo, deprecated blocks) counts as not globally reachable.
pub static SPECIAL_PURPOSE: &[SpecialPurpose] = &[
    v4([0, 0, 0, 0], 8, Some(Is::ThisNetwork), "RFC 791"),
    v4([0, 0, 0, 0], 32, Some(Is::Unspecified), "RFC 1122"),
    v4([10, 0, 0, 0], 8, Some(Is::Private), "RFC 1918"),
    v4([100, 64, 0, 0], 10, Some(Is::Shared), "RFC 6598"),
    v4([127, 0, 0, 0], 8, Some(Is::Loopback), "RFC 1122"),
    v4([169, 254, 0, 0], 16, Some(Is::LinkLocal), "RFC 3927"),
    v4([172, 16, 0, 0], 12, Some(Is::Private), "RFC 1918"),
    v4([192, 0, 0, 0], 24, Some(Is::Protocol), "RFC 6890"),
    v4([192, 0, 0, 0], 29, Some(Is::Protocol), "RFC 7335"), // continuity of IPv4 service (DS-Lite)
    v4([192, 0, 0, 8], 32, Some(Is::Protocol), "RFC 7600"), // IPv4 dummy address
    v4([192, 0, 0, 9], 32, GLOBAL, "RFC 7723"),             // Port Control Protocol anycast
    v4([192, 0, 0, 10], 32, GLOBAL, "RFC 8155"),            // TURN anycast
    v4([192, 0, 0, 170], 32, Some(Is::Protocol), "RFC 8880"), // discovery of NAT64
    v4([192, 0, 0, 171], 32, Some(Is::Protocol), "RFC 8880"),
    v4([192, 0, 2, 0], 24, Some(Is::Documentation), "RFC 5737"),
    v4([192, 31, 196, 0], 24, GLOBAL, "RFC 7535"), // AS112
    v4([192, 52, 193, 0], 24, GLOBAL, "RFC 7450"), // AMT
    v4([192, 88, 99, 0], 24, Some(Is::Deprecated), "RFC 7526"), // 6to4 relay anycast
    v4([192, 88, 99, 2], 32, Some(Is::Deprecated), "RFC 6751"), // 6a44 relay anycast
    v4([192, 168, 0, 0], 16, Some(Is::Private), "RFC 1918"),
    v4([192, 175, 48, 0], 24, GLOBAL, "RFC 7534"), // AS112
    v4([198, 18, 0, 0], 15, Some(Is::Benchmarking), "RFC 2544"),
    v4([198, 51, 100, 0], 24, Some(Is::Documentation), "RFC 5737"),
    v4([203, 0, 113, 0], 24, Some(Is::Documentation), "RFC 5737"),
    v4([224, 0, 0, 0], 4, Some(Is::Multicast), "RFC 5771"),
    v4([240, 0, 0, 0], 4, Some(Is::Reserved), "RFC 1112"),
    v4([255, 255, 255, 255], 32, Some(Is::Broadcast), "RFC 919"),
    v6([0; 8], 0, Some(Is::NotGlobal), "RFC 4291"),
    v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, GLOBAL, "RFC 4291"),
    v6([0; 8], 96, Some(Is::Ipv4Compatible), "RFC 4291"),
    v6([0; 8], 128, Some(Is::Unspecified), "RFC 4291"),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, Some(Is::Loopback), "RFC 4291"),
    v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, Some(Is::Ipv4Mapped), "RFC 4291"),
    v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, Some(Is::Ipv4Translated), "RFC 2765"),
    v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, GLOBAL, "RFC 6052"), // NAT64; the address inside is judged
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Some(Is::Nat64), "RFC 8215"),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64, Some(Is::Discard), "RFC 6666"),
    v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64, Some(Is::Protocol), "RFC 9780"), // IPv6 dummy prefix
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Some(Is::Protocol), "RFC 2928"),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, Some(Is::Teredo), "RFC 4380"),
    v6([0x2001, 1, 0, 0, 0, 0, 0, 1], 128, GLOBAL, "RFC 7723"), // Port Control Protocol anycast
    v6([0x2001, 1, 0, 0, 0, 0, 0, 2], 128, GLOBAL, "RFC 8155"), // TURN anycast
    v6([0x2001, 1, 0, 0, 0, 0, 0, 3], 128, GLOBAL, "RFC 9665"), // DNS-SD registration anycast
    v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, Some(Is::Benchmarking), "RFC 5180"),
    v6([0x2001, 3, 0, 0, 0, 0, 0, 0], 32, GLOBAL, "RFC 7450"), // AMT
    v6([0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48, GLOBAL, "RFC 7535"), // AS112
    v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28, Some(Is::Deprecated), "RFC 4843"), // ORCHID
    v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28, GLOBAL, "RFC 7343"), // ORCHIDv2
    v6([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28, GLOBAL, "RFC 9374"), // remote identification of drones
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Some(Is::Documentation), "RFC 3849"),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Some(Is::SixToFour), "RFC 3056"),
    v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, GLOBAL, "RFC 7534"), // AS112
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Some(Is::Documentation), "RFC 9637"),
    v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, Some(Is::SegmentRouting), "RFC 9602"),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Some(Is::UniqueLocal), "RFC 4193"),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Some(Is::LinkLocal), "RFC 4291"),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Some(Is::Deprecated), "RFC 3879"), // site-local
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Some(Is::Multicast), "RFC 4291"),
];
