//! What a server writes to standard error.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::wire::{Frame, LineBuffer};

/// Bytes of one line of standard error; a longer one is told to be too long.
const LONGEST: usize = 16 * 1024;

/// What becomes of what a server writes to standard error. It is for people, and not a sign of an error.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// It goes to standard error of this process.
    #[default]
    Inherit,
    /// Nobody sees it.
    Null,
    /// Each line, without its end, goes to a function, which must not wait. A line of more than 16 KiB is replaced by a
    /// note that says so. When [`close`](crate::client::McpClientSession::close) is ready, all lines have been passed.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
}

impl Stderr {
    /// Passes each line to a function, which must not wait.
    pub fn lines(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::Lines(Arc::new(take))
    }

    /// What the process gets as its standard error.
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

/// Passes the lines on until there are no more.
pub(super) async fn pass_lines(
    mut stderr: impl AsyncRead + Unpin,
    take: Arc<dyn Fn(&str) + Send + Sync>,
) {
    let mut lines = LineBuffer::new(LONGEST);
    loop {
        let count = stderr.read(lines.room()).await.unwrap_or(0);
        lines.advance(count);
        while let Some(frame) = lines.next_frame() {
            pass_line(&frame, &*take);
        }
        if count == 0 {
            break;
        }
    }
    if let Some(frame) = lines.last() {
        pass_line(&frame, &*take);
    }
}

fn pass_line(frame: &Frame<'_>, take: &dyn Fn(&str)) {
    let line = match frame {
        Frame::Line(line) => String::from_utf8_lossy(line),
        Frame::TooLong { .. } => "[a line that is too long]".into(),
    };
    // A panic must not keep the server from writing more.
    if catch_unwind(AssertUnwindSafe(|| take(line.trim_end()))).is_err() {
        tracing::error!("a function that takes standard error of a server has panicked");
    }
}
