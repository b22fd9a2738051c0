//! Messages that cannot be served.

use crate::wire::message::ParseLimits;
use crate::wire::{DEEPEST, IdAtEnds, RpcError, SyntaxError, id_at_ends};

/// A message that cannot be served, and the id to answer with, if it has one.
#[derive(Debug)]
pub struct Invalid<'a> {
    /// The text of the id, unless the message is a response, which is never answered.
    pub id: Option<&'a str>,
    /// The text of the id of our request, if the message is a malformed response to it.
    pub answered: Option<&'a str>,
    /// True if the text was not read to its end, so that it may be any message.
    pub is_unread: bool,
    /// True for a notification, which is never answered.
    pub is_notification: bool,
    /// The error to answer with. Boxed, because it is rare and large.
    pub error: Box<RpcError>,
}

impl<'a> Invalid<'a> {
    /// Describes a text that was read only up to this error.
    #[cold]
    pub(super) fn unread(error: SyntaxError, text: &'a str, limits: ParseLimits) -> Self {
        let (IdAtEnds { id, answered, .. }, error) = if error.is_too_deep() {
            // The rest may be valid JSON, with an id that a peer waits for.
            let ids = id_at_ends(text.as_bytes(), text.as_bytes());
            let depth = limits.depth.min(DEEPEST);
            let message = format!("the message is nested deeper than {depth} levels");
            (ids, RpcError::invalid_request(message))
        } else {
            (IdAtEnds::default(), RpcError::parse(error))
        };
        let is_short = |id: &&str| id.len() <= limits.id_bytes;
        Self {
            id: id.filter(is_short),
            answered: answered.filter(is_short),
            is_unread: true,
            is_notification: false,
            error: Box::new(error),
        }
    }
}
