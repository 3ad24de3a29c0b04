//! Where clouds hand a machine its credentials.

use std::net::IpAddr;

use super::special_purpose::{AddressKind, SpecialPurpose, v4, v6};

/// Whether a cloud serves credentials of its machines at the address.
pub(super) fn is_metadata(address: IpAddr) -> bool {
    METADATA.iter().any(|block| block.contains(address))
}

const IS: Option<AddressKind> = Some(AddressKind::Metadata);

/// Where clouds serve metadata and credentials of the machine that asks, by the vendors' manuals and the images
/// that ask there. Most lie in blocks that a grant may open, and one is a public address; no grant opens these.
pub static METADATA: &[SpecialPurpose] = &[
    v4([169, 254, 169, 254], 32, IS, "AWS, Azure, Google, Oracle, OpenStack and most others"),
    v4([169, 254, 169, 252], 32, IS, "Google Kubernetes Engine, metadata server of a node"),
    v4([169, 254, 170, 2], 32, IS, "AWS ECS, credentials of a task"),
    v4([169, 254, 170, 23], 32, IS, "AWS EKS, Pod Identity agent"),
    v4([169, 254, 42, 42], 32, IS, "Scaleway"),
    v4([169, 254, 0, 23], 32, IS, "Tencent Cloud"),
    v4([100, 100, 100, 200], 32, IS, "Alibaba Cloud"),
    v4([100, 96, 0, 96], 32, IS, "Volcano Engine"),
    v4([168, 63, 129, 16], 32, IS, "Azure, WireServer"),
    v4([192, 0, 0, 192], 32, IS, "Oracle Cloud Classic"),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32, IS, "AWS, all services inside a machine"),
    v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128, IS, "Google Cloud"),
    v6([0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128, IS, "Oracle Cloud"),
    v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42], 128, IS, "Scaleway"),
    v6([0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1], 128, IS, "Akamai (Linode)"),
    v6([0xfd00, 0x100, 0, 0, 0, 0, 0x100, 0x200], 128, IS, "Alibaba Cloud"),
    v6([0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128, IS, "OpenStack"),
];
