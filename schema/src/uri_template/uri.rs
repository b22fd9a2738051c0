//! Text of a URI, within a limit.

use std::fmt;

/// Maximum size of an expanded URI in bytes. A template of a peer can repeat a value as often as it likes.
pub(super) const MAX_URI_BYTES: usize = 1 << 20;

/// Text of a URI. Writing fails beyond [`MAX_URI_BYTES`].
#[derive(Default)]
pub(super) struct Uri(String);

impl Uri {
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

impl fmt::Write for Uri {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > MAX_URI_BYTES - self.0.len() {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}
