//! The events of one response.

use bytes::{Buf, Bytes};
use hyper::body::Incoming;

use crate::client::fetch::body;
use crate::client::fetch::sse::{Event, Parser, Position};

/// A response that is a stream of events. Dropping it closes the stream.
#[derive(Debug)]
pub(super) struct Events {
    body: Incoming,
    piece: Bytes,
    parser: Parser,
}

impl Events {
    /// Reads `body`, which goes on from `position`; an event has at most `most` bytes of data.
    pub(super) fn new(body: Incoming, most: usize, position: Position) -> Self {
        Self {
            body,
            piece: Bytes::new(),
            parser: Parser::new(most, position),
        }
    }

    /// The next event; `None` when the stream has ended or broken off.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            let mut rest = &self.piece[..];
            let event = self.parser.next(&mut rest);
            let taken = self.piece.len() - rest.len();
            self.piece.advance(taken);
            if event.is_some() {
                return event;
            }
            match body::next(&mut self.body).await? {
                Ok(piece) => self.piece = piece,
                Err(error) => {
                    tracing::debug!(%error, "a stream of the server has broken off");
                    return None;
                }
            }
        }
    }

    /// Lets a response end by itself after its answer.
    pub(super) fn release(self) {
        body::release(self.body);
    }

    /// Where the stream is.
    pub(super) fn into_position(self) -> Position {
        self.parser.position
    }
}
