//! A fake endpoint that behaves like real ones: it sends scripted replies, request by request, and records the requests. It
//! uses threads over sockets, so that the script controls the timing of each byte.

#![allow(
    dead_code,
    reason = "the tests that share it use different parts of it"
)]

mod connection;
mod endpoint;

use serde_json::{Value, json};

pub(crate) use self::connection::Asked;
pub(crate) use self::endpoint::Endpoint;

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
    /// Comments, one after the other, until the client disconnects.
    KeptAlive,
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
        self.cut_before(text).ending(End::InvalidResponse)
    }

    /// Sends only the bytes before this text, then nothing until the client disconnects.
    pub(crate) fn held_before(self, text: &str) -> Self {
        self.cut_before(text).ending(End::Held)
    }

    /// Sends everything, then nothing until the client disconnects.
    pub(crate) fn held(self) -> Self {
        self.ending(End::Held)
    }

    /// Sends everything, then comments until the client disconnects.
    pub(crate) fn kept_alive(self) -> Self {
        self.ending(End::KeptAlive)
    }

    /// Removes this text and all that follows it.
    pub(crate) fn cut_before(mut self, text: &str) -> Self {
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
