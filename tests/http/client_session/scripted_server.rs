//! Server with scripted responses, byte by byte.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// HTTP request that the server has received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: HashMap<String, String>,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Method of the JSON-RPC message in the body.
    pub(crate) fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

/// Scripted response.
pub(crate) struct Response {
    bytes: Vec<u8>,
    rest: Rest,
}

enum Rest {
    /// Closes the connection.
    Close,
    /// Sends these bytes without end.
    Endless(Vec<u8>),
    /// Sends all texts of a channel, until that ends.
    Channel(UnboundedReceiver<String>),
    /// Sends these bytes when the channel ends.
    Held(Vec<u8>, UnboundedReceiver<()>),
}

impl Response {
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            rest: Rest::Close,
        }
    }

    /// A whole response, with one more header or none.
    pub(crate) fn complete(status: u16, header: &str, body: &str) -> Self {
        let length = body.len();
        let header = if header.is_empty() {
            String::new()
        } else {
            format!("{header}\r\n")
        };
        Self::raw(format!(
            "HTTP/1.1 {status} X\r\nconnection: close\r\n{header}content-length: {length}\r\n\r\n{body}"
        ))
    }

    pub(crate) fn json(body: &Value) -> Self {
        Self::complete(200, "content-type: application/json", &body.to_string())
    }

    /// Result of a request.
    pub(crate) fn result(received: &Received, result: &Value) -> Self {
        Self::json(
            &serde_json::json!({"jsonrpc": "2.0", "id": received.body["id"], "result": result}),
        )
    }

    pub(crate) fn accepted() -> Self {
        Self::complete(202, "", "")
    }

    /// Stream that ends after these events.
    pub(crate) fn stream(events: &str) -> Self {
        Self::raw(format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n{events}"
        ))
    }

    /// Stream that sends further events from a channel.
    pub(crate) fn open_stream(events: &str) -> (Self, UnboundedSender<String>) {
        let (sender, receiver) = unbounded_channel();
        let mut response = Self::stream(events);
        response.rest = Rest::Channel(receiver);
        (response, sender)
    }

    /// The same response, which is sent when the sender is dropped.
    pub(crate) fn held(mut self) -> (Self, UnboundedSender<()>) {
        let (sender, receiver) = unbounded_channel();
        let bytes = std::mem::take(&mut self.bytes);
        self.rest = Rest::Held(bytes, receiver);
        (self, sender)
    }

    /// Bytes that are repeated without end.
    pub(crate) fn repeated(bytes: &str) -> Self {
        let mut response = Self::raw("");
        response.rest = Rest::Endless(bytes.repeat(1_000).into());
        response
    }

    /// Stream that continues with `more` without end.
    pub(crate) fn endless(events: &str, more: impl Into<Vec<u8>>) -> Self {
        let mut response = Self::stream(events);
        response.rest = Rest::Endless(more.into());
        response
    }
}

/// Running scripted server.
pub(crate) struct ScriptedServer {
    pub(crate) url: String,
    requests: UnboundedReceiver<Received>,
    /// Notified when a client disconnects before the end of its response.
    pub(crate) disconnected: Arc<Notify>,
}

type Answer = Box<dyn FnMut(&Received) -> Response + Send>;

impl ScriptedServer {
    /// Starts a server that responds with `answer`.
    pub(crate) async fn new(answer: impl FnMut(&Received) -> Response + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (sender, requests) = unbounded_channel();
        let disconnected = Arc::<Notify>::default();
        let answer: Arc<Mutex<Answer>> = Arc::new(Mutex::new(Box::new(answer)));
        let notify = Arc::clone(&disconnected);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (answer, sender) = (Arc::clone(&answer), sender.clone());
                tokio::spawn(serve(socket, answer, sender, Arc::clone(&notify)));
            }
        });
        Self {
            url,
            requests,
            disconnected,
        }
    }

    /// Returns the next request.
    pub(crate) async fn next_request(&mut self) -> Received {
        self.requests.recv().await.unwrap()
    }

    /// Returns the next request, if one has arrived.
    pub(crate) fn try_next(&mut self) -> Option<Received> {
        self.requests.try_recv().ok()
    }

    /// Returns true if no other request has arrived.
    pub(crate) fn has_no_request(&mut self) -> bool {
        self.requests.try_recv().is_err()
    }

    /// Returns the next request with this HTTP or JSON-RPC method.
    pub(crate) async fn next_request_with(&mut self, method: &str) -> Received {
        loop {
            let received = self.next_request().await;
            if received.method == method || received.rpc() == method {
                return received;
            }
        }
    }
}

async fn serve(
    socket: TcpStream,
    answer: Arc<Mutex<Answer>>,
    sender: UnboundedSender<Received>,
    disconnected: Arc<Notify>,
) {
    if respond(socket, &answer, &sender).await.is_none() {
        disconnected.notify_one();
    }
}

/// Responds to one request; `None` if the client disconnects early.
async fn respond(
    mut socket: TcpStream,
    answer: &Mutex<Answer>,
    sender: &UnboundedSender<Received>,
) -> Option<()> {
    let received = read(&mut socket).await?;
    let response = answer.lock().unwrap()(&received);
    // The test may already be over.
    let _ = sender.send(received);
    socket.write_all(&response.bytes).await.ok()?;
    match response.rest {
        Rest::Close => {}
        Rest::Endless(bytes) => loop {
            socket.write_all(&bytes).await.ok()?;
        },
        Rest::Held(bytes, mut held) => {
            held.recv().await;
            socket.write_all(&bytes).await.ok()?;
        }
        Rest::Channel(mut chunks) => {
            let (mut reading, mut writing) = socket.split();
            let mut byte = [0];
            loop {
                tokio::select! {
                    more = chunks.recv() => match more {
                        Some(more) => writing.write_all(more.as_bytes()).await.ok()?,
                        None => break,
                    },
                    _ = reading.read(&mut byte) => return None,
                }
            }
        }
    }
    socket.shutdown().await.ok()
}

async fn read(socket: &mut TcpStream) -> Option<Received> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let mut start = lines.next()?.split(' ');
    let (method, path) = (start.next()?.to_owned(), start.next()?.to_owned());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers: HashMap<_, _> = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length");
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    socket.read_exact(&mut body).await.ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Received {
        method,
        path,
        headers,
        body,
    })
}
