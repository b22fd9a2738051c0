//! Tests of guarded requests, over loopback sockets.

mod bounds;
mod own_client;
mod policy;
mod redirects;
mod resolution;
mod tls;

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, Uri};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use treenail_http_client::ResolveFuture;

use super::network::{Network, Resolver};
use super::{Budget, FetchPolicy, FetchResponse, Fetcher};
use crate::AuthError;

/// HTTP server that answers with scripted bytes, and records the requests.
struct Site {
    address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
}

impl Site {
    async fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<Mutex<Vec<String>>>::default();
        let (log, answer) = (Arc::clone(&received), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(serve(socket, log, answer));
            }
        });
        Self { address, received }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

async fn serve(
    mut socket: TcpStream,
    log: Arc<Mutex<Vec<String>>>,
    answer: Arc<impl Fn(&str) -> Vec<u8>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = socket.read_u8().await else {
            return;
        };
        head.push(byte);
        // The site has no TLS: it answers a handshake at once.
        if head == [0x16] {
            break;
        }
    }
    let head = String::from_utf8(head).unwrap();
    let bytes = answer(&head);
    log.lock().unwrap().push(head);
    // The client may have left.
    let _ = socket.write_all(&bytes).await;
    if bytes.is_empty() {
        std::future::pending::<()>().await;
    }
}

fn response(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    text.into()
}

fn json(body: &str) -> Vec<u8> {
    response(200, "content-type: application/json\r\n", body)
}

/// Policy for an MCP server at this URL.
fn policy(server: &'static str) -> FetchPolicy {
    FetchPolicy::default().for_server(&Uri::from_static(server), None)
}

/// Fetcher for an MCP server on this computer.
fn local() -> Fetcher {
    Fetcher::new(policy("http://127.0.0.1/mcp"))
}

async fn get(fetcher: &Fetcher, url: &str) -> Result<FetchResponse, AuthError> {
    let budget = Budget::discovery();
    fetcher.get(url, &HeaderMap::new(), &budget).await
}

/// Resolver with scripted answers, one for each look-up of a name.
#[derive(Debug, Default)]
struct Names(Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>);

impl Names {
    fn with(self, host: &str, answers: &[&[&str]]) -> Self {
        let answers = answers.iter().map(|addresses| {
            let addresses = addresses.iter().map(|address| address.parse().unwrap());
            addresses.collect()
        });
        let answers = answers.collect();
        self.0.lock().unwrap().insert(host.to_owned(), answers);
        self
    }

    fn fetcher(self, policy: FetchPolicy) -> Fetcher {
        let network = Network::with_resolver(policy.clone(), Arc::new(self));
        Fetcher::with_transport(policy, Arc::new(network))
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        let mut names = self.0.lock().unwrap();
        let answer = names.get_mut(host).and_then(VecDeque::pop_front);
        Box::pin(async move { Ok(answer.unwrap_or_default()) })
    }
}
