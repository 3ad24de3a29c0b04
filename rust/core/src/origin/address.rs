//! Which addresses a connection may go to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Reach;
use super::metadata::is_metadata;
use super::special_purpose::{AddressKind, special_kind};

/// Why no connection may go to an address. Tells the kind of the address, never the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Denied {
    /// What kind of address it is; [`None`] when the address is public and the connection would be cleartext.
    kind: Option<AddressKind>,
    /// Whether the kind is that of an IPv4 address inside the IPv6 address.
    inside: bool,
}

impl Denied {
    /// The kind of the address, unless it is a public one that cleartext may not reach.
    pub fn kind(self) -> Option<AddressKind> {
        self.kind
    }

    /// A stable word: that of the kind, or `cleartext`.
    pub fn reason(self) -> &'static str {
        self.kind.map_or("cleartext", AddressKind::as_str)
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(kind) = self.kind else {
            return f.write_str("the address is public, and http connects only to local addresses");
        };
        let inside = if self.inside { "the IPv4 address inside it" } else { "the address" };
        let opens =
            if opener(kind).is_some() && !self.inside { "the grant does not open" } else { "no grant opens" };
        write!(f, "{inside} is of the kind `{kind}`, which {opens}")
    }
}

impl std::error::Error for Denied {}

/// Judges an address before a connection is made to it.
///
/// Allowed is what the IANA special-purpose registries call globally reachable
/// ([`SPECIAL_PURPOSE`](super::SPECIAL_PURPOSE)), and of the rest the kinds that `reach` opens. Never opened
/// are the metadata services of clouds ([`METADATA`](super::METADATA)), multicast, broadcast and unspecified
/// addresses.
///
/// An IPv6 address that carries an IPv4 address is held to both. The one inside must be globally reachable
/// whatever `reach` says: a packet to it leaves the device for a translator or the end of a tunnel, so it is
/// neither this device nor this network, and RFC 6052 section 3.1 forbids local addresses there.
pub fn judge(address: IpAddr, reach: Reach) -> Result<(), Denied> {
    let denied = |kind, inside| Err(Denied { kind: Some(kind), inside });
    let (certain, possible) = match address {
        IpAddr::V4(_) => Default::default(),
        IpAddr::V6(address) => (carried(address), carried_by_local_nat64(address)),
    };
    if is_metadata(address) {
        return denied(AddressKind::Metadata, false);
    }
    let carried = || certain.iter().copied().flatten();
    if carried().chain(possible.iter().copied().flatten()).any(|inner| is_metadata(inner.into())) {
        return denied(AddressKind::Metadata, true);
    }
    if let Some(kind) = carried().find_map(|inner| special_kind(inner.into())) {
        return denied(kind, true);
    }
    match special_kind(address) {
        Some(kind) if !opener(kind).is_some_and(|opens| opens(reach)) => denied(kind, false),
        _ => Ok(()),
    }
}

/// Judges an address for a connection without TLS: as [`judge`] does, and it must be a local one.
pub fn judge_cleartext(address: IpAddr, reach: Reach) -> Result<(), Denied> {
    judge(address, reach)?;
    if is_local(address) { Ok(()) } else { Err(Denied { kind: None, inside: false }) }
}

/// Whether an address is of a kind that a grant can open: private, shared or loopback, and no metadata service.
pub fn is_local(address: IpAddr) -> bool {
    judge(address, Reach::WIDEST).is_ok() && judge(address, Reach::PUBLIC).is_err()
}

/// What [`classify`] says of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classified {
    /// Whether a connection may go there.
    pub allowed: bool,
    /// `global`, the word of an [`AddressKind`], or `not_canonical`.
    pub reason: &'static str,
}

/// Judges an address that is given as text: dotted decimal with four parts and no leading zeros, or RFC 4291
/// section 2.2. Every other spelling (`127.1`, `0x7f.1`, `[::1]`, `fe80::1%eth0`, a name) is `not_canonical`
/// and not allowed: what two readers may understand differently is not judged by one of them.
pub fn classify(text: &str, reach: Reach) -> Classified {
    let Ok(address) = text.parse::<IpAddr>() else {
        return Classified { allowed: false, reason: "not_canonical" };
    };
    match judge(address, reach) {
        Ok(()) => {
            let reason = special_kind(address).map_or("global", AddressKind::as_str);
            Classified { allowed: true, reason }
        }
        Err(denied) => Classified { allowed: false, reason: denied.reason() },
    }
}

/// The word of a grant that opens a kind of address, where there is one.
fn opener(kind: AddressKind) -> Option<fn(Reach) -> bool> {
    match kind {
        AddressKind::Private | AddressKind::LinkLocal | AddressKind::UniqueLocal => {
            Some(|reach| reach.local_network)
        }
        AddressKind::Shared => Some(|reach| reach.overlay_network),
        AddressKind::Loopback => Some(|reach| reach.loopback),
        _ => None,
    }
}

/// The IPv4 addresses that an IPv6 address carries by its prefix and by its interface identifier.
fn carried(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let v4 = |high: u16, low: u16| Some(Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low)));
    let by_prefix = match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        // IPv4-compatible (RFC 4291 section 2.5.5.1), IPv4-translated (RFC 2765 section 2.1), IPv4-mapped
        // (RFC 4291 section 2.5.5.2), NAT64 (RFC 6052 section 2.1), 6to4 (RFC 3056 section 2).
        [0, 0, 0, 0, 0 | 0xffff, 0, high, low]
        | [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        // Teredo (RFC 4380 section 4).
        [0x2001, 0, .., high, low] => v4(!high, !low),
        _ => None,
    };
    let by_interface = match address.segments() {
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => v4(high, low), // ISATAP, RFC 5214 section 6.1
        _ => None,
    };
    [by_prefix, by_interface]
}

/// The IPv4 addresses that an address of `64:ff9b:1::/48` may carry: a local network may use any prefix inside
/// it (RFC 8215 section 5), so each of the places of RFC 6052 section 2.2 is read.
#[allow(clippy::many_single_char_names, reason = "octets by their order")]
fn carried_by_local_nat64(address: Ipv6Addr) -> [Option<Ipv4Addr>; 4] {
    let [0x64, 0xff9b, 1, ..] = address.segments() else { return [None; 4] };
    let [.., a, b, _, c, d, e, f, g, h, i] = address.octets();
    // Prefixes of 48, 56, 64 and 96 bits.
    [[a, b, c, d], [b, c, d, e], [c, d, e, f], [f, g, h, i]].map(|octets| Some(octets.into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOCAL_NETWORK: Reach = Reach { local_network: true, ..Reach::PUBLIC };
    const OVERLAY: Reach = Reach { overlay_network: true, ..Reach::PUBLIC };
    const LOOPBACK: Reach = Reach { loopback: true, ..Reach::PUBLIC };

    fn reason(address: &str, reach: Reach) -> &'static str {
        judge(address.parse().unwrap(), reach).map_or_else(Denied::reason, |()| "allowed")
    }

    #[test]
    fn without_a_grant_only_globally_reachable_addresses_are_allowed() {
        for (address, expected) in [
            ("8.8.8.8", "allowed"),
            ("2606:4700:4700::1111", "allowed"),
            ("0.0.0.0", "unspecified"),
            ("0.1.2.3", "this_network"),
            ("127.0.0.1", "loopback"),
            ("::1", "loopback"),
            ("::", "unspecified"),
            ("172.31.255.255", "private"),
            ("100.127.255.255", "shared"),
            ("169.254.1.1", "link_local"),
            ("fe80::1", "link_local"),
            ("fdff::1", "unique_local"),
            ("224.0.0.251", "multicast"),
            ("ff02::fb", "multicast"),
            ("255.255.255.255", "broadcast"),
            ("240.0.0.1", "reserved"),
            ("192.0.2.1", "documentation"),
            ("198.19.0.1", "benchmarking"),
            ("fec0::1", "deprecated"),
            ("4000::1", "not_global"),
            ("64:ff9c::1", "not_global"),
        ] {
            assert_eq!(reason(address, Reach::PUBLIC), expected, "{address}");
        }
    }

    #[test]
    fn each_word_of_a_grant_opens_its_own_kind_and_no_other() {
        for (address, opener) in [
            ("10.0.0.1", LOCAL_NETWORK),
            ("192.168.1.1", LOCAL_NETWORK),
            ("169.254.7.7", LOCAL_NETWORK),
            ("169.254.169.253", LOCAL_NETWORK),
            ("fd12:3456::1", LOCAL_NETWORK),
            ("fe80::1", LOCAL_NETWORK),
            ("100.64.0.1", OVERLAY),
            ("127.8.9.1", LOOPBACK),
            ("::1", LOOPBACK),
        ] {
            for reach in [Reach::PUBLIC, LOCAL_NETWORK, OVERLAY, LOOPBACK] {
                assert_eq!(reason(address, reach) == "allowed", reach == opener, "{address} {reach:?}");
            }
        }
    }

    #[test]
    fn no_grant_opens_metadata_multicast_broadcast_or_unspecified_addresses_in_any_form() {
        for (address, expected) in [
            ("169.254.169.254", "metadata"),
            ("169.254.170.2", "metadata"),
            ("100.100.100.200", "metadata"),
            ("168.63.129.16", "metadata"),
            ("192.0.0.192", "metadata"),
            ("fd00:ec2::254", "metadata"),
            ("fd00:ec2::23", "metadata"),
            ("fd20:ce::254", "metadata"),
            ("fe80::a9fe:a9fe", "metadata"),
            ("::ffff:169.254.169.254", "metadata"),
            ("::169.254.169.254", "metadata"),
            ("::ffff:0:169.254.169.254", "metadata"),
            ("64:ff9b::169.254.169.254", "metadata"),
            ("64:ff9b:1::169.254.169.254", "metadata"),
            ("64:ff9b:1:a9fe:a9:fe00::", "metadata"),
            ("64:ff9b:1:a9:fe:a9fe::", "metadata"),
            ("64:ff9b:1:0:a9:fea9:fe00:0", "metadata"),
            ("2002:a9fe:a9fe::1", "metadata"),
            ("2001:0:4136:e378:8000:63bf:5601:5601", "metadata"),
            ("fe80::5efe:169.254.169.254", "metadata"),
            ("2606:4700::200:5efe:168.63.129.16", "metadata"),
            ("224.0.0.1", "multicast"),
            ("ff05::1", "multicast"),
            ("255.255.255.255", "broadcast"),
            ("::ffff:255.255.255.255", "broadcast"),
            ("0.0.0.0", "unspecified"),
            ("::", "unspecified"),
            ("::ffff:0.0.0.0", "unspecified"),
        ] {
            assert_eq!(reason(address, Reach::WIDEST), expected, "{address}");
        }
    }

    #[test]
    fn an_address_inside_another_is_held_to_the_public_policy() {
        for (address, expected) in [
            ("64:ff9b::8.8.8.8", "allowed"),
            ("64:ff9b::192.168.0.1", "private"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::ffff:8.8.8.8", "ipv4_mapped"),
            ("::8.8.8.8", "ipv4_compatible"),
            ("::ffff:0:8.8.8.8", "ipv4_translated"),
            ("64:ff9b:1::8.8.8.8", "nat64"),
            ("2002:808:808::1", "six_to_four"),
            ("2001:0:4136:e378:8000:63bf:f7f7:f7f7", "teredo"),
            ("fe80::5efe:10.0.0.1", "private"),
        ] {
            assert_eq!(reason(address, Reach::WIDEST), expected, "{address}");
        }
    }

    #[test]
    fn cleartext_goes_to_local_addresses_only() {
        let cleartext = |address: &str, reach| judge_cleartext(address.parse().unwrap(), reach);
        assert_eq!(cleartext("192.168.0.1", LOCAL_NETWORK), Ok(()));
        assert_eq!(cleartext("8.8.8.8", Reach::WIDEST).map_err(Denied::reason), Err("cleartext"));
        assert_eq!(cleartext("64:ff9b::8.8.8.8", Reach::WIDEST).map_err(Denied::reason), Err("cleartext"));
        assert_eq!(cleartext("192.168.0.1", OVERLAY).map_err(Denied::reason), Err("private"));
    }

    #[test]
    fn only_the_plain_text_of_an_address_is_judged() {
        let allowed = |reason| Classified { allowed: true, reason };
        assert_eq!(classify("8.8.8.8", Reach::PUBLIC), allowed("global"));
        assert_eq!(classify("192.168.0.1", LOCAL_NETWORK), allowed("private"));
        let unclear = Classified { allowed: false, reason: "not_canonical" };
        for text in [
            "",
            "127.1",
            "0x7f.1",
            "0177.0.0.1",
            "2130706433",
            "127.0.0.01",
            "127.0.0.1.",
            "[::1]",
            "::1%lo",
            "fe80::1%eth0",
            " 8.8.8.8",
            "8.8.8.8\n",
            "８.8.8.8",
            "8.8.8.8:53",
            "8.8.8.0/24",
            "localhost",
        ] {
            assert_eq!(classify(text, Reach::WIDEST), unclear, "{text:?}");
        }
    }

    #[test]
    fn what_a_refusal_says_names_the_kind_and_never_the_address() {
        let said = |address: &str| judge(address.parse().unwrap(), Reach::PUBLIC).unwrap_err().to_string();
        assert_eq!(said("10.1.2.3"), "the address is of the kind `private`, which the grant does not open");
        assert_eq!(
            said("::ffff:10.1.2.3"),
            "the IPv4 address inside it is of the kind `private`, which no grant opens"
        );
    }

    proptest! {
        #[test]
        fn a_wider_grant_never_denies_what_a_narrower_one_allows(bits: u128, narrow: [bool; 3], more: [bool; 3]) {
            let reach = |words: [bool; 3]| {
                Reach { local_network: words[0], overlay_network: words[1], loopback: words[2] }
            };
            let wide = [narrow[0] | more[0], narrow[1] | more[1], narrow[2] | more[2]];
            let v4 = Ipv4Addr::from_bits((bits >> 96) as u32);
            for address in [IpAddr::V6(Ipv6Addr::from_bits(bits)), v4.into(), v4.to_ipv6_mapped().into()] {
                prop_assert!(judge(address, reach(narrow)).is_err() || judge(address, reach(wide)).is_ok());
            }
        }

        #[test]
        fn what_is_denied_in_public_is_denied_inside_every_form(high: u16, low: u16) {
            let v4 = Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
            let forms = [
                v4.to_ipv6_mapped(),
                Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, 1, 2, 3, 4, !high, !low),
                Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0, 0x5efe, high, low),
            ];
            if let Err(denied) = judge(v4.into(), Reach::PUBLIC) {
                for form in forms {
                    let found = judge(form.into(), Reach::WIDEST);
                    prop_assert_eq!(found.map_err(Denied::reason), Err(denied.reason()), "{}", form);
                }
            }
        }
    }
}
