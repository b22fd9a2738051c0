//! Classes of IP addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Class of an IP address, by the networks that can reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressClass {
    /// Reachable from the internet.
    Public,
    /// This computer.
    Loopback,
    /// A private network (RFC 1918, RFC 4193).
    Private,
    /// The network of a carrier or an overlay (RFC 6598).
    Shared,
    /// The link itself, of IPv6. That of IPv4 is [`Forbidden`](Self::Forbidden).
    LinkLocal,
    /// Benchmarks (RFC 2544), which some proxies use for names.
    Benchmark,
    /// Metadata of cloud machines, multicast, reserved and obsolete ranges.
    Forbidden,
}

impl AddressClass {
    pub(super) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        /// Services of cloud machines outside of 169.254.0.0/16: Alibaba, Azure, Oracle.
        const METADATA: [Ipv4Addr; 3] = [
            Ipv4Addr::new(100, 100, 100, 200),
            Ipv4Addr::new(168, 63, 129, 16),
            Ipv4Addr::new(192, 0, 0, 192),
        ];
        if METADATA.contains(&address) {
            return Self::Forbidden;
        }
        match address.octets() {
            [127, ..] => Self::Loopback,
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Self::Private,
            [100, 64..=127, ..] => Self::Shared,
            [198, 18 | 19, ..] => Self::Benchmark,
            // This network, link-local, protocol assignments, documentation, 6to4 relays, multicast and reserved.
            [0 | 224..=255, ..]
            | [169, 254, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 51, 100, _]
            | [203, 0, 113, _] => Self::Forbidden,
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        /// The metadata service of Amazon.
        const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
        if address == Ipv6Addr::LOCALHOST {
            return Self::Loopback;
        }
        if address == METADATA {
            return Self::Forbidden;
        }
        if let Some(address) = address.to_ipv4_mapped() {
            return Self::of_v4(address);
        }
        match address.segments() {
            // NAT64 with its well-known prefix reaches the address inside (RFC 6052).
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
                Self::of_v4(Ipv4Addr::new(a, b, c, d))
            }
            [0xfc00..=0xfdff, ..] => Self::Private,
            [0xfe80..=0xfebf, ..] => Self::LinkLocal,
            // Teredo and protocol assignments, 6to4, documentation.
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => {
                Self::Forbidden
            }
            [0x2000..=0x3fff, ..] => Self::Public,
            // Everything else is not routed globally: unspecified, IPv4-compatible, local NAT64, site-local, multicast.
            _ => Self::Forbidden,
        }
    }
}
