//! An endpoint that behaves as the real ones do: it answers as it was told to, request by request, and remembers what it was
//! asked. It is threads over sockets, so that each byte goes out when and as the script says.

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

/// How long something that has to happen is waited for.
const SOON: Duration = Duration::from_secs(30);

/// The endpoint, until the test ends.
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
    /// The first line, and the headers with their names in small letters.
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

/// What is answered to one request.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// The sizes of the pieces that a stream is sent in, again and again.
    pieces: Option<Vec<usize>>,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    /// The connection ends in the middle.
    InvalidResponse,
    /// Nothing more comes, until the client leaves.
    Held,
    /// Not even the head comes.
    Silent,
}

impl Reply {
    /// A stream of these chunks, and its end.
    pub(crate) fn stream(chunks: impl IntoIterator<Item = Value>) -> Self {
        let events = chunks.into_iter().map(|chunk| format!("data: {chunk}\n\n"));
        let events: String = events.collect();
        Self::events(&format!("{events}data: [DONE]\n\n"))
    }

    /// A stream of a text, word by word, as the answer.
    pub(crate) fn text(text: &str) -> Self {
        let words = text.split_inclusive(' ').map(content);
        let first = chunk(&json!({"role": "assistant", "content": ""}));
        Self::stream(
            std::iter::once(first)
                .chain(words)
                .chain([finish("stop"), usage(7, 3)]),
        )
    }

    /// A stream with calls of tools: id, name, arguments.
    pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Self {
        let mut chunks = vec![chunk(&json!({"role": "assistant", "content": null}))];
        for (index, (id, name, arguments)) in calls.iter().enumerate() {
            chunks.push(call(index, id, name));
            // Pieces of three characters, as tokens are.
            let characters: Vec<_> = arguments.chars().collect();
            let pieces = characters
                .chunks(3)
                .map(|piece| piece.iter().collect::<String>());
            chunks.extend(pieces.map(|piece| self::arguments(index, &piece)));
        }
        chunks.extend([finish("tool_calls"), usage(11, 5)]);
        Self::stream(chunks)
    }

    /// A stream, byte by byte as it is.
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

    /// A body of a type.
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

    /// An error as `OpenAI` tells it.
    pub(crate) fn error(status: u16, message: &str, code: &str) -> Self {
        let error =
            json!({"error": {"message": message, "type": code, "param": null, "code": code}});
        Self::json(status, &error)
    }

    /// Nothing at all, until the client leaves.
    pub(crate) fn silent() -> Self {
        Self::events("").ending(End::Silent)
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sent in pieces of these sizes, again and again.
    pub(crate) fn in_pieces(mut self, sizes: &[usize]) -> Self {
        self.pieces = Some(sizes.to_vec());
        self
    }

    /// Only the bytes before this text, and then the connection ends.
    pub(crate) fn broken_before(self, text: &str) -> Self {
        self.cut(text).ending(End::InvalidResponse)
    }

    /// Only the bytes before this text, and then nothing, until the client leaves.
    pub(crate) fn held_before(self, text: &str) -> Self {
        self.cut(text).ending(End::Held)
    }

    /// All of it, and then nothing, until the client leaves.
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
    /// One that answers with these, one after the other.
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
                // A connection ends with an error when the client leaves.
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

    /// Further replies.
    pub(crate) fn then(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().extend(replies);
    }

    /// The next request that it was asked.
    #[track_caller]
    pub(crate) fn asked(&self) -> Asked {
        self.requests.recv_timeout(SOON).expect("a request")
    }

    /// All requests that it was asked and nobody has looked at, after the last of them has been answered.
    pub(crate) fn all_asked(&self) -> Vec<Asked> {
        self.requests.try_iter().collect()
    }

    /// Returns true once for each reply that is held, after its last byte was sent.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent.try_recv().is_ok()
    }

    /// Whether a client has left a reply that is held, and nobody has asked that yet.
    pub(crate) fn was_left(&self) -> bool {
        self.left.try_recv().is_ok()
    }

    /// Waits until a client has left a reply that is held.
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
                    // It returns when the client closes its end.
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
