//! Origins of messages.

/// Origin of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// The response to the modern request with this id.
    Modern(i64),
    /// The response to the legacy request with this id. It may also contain requests and answers to other requests.
    Legacy { id: i64, handshake: u64 },
    /// A legacy stream that belongs to no request.
    SessionStream { handshake: u64 },
}

impl Source {
    /// Returns the id of the request to which the message belongs.
    pub(crate) fn request_id(self) -> Option<i64> {
        match self {
            Self::Modern(id) | Self::Legacy { id, .. } => Some(id),
            Self::SessionStream { .. } => None,
        }
    }

    /// Returns the handshake of the session to which a legacy stream belongs.
    pub(crate) fn handshake(self) -> Option<u64> {
        match self {
            Self::Modern(_) => None,
            Self::Legacy { handshake, .. } | Self::SessionStream { handshake } => Some(handshake),
        }
    }

    pub(crate) fn is_legacy(self) -> bool {
        self.handshake().is_some()
    }
}
