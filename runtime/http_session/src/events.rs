//! Event stream of one response.

use bytes::{Buf, Bytes};
use tokio::task::yield_now;
use treenail_http_client::HttpClientBody;
use treenail_http_client::body;
use treenail_http_client::sse::{Event, Parser, Position};

/// Number of events and chunks that are read in one poll of a task.
const READS_PER_POLL: u32 = 64;

/// Event stream of one response. Dropping it closes the stream.
#[derive(Debug)]
pub(crate) struct Events {
    body: HttpClientBody,
    chunk: Bytes,
    parser: Parser,
    reads: u32,
}

impl Events {
    /// Reads `body`, which continues at `position`. An event has at most `max_bytes` bytes of data.
    pub(crate) fn new(body: HttpClientBody, max_bytes: usize, position: Position) -> Self {
        Self {
            body,
            chunk: Bytes::new(),
            parser: Parser::new(max_bytes, position),
            reads: 0,
        }
    }

    /// Returns the next event, or `None` when the stream has ended or broken off.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            // A server that sends faster than its stream is read must not keep the task busy: its timeouts would not expire. The
            // cooperative budget of the task would not do, because the futures beside the stream need it as well.
            self.reads = (self.reads + 1) % READS_PER_POLL;
            if self.reads == 0 {
                yield_now().await;
            }
            let mut rest = &self.chunk[..];
            let event = self.parser.next(&mut rest);
            let consumed = self.chunk.len() - rest.len();
            self.chunk.advance(consumed);
            if event.is_some() {
                return event;
            }
            match body::next_chunk(&mut self.body).await? {
                Ok(chunk) => self.chunk = chunk,
                Err(error) => {
                    tracing::debug!(%error, "a stream of the server broke off");
                    return None;
                }
            }
        }
    }

    /// Lets the server end the response after its answer, so that the connection can be reused.
    pub(crate) fn release(self) {
        body::release(self.body);
    }

    /// Returns the position from which the stream can be resumed.
    pub(crate) fn into_position(self) -> Position {
        self.parser.position
    }
}
