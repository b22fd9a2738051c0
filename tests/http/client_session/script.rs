//! A server that says what it is told to say, byte by byte.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A request that has come.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: HashMap<String, String>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The method of the message in it.
    pub(crate) fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

/// What is said to a request.
pub(crate) struct Told {
    bytes: Vec<u8>,
    more: More,
}

enum More {
    /// The connection is closed.
    End,
    /// This is said again and again.
    Endless(Vec<u8>),
    /// What comes from here is said, until that ends.
    Channel(UnboundedReceiver<String>),
}

impl Told {
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            more: More::End,
        }
    }

    /// A whole response, with one more header or none.
    pub(crate) fn response(status: u16, header: &str, body: &str) -> Self {
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
        Self::response(200, "content-type: application/json", &body.to_string())
    }

    /// The result of a request.
    pub(crate) fn result(asked: &Asked, result: &Value) -> Self {
        Self::json(&serde_json::json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result}))
    }

    pub(crate) fn accepted() -> Self {
        Self::response(202, "", "")
    }

    /// A stream that ends after these events.
    pub(crate) fn stream(events: &str) -> Self {
        Self::raw(format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n{events}"
        ))
    }

    /// A stream that goes on.
    pub(crate) fn open_stream(events: &str) -> (Self, UnboundedSender<String>) {
        let (sender, receiver) = unbounded_channel();
        let mut told = Self::stream(events);
        told.more = More::Channel(receiver);
        (told, sender)
    }

    /// These bytes, again and again.
    pub(crate) fn forever(bytes: &str) -> Self {
        let mut told = Self::raw("");
        told.more = More::Endless(bytes.repeat(1_000).into());
        told
    }

    /// A stream that never ends.
    pub(crate) fn endless(events: &str, more: impl Into<Vec<u8>>) -> Self {
        let mut told = Self::stream(events);
        told.more = More::Endless(more.into());
        told
    }
}

/// A running server.
pub(crate) struct Script {
    pub(crate) url: String,
    asked: UnboundedReceiver<Asked>,
    /// A client has closed a connection on which there was still something to say.
    pub(crate) left: Arc<Notify>,
}

type Answer = Box<dyn FnMut(&Asked) -> Told + Send>;

impl Script {
    /// Begins a server that answers so.
    pub(crate) async fn new(answer: impl FnMut(&Asked) -> Told + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (sender, asked) = unbounded_channel();
        let left = Arc::<Notify>::default();
        let answer: Arc<Mutex<Answer>> = Arc::new(Mutex::new(Box::new(answer)));
        let gone = Arc::clone(&left);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (answer, sender) = (Arc::clone(&answer), sender.clone());
                tokio::spawn(serve(socket, answer, sender, Arc::clone(&gone)));
            }
        });
        Self { url, asked, left }
    }

    /// The next request that has come.
    pub(crate) async fn asked(&mut self) -> Asked {
        self.asked.recv().await.unwrap()
    }

    /// Whether no other request has come.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.asked.try_recv().is_err()
    }

    /// The next request that has come, but of those that hold this method of HTTP or of the protocol.
    pub(crate) async fn asked_to(&mut self, method: &str) -> Asked {
        loop {
            let asked = self.asked().await;
            if asked.method == method || asked.rpc() == method {
                return asked;
            }
        }
    }
}

async fn serve(
    socket: TcpStream,
    answer: Arc<Mutex<Answer>>,
    sender: UnboundedSender<Asked>,
    gone: Arc<Notify>,
) {
    if converse(socket, &answer, &sender).await.is_none() {
        gone.notify_one();
    }
}

/// Answers one request; `None` if the client has left before the end.
async fn converse(
    mut socket: TcpStream,
    answer: &Mutex<Answer>,
    sender: &UnboundedSender<Asked>,
) -> Option<()> {
    let asked = read(&mut socket).await?;
    let told = answer.lock().unwrap()(&asked);
    // A test that is over does not look any more.
    let _ = sender.send(asked);
    socket.write_all(&told.bytes).await.ok()?;
    match told.more {
        More::End => {}
        More::Endless(bytes) => loop {
            socket.write_all(&bytes).await.ok()?;
        },
        More::Channel(mut receiver) => {
            let (mut reading, mut writing) = socket.split();
            let mut byte = [0];
            loop {
                tokio::select! {
                    more = receiver.recv() => match more {
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

async fn read(socket: &mut TcpStream) -> Option<Asked> {
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
    Some(Asked {
        method,
        path,
        headers,
        body,
    })
}
