//! Identity of a task.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use treenail_runtime::Error;
use treenail_runtime::internal::fill_random;

/// Random bytes of an id.
const BYTES: usize = 16;
/// Characters of an id.
const CHARACTERS: usize = 22;

/// Identity of a task: 128 random bits as 22 characters of base64url.
///
/// A [random](Self::random) id does not start with `-`, so that programs do not mistake it for an option.
/// Without authorization, a client that knows the id of a task has access to it. `Debug` therefore shows the start only.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(Arc<str>);

impl TaskId {
    /// Creates a random id.
    ///
    /// # Errors
    ///
    /// An error if the operating system has no random bytes.
    pub fn random() -> io::Result<Self> {
        loop {
            let mut bytes = [0; BYTES];
            fill_random(&mut bytes).map_err(|_| {
                io::Error::other("could not obtain random bytes from the operating system")
            })?;
            let text = URL_SAFE_NO_PAD.encode(bytes);
            if !text.starts_with('-') {
                return Ok(Self(text.into()));
            }
        }
    }

    /// Returns the text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TaskId {
    type Err = ParseTaskIdError;

    /// Parses the text of an id, as [`as_str`](Self::as_str) returns it.
    fn from_str(text: &str) -> Result<Self, ParseTaskIdError> {
        let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        // No two texts have the same bytes: the last character has two bits of them, and no others.
        match text.as_bytes() {
            [digits @ .., b'A' | b'Q' | b'g' | b'w']
                if digits.len() == CHARACTERS - 1 && digits.iter().all(is_digit) =>
            {
                Ok(Self(text.into()))
            }
            _ => Err(ParseTaskIdError(())),
        }
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.0.get(..6).unwrap_or_default();
        write!(formatter, "TaskId({start}…)")
    }
}

/// Error of a text that is not the id of a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the text is not the id of a task: expected 22 characters of base64url")]
pub struct ParseTaskIdError(());

impl From<ParseTaskIdError> for Error {
    fn from(error: ParseTaskIdError) -> Self {
        Self::Other(error.into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_random_id_is_parsed_from_its_text() {
        let id = TaskId::random().unwrap();
        assert_eq!(id.as_str().len(), 22);
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        assert_ne!(id, TaskId::random().unwrap());
    }

    #[test]
    fn each_bit_of_an_id_is_random() {
        let ids = (0..64).map(|_| {
            let (id, mut bytes) = (TaskId::random().unwrap(), [0; BYTES]);
            URL_SAFE_NO_PAD
                .decode_slice(id.as_str(), &mut bytes)
                .unwrap();
            u128::from_be_bytes(bytes)
        });
        let ids: Vec<_> = ids.collect();
        let set = ids.iter().fold(0, |bits, id| bits | id);
        let always_set = ids.iter().fold(u128::MAX, |bits, id| bits & id);
        assert_eq!((set, always_set), (u128::MAX, 0), "a bit is constant");
        let starts: HashSet<_> = ids.iter().map(|id| id >> 64).collect();
        assert_eq!(starts.len(), ids.len(), "ids share their first half");
    }

    #[test]
    fn a_random_id_is_not_an_option_of_a_program() {
        for _ in 0..2_000 {
            let id = TaskId::random().unwrap();
            assert!(!id.as_str().starts_with('-'), "{}", id.as_str());
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let id = TaskId::random().unwrap();
        for text in [
            "",
            "a",
            &id.as_str()[1..],
            &format!("{}=", id.as_str()),
            &"/".repeat(22),
            // Bits after the last byte are set.
            "AAAAAAAAAAAAAAAAAAAAAB",
            &"é".repeat(11),
        ] {
            assert!(text.parse::<TaskId>().is_err(), "{text}");
        }
    }

    #[test]
    fn debug_shows_the_start_only() {
        let id = TaskId::random().unwrap();
        assert_eq!(format!("{id:?}"), format!("TaskId({}…)", &id.as_str()[..6]));
    }
}
