//! Hosts of URLs: their form, and the addresses that are known before anything is resolved.

use std::net::{IpAddr, Ipv4Addr};

/// Returns true for a host name, or for an address in its usual form.
///
/// Other forms of IPv4 addresses, such as `0x7f.1` or `2130706433`, mean different hosts to different resolvers.
pub(super) fn is_host(host: &str) -> bool {
    if literal(host).is_some() {
        return true;
    }
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let last = host.strip_suffix('.').unwrap_or(host);
    let last = last.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last
            .get(..2)
            .is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x"));
    host.len() <= 254 && host.bytes().all(is_name) && !is_number
}

/// Parses a host that is an address.
pub(super) fn literal(host: &str) -> Option<IpAddr> {
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    match address {
        Some(address) => address.parse().ok().map(IpAddr::V6),
        None => host.parse().ok().map(IpAddr::V4),
    }
}

/// Returns the address of a host that needs no resolver: an address, or a name of this computer (RFC 6761, section 6.3).
pub(super) fn known_address(host: &str) -> Option<IpAddr> {
    let name = normalized(host);
    if name == "localhost" || name.ends_with(".localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    literal(host)
}

/// Host in lower case, without a terminating dot.
pub(super) fn normalized(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}
