//! Listener for the redirect of a browser, on loopback addresses.
//!
//! Every page in the browser can send requests to it. So requests other than the redirect of the flow change nothing, and the
//! answers contain nothing of a request.

use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::AuthorizationRequest;
use crate::client::race::{First, race};

/// Maximum size of the head of a request. A redirect contains a code and a state.
const MAX_HEAD: usize = 32 * 1024;
/// Maximum number of simultaneous connections.
const MAX_CONNECTIONS: usize = 32;
/// Time for one connection. Browsers open some without use.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

const ACCEPTED: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sign-in</title>\
    <p>The response was received. You can close this page and return to the program.</p></html>";
const NOT_FOUND: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not found</title>\
    <p>There is nothing here.</p></html>";

/// Listener of one flow. Dropping it closes its sockets.
pub(super) struct Listener {
    sockets: (TcpListener, Option<TcpListener>),
    place: Arc<Place>,
}

/// Address and path of the listener.
struct Place {
    port: u16,
    path: &'static str,
    redirect_uri: String,
}

impl Listener {
    /// Opens the listener at a port; 0 is a free one.
    pub(super) async fn bind(port: u16, path: &'static str) -> io::Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = socket.local_addr()?.port();
        // For browsers that resolve `localhost` to this address. It may not exist.
        let second = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await.ok();
        let redirect_uri = format!("http://127.0.0.1:{port}{path}");
        let place = Arc::new(Place {
            port,
            path,
            redirect_uri,
        });
        Ok(Self {
            sockets: (socket, second),
            place,
        })
    }

    pub(super) fn redirect_uri(&self) -> &str {
        &self.place.redirect_uri
    }

    /// Waits for the redirect of the flow, and returns its URL.
    pub(super) async fn receive(&mut self, request: &AuthorizationRequest) -> String {
        let mut connections = JoinSet::new();
        let is_done = Arc::new(AtomicBool::new(false));
        loop {
            let is_full = connections.len() >= MAX_CONNECTIONS;
            let stream = async {
                if is_full {
                    pending::<()>().await;
                }
                self.accept().await
            };
            let finished = async {
                match connections.join_next().await {
                    Some(finished) => finished.ok().flatten(),
                    None => pending().await,
                }
            };
            match race(finished, stream).await {
                First::Left(Some(redirect)) => return redirect,
                First::Left(None) => {}
                First::Right(stream) => {
                    let (place, request) = (Arc::clone(&self.place), request.clone());
                    let is_done = Arc::clone(&is_done);
                    connections.spawn(async move {
                        let served = serve(stream, &place, &request, &is_done);
                        timeout(CONNECTION_TIMEOUT, served).await.ok().flatten()
                    });
                }
            }
        }
    }

    async fn accept(&self) -> TcpStream {
        loop {
            let accepted = match &self.sockets {
                (first, None) => first.accept().await,
                (first, Some(second)) => match race(first.accept(), second.accept()).await {
                    First::Left(accepted) | First::Right(accepted) => accepted,
                },
            };
            match accepted {
                Ok((stream, _)) => return stream,
                // For example too many open files: others need time to close theirs.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

/// Serves one request. Returns the URL of the redirect if this is the one of the flow, and the first.
async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    place: &Place,
    request: &AuthorizationRequest,
    is_done: &AtomicBool,
) -> Option<String> {
    let head = read_head(&mut stream).await;
    let redirect = head.and_then(|head| place.redirect(&head));
    let redirect = redirect
        .filter(|redirect| request.accepts(redirect))
        .filter(|_| !is_done.swap(true, Ordering::AcqRel));
    let (status, page) = match redirect {
        Some(_) => ("200 OK", ACCEPTED),
        None => ("404 Not Found", NOT_FOUND),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\ncontent-security-policy: default-src 'none'\r\n\
         x-content-type-options: nosniff\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    // The page is a courtesy: the redirect counts without it.
    if stream.write_all(answer.as_bytes()).await.is_ok() {
        let _ = stream.shutdown().await;
    }
    redirect
}

/// Reads the head of a request; `None` if it is too long, or cut off.
async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream
            .read(&mut chunk)
            .await
            .ok()
            .filter(|read| *read > 0)?;
        head.extend_from_slice(&chunk[..read]);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    String::from_utf8(head).ok()
}

impl Place {
    /// Returns the URL of a request at this place.
    fn redirect(&self, head: &str) -> Option<String> {
        let mut lines = head.split("\r\n");
        let mut request = lines.next()?.split(' ');
        let (method, target, version) = (request.next()?, request.next()?, request.next()?);
        if method != "GET" || !version.starts_with("HTTP/1.") || request.next().is_some() {
            return None;
        }
        let mut hosts = lines
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_once(':'))
            .filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        let (_, host) = hosts.next()?;
        if hosts.next().is_some() || !self.is_own_host(host.trim()) {
            return None;
        }
        let (path, query) = target.split_once('?')?;
        (path == self.path).then(|| format!("{}?{query}", self.redirect_uri))
    }

    /// A page of another host whose name resolves to this computer must not reach the flow.
    fn is_own_host(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else {
            return false;
        };
        port == self.port.to_string() && matches!(name, "127.0.0.1" | "localhost" | "[::1]")
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream as Socket;

    use http::Uri;

    use super::super::super::code::tests::request_at;
    use super::*;

    /// Sends bytes and returns the answer.
    fn send(port: u16, bytes: &[u8]) -> String {
        let mut socket = Socket::connect(("127.0.0.1", port)).unwrap();
        // The listener may answer before it has read everything.
        let _ = socket.write_all(bytes);
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer);
        answer
    }

    fn get(port: u16, host: &str, target: &str) -> String {
        let head = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        send(port, head.as_bytes())
    }

    /// AUTH-X-09, AUTH-X-10, AUTH-C-83, AUTH-C-90, AUTH-C-91
    #[tokio::test]
    async fn only_the_redirect_of_the_flow_is_answered() {
        let mut listener = Listener::bind(0, "/callback").await.unwrap();
        let port = listener.place.port;
        let request = request_at(
            listener.redirect_uri(),
            &Uri::from_static("https://a.example"),
        );
        let state = "state-of-this-flow";
        let attacks = move || {
            let own = format!("127.0.0.1:{port}");
            let good = format!("/callback?code=c1&state={state}");
            // Connections without a request must not lock others out.
            let idle: Vec<_> = (0..8)
                .map(|_| Socket::connect(("127.0.0.1", port)).unwrap())
                .collect();
            for (host, target) in [
                (&*own, "/callback?code=evil&state=other"),
                (&*own, "/callback?code=evil"),
                (&*own, "/callback"),
                (&*own, "/?code=evil&state=state-of-this-flow"),
                (&*own, "/callback/?code=evil&state=state-of-this-flow"),
                ("evil.example", &*good),
                ("127.0.0.1", &*good),
                (
                    &*own,
                    "http://127.0.0.1/callback?code=evil&state=state-of-this-flow",
                ),
                (&*own, "/callback?code=%3Cscript%3E&state=<script>"),
            ] {
                let answer = get(port, host, target);
                assert!(
                    answer.starts_with("HTTP/1.1 404 "),
                    "{host} {target}: {answer}"
                );
                assert!(!answer.contains("script"), "{answer}");
            }
            for head in [
                format!("POST {good} HTTP/1.1\r\nhost: {own}\r\n\r\n"),
                format!("HEAD {good} HTTP/1.1\r\nhost: {own}\r\n\r\n"),
                format!("GET {good} HTTP/1.1\r\n\r\n"),
                format!("GET {good} HTTP/1.1\r\nhost: {own}\r\nhost: {own}\r\n\r\n"),
            ] {
                assert!(
                    send(port, head.as_bytes()).starts_with("HTTP/1.1 404 "),
                    "{head}"
                );
            }
            let huge = format!(
                "GET /callback HTTP/1.1\r\nx: {}\r\n\r\n",
                "x".repeat(1 << 20)
            );
            assert!(!send(port, huge.as_bytes()).contains("200 OK"));
            let answer = get(port, &own, &good);
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
            for header in [
                "cache-control: no-store",
                "referrer-policy: no-referrer",
                "default-src 'none'",
            ] {
                assert!(answer.contains(header), "{answer}");
            }
            assert!(!answer.contains("c1"), "{answer}");
            drop(idle);
        };
        let attacks = tokio::task::spawn_blocking(attacks);
        let redirect = listener.receive(&request).await;
        attacks.await.unwrap();
        assert_eq!(
            redirect,
            format!("http://127.0.0.1:{port}/callback?code=c1&state={state}")
        );
        drop(listener);
        assert!(Socket::connect(("127.0.0.1", port)).is_err());
    }
}
