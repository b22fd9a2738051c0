//! A fake endpoint that behaves like real ones: it sends scripted replies, request by request, and records the requests. It
//! uses threads over sockets, so that the script controls the timing of each byte.

#![allow(
    dead_code,
    reason = "the tests that share it use different parts of it"
)]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Timeout for expected events.
const SOON: Duration = Duration::from_secs(30);

/// The endpoint, which runs until the end of the test.
pub(crate) struct Endpoint {
    /// The base URL.
    pub(crate) url: String,
    requests: Receiver<Asked>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    silent: Receiver<()>,
    left: Receiver<()>,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The request line, and the headers with lower-case names.
    pub(crate) head: Vec<String>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.iter();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Reply to one request.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Chunk sizes of a stream, used cyclically.
    pieces: Option<Vec<usize>>,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    /// The connection closes in the middle.
    InvalidResponse,
    /// No more data until the client disconnects.
    Held,
    /// Not even the response head is sent.
    Silent,
}

impl Reply {
    /// A stream of these chunks with its end marker.
    pub(crate) fn stream(chunks: impl IntoIterator<Item = Value>) -> Self {
        let events = chunks.into_iter().map(|chunk| format!("data: {chunk}\n\n"));
        let events: String = events.collect();
        Self::events(&format!("{events}data: [DONE]\n\n"))
    }

    /// A streamed text message, word by word.
    pub(crate) fn text(text: &str) -> Self {
        let words = text.split_inclusive(' ').map(content);
        let first = chunk(&json!({"role": "assistant", "content": ""}));
        Self::stream(
            std::iter::once(first)
                .chain(words)
                .chain([finish("stop"), usage(7, 3)]),
        )
    }

    /// A stream with tool calls: id, name, arguments.
    pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Self {
        let mut chunks = vec![chunk(&json!({"role": "assistant", "content": null}))];
        for (index, (id, name, arguments)) in calls.iter().enumerate() {
            chunks.push(call(index, id, name));
            // Chunks of three characters, like tokens.
            let characters: Vec<_> = arguments.chars().collect();
            let pieces = characters
                .chunks(3)
                .map(|piece| piece.iter().collect::<String>());
            chunks.extend(pieces.map(|piece| self::arguments(index, &piece)));
        }
        chunks.extend([finish("tool_calls"), usage(11, 5)]);
        Self::stream(chunks)
    }

    /// A raw stream.
    pub(crate) fn events(text: &str) -> Self {
        Self {
            status: 200,
            headers: vec![(
                "content-type",
                "text/event-stream; charset=utf-8".to_owned(),
            )],
            body: text.into(),
            pieces: Some(vec![usize::MAX]),
            end: End::Whole,
        }
    }

    /// A body with its content type.
    pub(crate) fn of(status: u16, media_type: &str, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type", media_type.to_owned())],
            body: body.into(),
            pieces: None,
            end: End::Whole,
        }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::of(status, "application/json", &body.to_string())
    }

    /// An error in the format of `OpenAI`.
    pub(crate) fn error(status: u16, message: &str, code: &str) -> Self {
        let error =
            json!({"error": {"message": message, "type": code, "param": null, "code": code}});
        Self::json(status, &error)
    }

    /// No response until the client disconnects.
    pub(crate) fn silent() -> Self {
        Self::events("").ending(End::Silent)
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sends chunks of these sizes, cyclically.
    pub(crate) fn in_pieces(mut self, sizes: &[usize]) -> Self {
        self.pieces = Some(sizes.to_vec());
        self
    }

    /// Sends only the bytes before this text, then closes the connection.
    pub(crate) fn broken_before(self, text: &str) -> Self {
        self.cut(text).ending(End::InvalidResponse)
    }

    /// Sends only the bytes before this text, then nothing until the client disconnects.
    pub(crate) fn held_before(self, text: &str) -> Self {
        self.cut(text).ending(End::Held)
    }

    /// Sends everything, then nothing until the client disconnects.
    pub(crate) fn held(self) -> Self {
        self.ending(End::Held)
    }

    fn cut(mut self, text: &str) -> Self {
        let whole = String::from_utf8(self.body).unwrap();
        let end = whole.find(text).expect("the text is in the reply");
        self.body = whole[..end].into();
        self
    }

    fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// A chunk of a stream with a delta.
pub(crate) fn chunk(delta: &Value) -> Value {
    choice(&json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}))
}

fn choice(choice: &Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake-1-2026",
        "service_tier": "default", "choices": [choice], "usage": null})
}

pub(crate) fn content(text: &str) -> Value {
    chunk(&json!({"content": text}))
}

pub(crate) fn call(index: usize, id: &str, name: &str) -> Value {
    let function = json!({"name": name, "arguments": ""});
    let call = json!({"index": index, "id": id, "type": "function", "function": function});
    chunk(&json!({"tool_calls": [call]}))
}

pub(crate) fn arguments(index: usize, text: &str) -> Value {
    let call = json!({"index": index, "function": {"arguments": text}});
    chunk(&json!({"tool_calls": [call]}))
}

pub(crate) fn finish(reason: &str) -> Value {
    choice(&json!({"index": 0, "delta": {}, "logprobs": null, "finish_reason": reason}))
}

pub(crate) fn usage(prompt: u64, completion: u64) -> Value {
    let usage = json!({"prompt_tokens": prompt, "completion_tokens": completion,
        "total_tokens": prompt + completion});
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "fake-1-2026", "choices": [],
        "usage": usage})
}

impl Endpoint {
    /// Starts an endpoint with these replies, in order.
    pub(crate) fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let replies = Arc::new(Mutex::new(replies.into_iter().collect()));
        let (asked, requests) = channel();
        let (silence, silent) = channel();
        let (leaving, left) = channel();
        let script = Arc::clone(&replies);
        thread::spawn(move || {
            for stream in listener.incoming().map(Result::unwrap) {
                let mut serving = Serving {
                    asked: asked.clone(),
                    silence: silence.clone(),
                    leaving: leaving.clone(),
                    replies: Arc::clone(&script),
                };
                // A connection ends with an error when the client disconnects.
                thread::spawn(move || drop(serving.serve(&stream)));
            }
        });
        Self {
            url,
            requests,
            replies,
            silent,
            left,
        }
    }

    /// Adds replies.
    pub(crate) fn then(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().extend(replies);
    }

    /// Returns the next recorded request.
    #[track_caller]
    pub(crate) fn asked(&self) -> Asked {
        self.requests.recv_timeout(SOON).expect("a request")
    }

    /// Returns all recorded requests that were not taken yet, after the last one got its reply.
    pub(crate) fn all_asked(&self) -> Vec<Asked> {
        self.requests.try_iter().collect()
    }

    /// Returns true once for each held reply, after its last byte was sent.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent.try_recv().is_ok()
    }

    /// Returns true once for each held reply whose client has disconnected.
    pub(crate) fn was_left(&self) -> bool {
        self.left.try_recv().is_ok()
    }

    /// Waits until the client of a held reply disconnects.
    #[track_caller]
    pub(crate) fn is_left(&self) {
        self.left.recv_timeout(SOON).expect("the client leaves");
    }
}

/// One connection.
struct Serving {
    asked: Sender<Asked>,
    silence: Sender<()>,
    leaving: Sender<()>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
}

impl Serving {
    fn serve(&mut self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(asked) = read(&mut reader)? {
            let reply = self.replies.lock().unwrap().pop_front();
            let reply = reply.unwrap_or_else(|| Reply::error(400, "nothing is scripted", "script"));
            // The test has ended.
            if self.asked.send(asked).is_err() {
                return Ok(());
            }
            if reply.end != End::Silent {
                write(stream, &reply)?;
            }
            match reply.end {
                End::Whole => {}
                End::InvalidResponse => return Ok(()),
                End::Held | End::Silent => {
                    let _ = self.silence.send(());
                    // Returns when the client closes its end.
                    let _ = reader.read(&mut [0]);
                    let _ = self.leaving.send(());
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> std::io::Result<Option<Asked>> {
    let mut head: Vec<String> = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        head.push(match line.split_once(": ") {
            Some((name, value)) => format!("{}: {value}", name.to_lowercase()),
            None => line.to_owned(),
        });
    }
    let mut asked = Asked {
        head,
        body: String::new(),
    };
    let length = asked
        .header("content-length")
        .map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    asked.body = String::from_utf8(body).unwrap();
    Ok(Some(asked))
}

fn write(mut stream: &TcpStream, reply: &Reply) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.extend([name, ": ", value.as_str(), "\r\n"]);
    }
    let Some(sizes) = &reply.pieces else {
        let length = reply.body.len();
        write!(stream, "{head}content-length: {length}\r\n\r\n")?;
        return stream.write_all(&reply.body);
    };
    write!(stream, "{head}transfer-encoding: chunked\r\n\r\n")?;
    let (mut rest, mut sizes) = (&*reply.body, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = sizes
            .next()
            .map_or(rest.len(), |size| (*size).min(rest.len()));
        let (piece, others) = rest.split_at(size);
        rest = others;
        write!(stream, "{size:x}\r\n")?;
        stream.write_all(piece)?;
        stream.write_all(b"\r\n")?;
    }
    if reply.end == End::Whole {
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}
