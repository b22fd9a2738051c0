//! The id of a request: one copy of its text for all that belongs to its call.

use std::fmt;
use std::sync::{Arc, OnceLock};

use treenail_schema::RequestId;

/// The id of a request that is being answered: it is copied when something has to keep it, and only then.
#[derive(Debug)]
pub(crate) struct ReceivedId<'a> {
    text: &'a str,
    shared: OnceLock<Arc<str>>,
}

impl<'a> ReceivedId<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let shared = OnceLock::new();
        Self { text, shared }
    }
}

/// The id of a call, as text or with the copy that others share.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallId<'a> {
    Received(&'a ReceivedId<'a>),
    Shared(&'a Arc<str>),
}

impl<'a> CallId<'a> {
    /// The id as its peer wrote it.
    pub(crate) fn text(self) -> &'a str {
        match self {
            Self::Received(id) => id.text,
            Self::Shared(id) => id,
        }
    }

    /// The copy that is shared.
    pub(crate) fn shared(self) -> Arc<str> {
        Arc::clone(match self {
            Self::Received(id) => id.shared.get_or_init(|| id.text.into()),
            Self::Shared(id) => id,
        })
    }
}

/// An id that is read when it is asked for.
#[derive(Debug)]
pub(crate) enum LazyId {
    /// Read at once, because nothing is allocated.
    Number(RequestId),
    Text {
        text: Arc<str>,
        read: OnceLock<RequestId>,
    },
}

impl LazyId {
    pub(crate) fn new(id: CallId<'_>) -> Self {
        match number(id.text()) {
            Some(number) => Self::Number(RequestId::Number(number)),
            None => Self::Text {
                text: id.shared(),
                read: OnceLock::new(),
            },
        }
    }

    /// The id. Its text has been checked to be a string or an integer; an integer beyond 64 bits is given as its digits.
    pub(crate) fn get(&self) -> &RequestId {
        match self {
            Self::Number(id) => id,
            Self::Text { text, read } => read.get_or_init(|| {
                serde_json::from_str(text).unwrap_or_else(|_| RequestId::String((**text).into()))
            }),
        }
    }
}

/// Parses a number. Most ids are a few digits, which need no checks.
#[inline]
fn number(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > 18 {
        return text.parse().ok();
    }
    let mut number = 0;
    for byte in text.bytes() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return text.parse().ok();
        }
        number = number * 10 + i64::from(digit);
    }
    Some(number)
}

/// An id to find a call by: the same for all ways to write it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdKey(Arc<str>);

impl IdKey {
    /// That of an id as its peer wrote it; the same copy, unless characters are escaped, or an integer is written as `1.0`.
    pub fn of(text: &Arc<str>) -> Self {
        let mark = if text.starts_with('"') { '\\' } else { '.' };
        let read = text.contains(mark).then(|| read_id(text)).flatten();
        match read {
            Some(id) => Self::from(&id),
            None => Self(Arc::clone(text)),
        }
    }

    /// The id as JSON.
    #[cfg(feature = "http-server")]
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

/// Reads an id that may be written in another way, too.
#[cold]
fn read_id(text: &str) -> Option<RequestId> {
    serde_json::from_str(text).ok()
}

impl From<&RequestId> for IdKey {
    fn from(id: &RequestId) -> Self {
        // A string or a number can always be written.
        Self(serde_json::to_string(id).unwrap_or_default().into())
    }
}

impl fmt::Debug for IdKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_who_keep_an_id_share_one_copy() {
        let text = format!("\"{}\"", "x".repeat(4_000));
        let received = ReceivedId::new(&text);
        let id = CallId::Received(&received);
        assert!(received.shared.get().is_none(), "nothing is copied yet");
        let shared = id.shared();
        let lazy = LazyId::new(id);
        let again = CallId::Shared(&shared);
        let keys = [IdKey::of(&shared), IdKey::of(&again.shared())];
        assert!(keys.iter().all(|key| Arc::ptr_eq(&key.0, &shared)));
        // That of the request, this one, that of the call, and the two keys.
        assert_eq!(Arc::strong_count(&shared), 5);
        assert_eq!(*lazy.get(), RequestId::from("x".repeat(4_000)));
    }

    #[test]
    fn a_number_is_not_copied() {
        let received = ReceivedId::new("-7");
        let lazy = LazyId::new(CallId::Received(&received));
        assert_eq!(*lazy.get(), RequestId::Number(-7));
        assert!(received.shared.get().is_none());
        let digits = "123456789012345678901234567890";
        let received = ReceivedId::new(digits);
        let lazy = LazyId::new(CallId::Received(&received));
        assert_eq!(*lazy.get(), RequestId::from(digits));
    }

    #[test]
    fn a_key_is_the_same_for_all_ways_to_write_an_id() {
        let key = |text: &str| IdKey::of(&text.into());
        let known = IdKey::from(&RequestId::from("é\"\n"));
        assert_eq!(key(r#""é\"\n""#), known);
        assert_eq!(key(r#""\u00e9\u0022\u000A""#), known);
        assert_eq!(key("7"), IdKey::from(&RequestId::Number(7)));
        assert_eq!(key("7.0"), IdKey::from(&RequestId::Number(7)));
        assert_ne!(key("7"), key("\"7\""));
        assert_ne!(key("\"7.0\""), key("7"));
        assert_eq!(key("\"a\""), IdKey::from(&RequestId::from("a")));
    }
}
