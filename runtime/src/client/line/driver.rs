//! The task that writes the lines of a session and reads those of the server.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use crate::client::line::Ending;
use crate::client::line::shared::{Closing, Shared};
use crate::client::{ClientError, IncomingRequest};
use crate::deadline;
use crate::wire::{Body, Frame, Invalid, LineBuffer, Message, RpcError, parse, parse_element};

pub(super) struct Driver<R, W> {
    shared: Arc<Shared>,
    reader: Pin<Box<R>>,
    /// Until all has been written and the session is to end.
    writer: Option<Pin<Box<W>>>,
    lines: LineBuffer,
    output: Vec<u8>,
    written: usize,
    flushed: bool,
    /// When a server that has been told to end, or has ended, is waited for no longer.
    deadline: Option<Pin<Box<Sleep>>>,
    phase: Phase,
    ending: Ending,
}

enum Phase {
    Running,
    /// The streams have ended; an error of theirs is kept.
    Ended(Option<io::Error>),
}

impl<R: AsyncRead, W: AsyncWrite> Driver<R, W> {
    pub(super) fn new(
        shared: Arc<Shared>,
        reader: Pin<Box<R>>,
        writer: Pin<Box<W>>,
        ending: Ending,
    ) -> Self {
        let lines = LineBuffer::new(shared.limits.message_bytes);
        Self {
            shared,
            reader,
            writer: Some(writer),
            lines,
            output: Vec::new(),
            written: 0,
            flushed: true,
            deadline: None,
            phase: Phase::Running,
            ending,
        }
    }

    /// Writes and reads until the streams end.
    fn run(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let is_closing = self.shared.register(context.waker()) == Closing(true);
        if self.deadline.is_none()
            && (is_closing || self.ending.exited.as_mut().poll(context).is_ready())
        {
            let within = self.shared.limits.shutdown_within;
            self.deadline = Some(Box::pin(sleep_until(deadline::after(within))));
        }
        loop {
            let mut progress = match self.write(context) {
                Ok(progress) => progress,
                // What the server has sent before it went away may be the answer that somebody waits for.
                Err(error) => {
                    while self.read(context).unwrap_or(Some(false)) == Some(true) {}
                    return Poll::Ready(Err(error));
                }
            };
            match self.read(context)? {
                Some(more) => progress |= more,
                None => return Poll::Ready(Ok(())),
            }
            if let Some(deadline) = &mut self.deadline {
                if deadline.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Ok(()));
                }
            }
            if !progress {
                return Poll::Pending;
            }
        }
    }

    /// Writes what can be written now; ends the input of the server if that was the last.
    fn write(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let mut progress = false;
        let Some(writer) = &mut self.writer else {
            return Ok(false);
        };
        let closing = loop {
            if self.written == self.output.len() {
                self.written = 0;
                let closing = self.shared.take_output(&mut self.output);
                if self.output.is_empty() {
                    break closing;
                }
            }
            match writer
                .as_mut()
                .poll_write(context, &self.output[self.written..])?
            {
                Poll::Ready(0) => return Err(ErrorKind::WriteZero.into()),
                Poll::Ready(count) => self.written += count,
                Poll::Pending => return Ok(progress),
            }
            (progress, self.flushed) = (true, false);
        };
        if !self.flushed {
            if writer.as_mut().poll_flush(context)?.is_pending() {
                return Ok(progress);
            }
            (progress, self.flushed) = (true, true);
        }
        if closing == Closing(true) && writer.as_mut().poll_shutdown(context)?.is_ready() {
            // A pipe is closed by dropping it.
            self.writer = None;
            progress = true;
        }
        Ok(progress)
    }

    /// Reads what is there: whether there was something, or `None` at the end.
    fn read(&mut self, context: &mut Context<'_>) -> io::Result<Option<bool>> {
        if self.shared.is_full() {
            return Ok(Some(false));
        }
        let mut buffer = ReadBuf::new(self.lines.room());
        match self.reader.as_mut().poll_read(context, &mut buffer)? {
            Poll::Pending => return Ok(Some(false)),
            Poll::Ready(()) => {}
        }
        let count = buffer.filled().len();
        self.lines.advance(count);
        if count == 0 {
            if let Some(frame) = self.lines.last() {
                receive(&self.shared, frame);
            }
            return Ok(None);
        }
        while let Some(frame) = self.lines.next() {
            receive(&self.shared, frame);
        }
        Ok(Some(true))
    }
}

impl<R: AsyncRead, W: AsyncWrite> Future for Driver<R, W> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if matches!(this.phase, Phase::Running) {
            let ended = ready!(this.run(context));
            this.writer = None;
            this.phase = Phase::Ended(ended.err());
        }
        let mut reason = ready!(this.ending.reason.as_mut().poll(context));
        if let Phase::Ended(Some(error)) = &this.phase {
            reason = format!("{reason} ({error})");
        }
        this.shared.end(&ClientError::closed(reason));
        Poll::Ready(())
    }
}

impl<R, W> Drop for Driver<R, W> {
    fn drop(&mut self) {
        let reason = "the runtime that drove it has stopped";
        self.shared.end(&ClientError::closed(reason));
    }
}

/// Takes one line of the server.
fn receive(shared: &Arc<Shared>, frame: Frame<'_>) {
    let limits = shared.limits.parsing();
    match frame {
        Frame::Line(line) => match parse(line, &limits) {
            Body::One(message) => receive_message(shared, message),
            // Only revision 2025-03-26 has batches; what their messages say is clear in all of them.
            Body::Batch(messages) => {
                for message in messages {
                    receive_message(shared, parse_element(message, &limits));
                }
            }
        },
        Frame::TooLong { head, tail } => {
            let limit = shared.limits.message_bytes;
            tracing::warn!(limit, "a message that is too long was dropped");
            if let Some(id) = id_at_ends(head, tail) {
                let reason = format!("its answer is longer than {limit} bytes");
                shared.answer(id, Err(ClientError::protocol(reason)));
            }
        }
    }
}

/// The id of an answer of which only the ends are known: it stands before or behind the result.
pub(crate) fn id_at_ends(head: &[u8], tail: &[u8]) -> Option<i64> {
    const KEY: &str = "\"id\":";

    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let envelope = ["\"result\"", "\"error\"", "\"method\"", "\"params\""]
        .iter()
        .filter_map(|member| head.find(member))
        .min();
    let envelope = &head[..envelope.unwrap_or(head.len())];
    let (id, behind) = match (envelope.find(KEY), tail.rfind(KEY)) {
        (Some(at), _) => split_number(&envelope[at + KEY.len()..]),
        (None, Some(at)) => split_number(&tail[at + KEY.len()..]),
        (None, None) => return None,
    };
    let ends = |rest: &str| {
        let rest = rest.trim_start_matches(",\"jsonrpc\":\"2.0\"");
        rest.trim() == "}"
    };
    let is_its_own = envelope.contains(KEY) || ends(behind);
    id.filter(|_| is_its_own)
}

/// The number that a text begins with, and what is behind it.
fn split_number(text: &str) -> (Option<i64>, &str) {
    let text = text.trim_start();
    let is_digit = |character: char| character == '-' || character.is_ascii_digit();
    let end = text.find(|character| !is_digit(character));
    let (number, behind) = text.split_at(end.unwrap_or(text.len()));
    (number.parse().ok(), behind)
}

fn receive_message(shared: &Arc<Shared>, message: Result<Message<'_>, Invalid<'_>>) {
    match message {
        Ok(Message::Response(id, answer)) => {
            if let Ok(id) = id.parse() {
                shared.answer(id, read_answer(answer));
            } else {
                tracing::debug!("an answer to no request was dropped");
            }
        }
        Ok(Message::Notification(envelope)) => {
            if let Some(incoming) = shared.incoming() {
                let params = envelope.params.text.unwrap_or("{}");
                incoming.notification(&envelope.method, params);
            }
        }
        Ok(Message::Request(id, envelope)) => {
            let responder = shared.responder(id);
            if let Some(incoming) = shared.incoming() {
                let params = envelope.params.text.unwrap_or("{}");
                incoming.request(IncomingRequest::new(
                    id,
                    &envelope.method,
                    params,
                    responder,
                ));
            }
        }
        Err(invalid) => refuse(shared, &invalid),
    }
}

/// A line that is no message. If it names a request, that one has been answered badly.
fn refuse(shared: &Shared, invalid: &Invalid<'_>) {
    let error = &invalid.error;
    tracing::warn!(%error, "a line of the server is no message");
    if let Some(Ok(id)) = invalid.id.map(str::parse) {
        let reason = format!("its answer is no message: {}", error.message);
        shared.answer(id, Err(ClientError::protocol(reason)));
    }
}

/// The text of a result, or the error that came in its place.
pub(in crate::client) fn read_answer(answer: Result<&str, &str>) -> Result<String, ClientError> {
    match answer {
        Ok(result) if result.starts_with('{') => Ok(result.to_owned()),
        Ok(_) => Err(ClientError::protocol("a result is not an object")),
        Err(error) => Err(match serde_json::from_str::<RpcError>(error) {
            Ok(error) => ClientError::Refused(error),
            Err(_) => ClientError::protocol("an error has no code or no message"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_long_answer_is_found_at_its_ends() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"a":"x"#,
                "xxx",
                Some(7),
            ),
            (r#"{"id": 7,"result":{"id":8"#, r#"xx","id":9}"#, Some(7)),
            (
                r#"{"result":{"id":8,"a":"x"#,
                r#"xx"},"jsonrpc":"2.0","id":9}"#,
                Some(9),
            ),
            (
                r#"{"result":{"a":"x"#,
                r#"xx"},"id":9,"jsonrpc":"2.0"}"#,
                Some(9),
            ),
            (r#"{"result":{"id":8,"a":"x"#, r#"xx","id":9}}"#, None),
            (r#"{"result":{"a":"x"#, "xxx", None),
            (r#"{"jsonrpc":"2.0","id":"s","result":{"a":"x"#, "xxx", None),
            ("no message", "at all", None),
        ];
        for (head, tail, id) in cases {
            assert_eq!(
                id_at_ends(head.as_bytes(), tail.as_bytes()),
                id,
                "{head} … {tail}"
            );
        }
    }
}
