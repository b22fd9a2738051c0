//! Detection of connections whose path has vanished.
//!
//! Without it, one dead HTTP/2 connection fails all requests, and a stream on which only the server writes never ends. Each of
//! the two methods notices a dead connection 50 s after its last byte. On Linux and Android, the timeout for unacknowledged data also
//! ends the connection of a living peer that accepts no data for 50 s, because its receive window is full.

use std::time::Duration;

use hyper_util::client::legacy::Builder;
use hyper_util::client::legacy::connect::HttpConnector;

/// Silence of the server before it is probed.
const INTERVAL: Duration = Duration::from_secs(30);
/// Maximum time until the server responds to a ping of HTTP/2.
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Time between two probes of TCP, which may be lost.
const PROBE_INTERVAL: Duration = Duration::from_secs(5);
/// Number of probes of TCP without a response that end the connection.
const PROBES: u32 = 4;

/// Pings idle and busy connections of HTTP/2.
pub(crate) fn ping_http2(builder: &mut Builder) {
    builder
        .http2_keep_alive_interval(INTERVAL)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .http2_keep_alive_while_idle(true);
}

/// Probes sockets, for streams over HTTP/1.1.
pub(crate) fn probe_tcp(connector: &mut HttpConnector) {
    connector.set_keepalive(Some(INTERVAL));
    connector.set_keepalive_interval(Some(PROBE_INTERVAL));
    connector.set_keepalive_retries(Some(PROBES));
    // While data is not acknowledged, it is sent again, and there are no probes.
    #[cfg(any(target_os = "android", target_os = "linux"))]
    connector.set_tcp_user_timeout(Some(INTERVAL + PROBE_INTERVAL * PROBES));
}

#[cfg(all(test, feature = "dial"))]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use bytes::Bytes;
    use http::Request;
    use hyper_util::client::legacy::Client;
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex, sink};
    use tokio::time::{sleep, timeout};
    use treenail_schema::internal::HttpClientLimits;

    use super::*;
    use crate::body::FullBody;
    use crate::dial::{Dial, DialFuture, Dialer};
    use crate::http2_frames::{accept, next_request, response};
    use crate::pool::client_builder;

    /// Servers that vanish after the first request of each connection.
    #[derive(Debug, Default)]
    struct Vanishing(AtomicU32);

    impl Dial for Vanishing {
        fn dial(&self) -> DialFuture {
            self.0.fetch_add(1, Ordering::Relaxed);
            let (ours, theirs) = duplex(1 << 16);
            tokio::spawn(answer_once(theirs));
            Box::pin(async { Ok(Box::new(ours) as _) })
        }
    }

    async fn answer_once(mut stream: DuplexStream) -> io::Result<u64> {
        accept(&mut stream).await?;
        let request = next_request(&mut stream).await?;
        stream.write_all(&response(request)).await?;
        tokio::io::copy(&mut stream, &mut sink()).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_dead_http2_connection_is_replaced() {
        let servers = Arc::<Vanishing>::default();
        let mut builder = client_builder(&HttpClientLimits::default());
        let dialer = Dialer(Arc::clone(&servers) as _);
        let client: Client<_, FullBody> = builder.http2_only(true).build(dialer);
        let send = || {
            let body = FullBody::new(Bytes::from_static(b"{}"));
            let request = Request::post("http://x.example/").body(body).unwrap();
            timeout(Duration::from_secs(60), client.request(request))
        };
        send().await.unwrap().unwrap();
        // While idle, and with requests in flight.
        sleep(INTERVAL + PING_TIMEOUT + Duration::from_secs(1)).await;
        send().await.unwrap().unwrap();
        send().await.unwrap().unwrap_err();
        send().await.unwrap().unwrap();
        assert_eq!(servers.0.load(Ordering::Relaxed), 3);
    }
}
