//! Listener for the redirect of a browser, on loopback addresses.
//!
//! Every page in the browser can send requests to it. So requests other than the redirect of the flow change nothing, and the
//! answers contain nothing of a request.

#[cfg(test)]
mod tests;

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
