//! Accepting connections, limited in total and per client address.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(any(target_os = "linux", target_os = "android"))]
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use treenail_runtime::Limits;
use treenail_runtime::internal::LogThrottle;

/// Response to a connection beyond the limit. Its request is not read.
const REJECTION_RESPONSE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Ends the accepted connections of a client that acknowledges nothing for the timeout, because its network has vanished.
/// By default, the operating system waits for about 15 minutes. Only Linux and Android have the option.
pub(super) fn limit_unacknowledged(listener: &TcpListener, timeout: Duration) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // Accepted sockets have the options of their listener.
    if let Err(error) = SockRef::from(listener).set_tcp_user_timeout(Some(timeout)) {
        tracing::debug!(%error, "could not set TCP_USER_TIMEOUT");
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (listener, timeout);
}

/// Limiter for open connections.
#[derive(Debug)]
pub(super) struct ConnectionLimiter {
    connections: Arc<Semaphore>,
    addresses: Arc<AddressLimiter>,
    warned: LogThrottle,
}

/// Permit of one connection, released when it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    _connection: OwnedSemaphorePermit,
    _address: AddressPermit,
}

impl ConnectionLimiter {
    pub(super) fn new(limits: &Limits) -> Self {
        let max_connections = limits.http.connections.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            connections: Arc::new(Semaphore::new(max_connections)),
            addresses: Arc::new(AddressLimiter::new(limits.http.connections_per_address)),
            warned: LogThrottle::default(),
        }
    }

    /// Waits for a permit and then for the next client.
    pub(super) async fn accept(&self, listener: &TcpListener) -> (TcpStream, ConnectionPermit) {
        loop {
            let Ok(connection) = Arc::clone(&self.connections).acquire_owned().await else {
                std::future::pending::<()>().await;
                continue;
            };
            let (socket, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    handle_accept_error(&error).await;
                    continue;
                }
            };
            let Some(address) = self.addresses.try_acquire(peer.ip()) else {
                self.reject(&socket);
                continue;
            };
            // With Nagle's algorithm, small responses would wait for acknowledgements.
            if let Err(error) = socket.set_nodelay(true) {
                tracing::debug!(%error, "could not set TCP_NODELAY");
            }
            let permit = ConnectionPermit {
                _connection: connection,
                _address: address,
            };
            return (socket, permit);
        }
    }

    /// Responds to a connection beyond the limit if that is possible without waiting.
    fn reject(&self, socket: &TcpStream) {
        if self.warned.is_due() {
            tracing::warn!("rejected connections; see `HttpLimits::connections_per_address`");
        }
        if let Err(error) = socket.try_write(REJECTION_RESPONSE) {
            tracing::debug!(%error, "could not send the rejection of a connection");
        }
    }
}

/// Limiter for open connections per client address.
#[derive(Debug)]
struct AddressLimiter {
    counts: Mutex<HashMap<IpAddr, usize>>,
    max_per_address: usize,
}

/// Permit of one connection from an address, released when it is dropped.
#[derive(Debug)]
struct AddressPermit {
    addresses: Arc<AddressLimiter>,
    /// `None` for an exempt address.
    address: Option<IpAddr>,
}

impl AddressLimiter {
    fn new(max_per_address: usize) -> Self {
        Self {
            counts: Mutex::default(),
            max_per_address,
        }
    }

    /// Acquires a permit for one more connection, unless its address is at the limit.
    fn try_acquire(self: &Arc<Self>, address: IpAddr) -> Option<AddressPermit> {
        let address = limited_address(address);
        if let Some(address) = address {
            let mut counts = self.lock();
            let count = counts.entry(address).or_default();
            if *count >= self.max_per_address.max(1) {
                return None;
            }
            *count += 1;
        }
        Some(AddressPermit {
            addresses: Arc::clone(self),
            address,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        let Some(address) = self.address else {
            return;
        };
        let mut counts = self.addresses.lock();
        if let Some(count) = counts.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&address);
            }
        }
    }
}

/// Returns the address or network under which a client is counted.
///
/// `None` for loopback and private addresses: a reverse proxy there makes the connections of many clients.
fn limited_address(address: IpAddr) -> Option<IpAddr> {
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
            // An IPv6 client usually controls a whole /64 network.
            let network = address.to_bits() & !u128::from(u64::MAX);
            (!exempt).then_some(IpAddr::V6(Ipv6Addr::from_bits(network)))
        }
    }
}

/// Returns immediately after an error of one client, and after a delay for other errors, such as too many open files.
async fn handle_accept_error(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    ) {
        return;
    }
    tracing::warn!(%error, "could not accept a connection");
    sleep(Duration::from_millis(100)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_acquire(addresses: &Arc<AddressLimiter>, address: &str) -> Option<AddressPermit> {
        addresses.try_acquire(address.parse().unwrap())
    }

    #[test]
    fn addresses_are_limited_independently() {
        let addresses = Arc::new(AddressLimiter::new(2));
        let cases = [
            ("203.0.113.7", "::ffff:203.0.113.7", "203.0.113.8"),
            ("2001:db8::1", "2001:db8::ffff:1:2", "2001:db8:0:1::1"),
        ];
        for (one, same, other) in cases {
            let first = try_acquire(&addresses, one).unwrap();
            let _second = try_acquire(&addresses, same).unwrap();
            assert!(try_acquire(&addresses, one).is_none(), "{one}");
            assert!(try_acquire(&addresses, same).is_none(), "{same}");
            assert!(try_acquire(&addresses, other).is_some(), "{other}");
            drop(first);
            assert!(try_acquire(&addresses, same).is_some(), "{same}");
        }
        assert!(
            addresses.lock().is_empty(),
            "no counts remain after the last connection"
        );
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[tokio::test]
    async fn accepted_connections_have_the_timeout_of_their_listener() {
        const TIMEOUT: Duration = Duration::from_secs(7);

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        limit_unacknowledged(&listener, TIMEOUT);
        let limiter = ConnectionLimiter::new(&Limits::default());
        let address = listener.local_addr().unwrap();
        let (accepted, connected) =
            tokio::join!(limiter.accept(&listener), TcpStream::connect(address));
        let timeout = SockRef::from(&accepted.0).tcp_user_timeout().unwrap();
        assert_eq!(timeout, Some(TIMEOUT));
        drop(connected);
    }

    #[test]
    fn loopback_and_private_addresses_are_exempt() {
        let addresses = Arc::new(AddressLimiter::new(1));
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
            let permits: Vec<_> = (0..3).map(|_| try_acquire(&addresses, address)).collect();
            assert!(permits.iter().all(Option::is_some), "{address}");
        }
        for address in [
            "172.32.0.1",
            "100.128.0.1",
            "11.0.0.1",
            "2001:db8::1",
            "8.8.8.8",
        ] {
            let _one = try_acquire(&addresses, address).unwrap();
            assert!(try_acquire(&addresses, address).is_none(), "{address}");
        }
    }
}
