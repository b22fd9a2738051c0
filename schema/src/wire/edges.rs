//! First and last bytes of a message that is too long to be retained.

/// Number of bytes that are retained at each end.
const EDGE_BYTES: usize = 256;

/// First and last bytes of a message that is too long to be retained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Edges {
    /// Adds the next part of the message.
    pub fn push(&mut self, part: &[u8]) {
        let missing = EDGE_BYTES - self.head.len();
        self.head
            .extend_from_slice(&part[..part.len().min(missing)]);
        self.tail
            .extend_from_slice(&part[part.len().saturating_sub(EDGE_BYTES)..]);
        let surplus = self.tail.len().saturating_sub(EDGE_BYTES);
        self.tail.drain(..surplus);
    }

    /// Returns the first bytes, at most 256.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the last bytes, at most 256.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }
}
