//! Writing into a buffer that must not grow beyond a bound.

use std::io::{self, Error, ErrorKind};

/// Takes bytes as long as there is room for them.
pub(super) struct Bounded<'a> {
    pub(super) out: &'a mut Vec<u8>,
    /// How many more bytes are taken; `None` once there were more.
    pub(super) room: Option<usize>,
}

impl io::Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.room = self.room.and_then(|room| room.checked_sub(bytes.len()));
        if self.room.is_none() {
            return Err(Error::from(ErrorKind::FileTooLarge));
        }
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
