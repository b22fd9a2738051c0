//! Writer with a size limit.

use std::io::{self, Error, ErrorKind};

/// Writer that fails once the size limit is exceeded.
pub(super) struct LimitedWriter<'a> {
    pub(super) out: &'a mut Vec<u8>,
    /// Remaining capacity in bytes; `None` once it is exceeded.
    pub(super) remaining: Option<usize>,
}

impl io::Write for LimitedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.remaining = self
            .remaining
            .and_then(|remaining| remaining.checked_sub(bytes.len()));
        if self.remaining.is_none() {
            return Err(Error::from(ErrorKind::FileTooLarge));
        }
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
