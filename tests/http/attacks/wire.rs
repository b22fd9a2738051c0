//! Clients over sockets: attackers, who send bytes, and one who only wants to be served.

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

/// Longer than anything here takes, on a slow machine too.
const TOO_LONG: Duration = Duration::from_secs(60);

/// How often somebody asks who asks again and again: there are few processors.
const PACE: Duration = Duration::from_millis(5);

/// Sends something, and then reads all that comes until the server hangs up.
pub(crate) async fn exchange(address: SocketAddr, bytes: impl AsRef<[u8]>) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    // It may hang up before it has heard all.
    let _ = socket.write_all(bytes.as_ref()).await;
    rest(&mut socket).await
}

/// All that comes until the server hangs up.
pub(crate) async fn rest(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = timeout(TOO_LONG, socket.read_to_end(&mut answer));
    // What has come counts, also before a reset.
    let _ = read.await.expect("the server hangs up");
    String::from_utf8(answer).unwrap()
}

/// One request on a connection of its own.
pub(crate) async fn ask(address: SocketAddr, post: &Post) -> String {
    exchange(address, text(post, "/mcp")).await
}

/// The status of each response in an answer.
pub(crate) fn statuses(answer: &str) -> Vec<u16> {
    let heads = answer.split("HTTP/1.1 ").skip(1);
    heads.map(|head| head[..3].parse().unwrap()).collect()
}

/// The JSON that the only response in an answer has.
pub(crate) fn body(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

/// What a tool returns to a client that does nothing wrong.
pub(crate) async fn call(address: SocketAddr, tool: &str, arguments: Value) -> Value {
    let answer = ask(address, &Post::tool(tool, arguments)).await;
    assert_eq!(statuses(&answer), [200], "{answer:?}");
    body(&answer)["result"]["structuredContent"].clone()
}

/// Asks until a tool returns this.
pub(crate) async fn until(address: SocketAddr, tool: &str, expected: usize) {
    let mut pace = interval(PACE);
    let asked = async {
        while call(address, tool, json!({})).await != expected {
            pace.tick().await;
        }
    };
    timeout(TOO_LONG, asked).await.expect(tool);
}

/// A client that calls again and again, each time on a new connection, and is served each time.
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
                let mut pace = interval(PACE);
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

    /// Waits for a call that begins now; the attack goes on.
    pub(crate) async fn is_served(&self) {
        let mut served = self.served.clone();
        let enough = *served.borrow() + 2;
        let waiting = timeout(TOO_LONG, served.wait_for(|served| *served >= enough));
        let waited = waiting.await.expect("it is served in time");
        waited.expect("it is served as it should be");
    }

    /// Fails unless all calls went well.
    pub(crate) async fn finish(self) {
        self.is_served().await;
        self.enough.store(true, Ordering::Relaxed);
        self.task.await.unwrap();
    }
}
