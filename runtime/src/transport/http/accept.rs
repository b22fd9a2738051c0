//! Accepting connections: no more than there may be, in all and from one address.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

use crate::limits::Limits;
use crate::log_throttle::LogThrottle;

/// The response to a connection that is one too many; the request is not read.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// The connections that are open.
#[derive(Debug)]
pub(super) struct Admissions {
    all: Arc<Semaphore>,
    addresses: Arc<Addresses>,
    warned: LogThrottle,
}

/// The place of one connection, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Admission {
    _one: OwnedSemaphorePermit,
    _from: Counted,
}

impl Admissions {
    pub(super) fn within(limits: &Limits) -> Self {
        let most = limits.http.connections.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(most)),
            addresses: Arc::new(Addresses::new(limits.http.connections_per_address)),
            warned: LogThrottle::default(),
        }
    }

    /// Waits for the next client, once there is room for it.
    pub(super) async fn accept(&self, listener: &TcpListener) -> (TcpStream, Admission) {
        loop {
            let Ok(one) = Arc::clone(&self.all).acquire_owned().await else {
                std::future::pending::<()>().await;
                continue;
            };
            let (socket, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    failed(&error).await;
                    continue;
                }
            };
            let Some(from) = self.addresses.admit(peer.ip()) else {
                self.turn_away(&socket);
                continue;
            };
            // Small answers would wait for acknowledgements otherwise.
            if let Err(error) = socket.set_nodelay(true) {
                tracing::debug!(%error, "a socket stays slow");
            }
            let admission = Admission {
                _one: one,
                _from: from,
            };
            return (socket, admission);
        }
    }

    /// Answers a connection that is one too many, as far as that takes no time.
    fn turn_away(&self, socket: &TcpStream) {
        if self.warned.is_due() {
            tracing::warn!("connections were refused; see `HttpLimits::connections_per_address`");
        }
        if let Err(error) = socket.try_write(TOO_MANY) {
            tracing::debug!(%error, "a refused client was not told why");
        }
    }
}

/// Connections by the address of their clients.
#[derive(Debug)]
struct Addresses {
    open: Mutex<HashMap<IpAddr, usize>>,
    most: usize,
}

/// A connection that is counted until it is dropped.
#[derive(Debug)]
struct Counted {
    addresses: Arc<Addresses>,
    /// Missing for an address that has no bound.
    from: Option<IpAddr>,
}

impl Addresses {
    fn new(most: usize) -> Self {
        Self {
            open: Mutex::default(),
            most,
        }
    }

    /// Counts one more connection, unless its address has as many as it may have.
    fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Counted> {
        let from = bounded(address);
        if let Some(from) = from {
            let mut open = self.lock();
            let count = open.entry(from).or_default();
            if *count >= self.most.max(1) {
                return None;
            }
            *count += 1;
        }
        Some(Counted {
            addresses: Arc::clone(self),
            from,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let Some(from) = self.from else {
            return;
        };
        let mut open = self.addresses.lock();
        if let Some(count) = open.get_mut(&from) {
            *count -= 1;
            if *count == 0 {
                open.remove(&from);
            }
        }
    }
}

/// The address that counts for a client; `None` where a reverse proxy may be, which has the connections of many clients:
/// this computer and private networks.
fn bounded(address: IpAddr) -> Option<IpAddr> {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            let exempt = address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || is_shared;
            (!exempt).then_some(IpAddr::V4(address))
        }
        IpAddr::V6(address) => {
            let [first, ..] = address.segments();
            let exempt =
                address.is_loopback() || first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80;
            // A client of IPv6 has a whole network of this size.
            let network = address.to_bits() & !u128::from(u64::MAX);
            (!exempt).then_some(IpAddr::V6(Ipv6Addr::from_bits(network)))
        }
    }
}

/// Goes on after an error of one client at once, and after one of this process with some patience.
async fn failed(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    ) {
        return;
    }
    tracing::warn!(%error, "no connection could be accepted");
    sleep(Duration::from_millis(100)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(addresses: &Arc<Addresses>, address: &str) -> Option<Counted> {
        addresses.admit(address.parse().unwrap())
    }

    #[test]
    fn one_address_leaves_room_for_others() {
        let addresses = Arc::new(Addresses::new(2));
        let cases = [
            ("203.0.113.7", "::ffff:203.0.113.7", "203.0.113.8"),
            ("2001:db8::1", "2001:db8::ffff:1:2", "2001:db8:0:1::1"),
        ];
        for (one, same, other) in cases {
            let first = admit(&addresses, one).unwrap();
            let _second = admit(&addresses, same).unwrap();
            assert!(admit(&addresses, one).is_none(), "{one}");
            assert!(admit(&addresses, same).is_none(), "{same}");
            assert!(admit(&addresses, other).is_some(), "{other}");
            drop(first);
            assert!(admit(&addresses, same).is_some(), "{same}");
        }
        assert!(
            addresses.lock().is_empty(),
            "nothing is kept of clients that left"
        );
    }

    #[test]
    fn places_of_proxies_have_no_bound() {
        let addresses = Arc::new(Addresses::new(1));
        let exempt = [
            "127.0.0.1",
            "127.9.9.9",
            "::1",
            "::ffff:127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.1.1",
            "100.64.0.1",
            "fd00::1",
            "fe80::1",
        ];
        for address in exempt {
            let admitted: Vec<_> = (0..3).map(|_| admit(&addresses, address)).collect();
            assert!(admitted.iter().all(Option::is_some), "{address}");
        }
        for address in [
            "172.32.0.1",
            "100.128.0.1",
            "11.0.0.1",
            "2001:db8::1",
            "8.8.8.8",
        ] {
            let _one = admit(&addresses, address).unwrap();
            assert!(admit(&addresses, address).is_none(), "{address}");
        }
    }
}
