//! Standard error of a server.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::wire::{Frame, LineBuffer};

/// Maximum length of a line of standard error, in bytes. A longer one is replaced by a note.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// Destination of standard error of a server. Servers write logs there, so output does not indicate a failure.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// Standard error of this process.
    #[default]
    Inherit,
    /// Discarded.
    Null,
    /// A function that receives each line without its line end, and must not block. A line of more than 16 KiB is replaced
    /// by a note. [`close`](crate::client::McpClientSession::close) returns after all lines have been passed.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
}

impl Stderr {
    /// Passes each line to a function, which must not block.
    pub fn lines(on_line: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::Lines(Arc::new(on_line))
    }

    /// Returns the handle for the process.
    pub(super) fn stdio(&self) -> Stdio {
        match self {
            Self::Inherit => Stdio::inherit(),
            Self::Null => Stdio::null(),
            Self::Lines(_) => Stdio::piped(),
        }
    }
}

impl fmt::Debug for Stderr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Inherit => "Inherit",
            Self::Null => "Null",
            Self::Lines(_) => "Lines",
        })
    }
}

/// Passes all lines to the function.
pub(super) async fn pass_lines(
    mut stderr: impl AsyncRead + Unpin,
    on_line: Arc<dyn Fn(&str) + Send + Sync>,
) {
    let mut lines = LineBuffer::new(MAX_LINE_BYTES);
    loop {
        let count = stderr.read(lines.room()).await.unwrap_or(0);
        lines.advance(count);
        while let Some(frame) = lines.next_frame() {
            pass_line(&frame, &*on_line);
        }
        if count == 0 {
            break;
        }
    }
    if let Some(frame) = lines.last() {
        pass_line(&frame, &*on_line);
    }
}

fn pass_line(frame: &Frame<'_>, on_line: &dyn Fn(&str)) {
    let line = match frame {
        Frame::Line(line) => String::from_utf8_lossy(line),
        Frame::TooLong { .. } => "[a line that is too long]".into(),
    };
    // After a panic, the pipe must still be read, or the server would block.
    if catch_unwind(AssertUnwindSafe(|| on_line(line.trim_end()))).is_err() {
        tracing::error!("a function for standard error of a server panicked");
    }
}
