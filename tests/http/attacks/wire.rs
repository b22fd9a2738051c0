//! Clients over sockets: attackers that send bytes, and a regular client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};

use crate::client::Post;
use crate::sockets::text;

/// Longer than any step takes, even on a slow machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Interval of repeated requests.
const REQUEST_INTERVAL: Duration = Duration::from_millis(5);

/// Sends bytes, and then reads until the server closes the connection.
pub(crate) async fn exchange(address: SocketAddr, bytes: impl AsRef<[u8]>) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    // The server may close the connection before it has read all.
    let _ = socket.write_all(bytes.as_ref()).await;
    rest(&mut socket).await
}

/// Reads until the server closes the connection.
pub(crate) async fn rest(socket: &mut TcpStream) -> String {
    let mut response = Vec::new();
    let read = timeout(TEST_TIMEOUT, socket.read_to_end(&mut response));
    // Bytes received before a reset count too.
    let _ = read.await.expect("the server closes the connection");
    String::from_utf8(response).unwrap()
}

/// Sends one request on a new connection.
pub(crate) async fn ask(address: SocketAddr, post: &Post) -> String {
    exchange(address, text(post, "/mcp")).await
}

/// Returns the statuses of all responses in a text.
pub(crate) fn statuses(response: &str) -> Vec<u16> {
    let heads = response.split("HTTP/1.1 ").skip(1);
    heads.map(|head| head[..3].parse().unwrap()).collect()
}

/// Returns the JSON body of the only response in a text.
pub(crate) fn body(response: &str) -> Value {
    let (_, body) = response.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

/// Calls a tool with a valid request, and returns its result.
pub(crate) async fn call(address: SocketAddr, tool: &str, arguments: Value) -> Value {
    let response = ask(address, &Post::tool(tool, arguments)).await;
    assert_eq!(statuses(&response), [200], "{response:?}");
    body(&response)["result"]["structuredContent"].clone()
}

/// Repeats a call until the tool returns this value.
pub(crate) async fn until(address: SocketAddr, tool: &str, expected: usize) {
    let mut pace = interval(REQUEST_INTERVAL);
    let asked = async {
        while call(address, tool, json!({})).await != expected {
            pace.tick().await;
        }
    };
    timeout(TEST_TIMEOUT, asked).await.expect(tool);
}

/// Regular client that calls repeatedly, each time on a new connection, and must always be served.
pub(crate) struct Good {
    task: JoinHandle<()>,
    served: watch::Receiver<usize>,
    enough: Arc<AtomicBool>,
}

impl Good {
    pub(crate) fn start(address: SocketAddr) -> Self {
        let (served, enough) = (watch::Sender::new(0), Arc::<AtomicBool>::default());
        let counted = served.subscribe();
        let task = tokio::spawn({
            let enough = Arc::clone(&enough);
            async move {
                let mut pace = interval(REQUEST_INTERVAL);
                while !enough.load(Ordering::Relaxed) {
                    let sum = call(address, "add", json!({"a": 2, "b": 3})).await;
                    assert_eq!(sum, 5);
                    served.send_modify(|served| *served += 1);
                    pace.tick().await;
                }
            }
        });
        Self {
            task,
            served: counted,
            enough,
        }
    }

    /// Waits for a call that starts now, during the attack.
    pub(crate) async fn is_served(&self) {
        let mut served = self.served.clone();
        let enough = *served.borrow() + 2;
        let waiting = timeout(TEST_TIMEOUT, served.wait_for(|served| *served >= enough));
        let waited = waiting.await.expect("the call is served in time");
        waited.expect("the call is served correctly");
    }

    /// Fails unless all calls were successful.
    pub(crate) async fn finish(self) {
        self.is_served().await;
        self.enough.store(true, Ordering::Relaxed);
        self.task.await.unwrap();
    }
}
