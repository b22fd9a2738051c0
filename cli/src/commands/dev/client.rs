//! Standard streams towards the client.
//!
//! Threads read and write, because such reads and writes cannot be cancelled. They end with the program.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use super::relay::Event;

/// Maximum length of a message of the client, in bytes.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Maximum size of messages that the client has not read yet, in bytes. With more, the client is taken for dead.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// Maximum number of lines that were read but not handled.
const MAX_UNHANDLED_LINES: usize = 256;

/// Reads lines of the client until the end of input.
pub(super) fn spawn_reader() -> mpsc::Receiver<Event> {
    let (sender, lines) = mpsc::channel(MAX_UNHANDLED_LINES);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        // An error has no other consequence than the end of input.
        while let Ok(Some(event)) = read_line(&mut input) {
            if sender.blocking_send(event).is_err() {
                return;
            }
        }
    });
    lines
}

/// Reads a line. Returns `None` at the end of input.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Event>> {
    let mut line = Vec::new();
    input
        .by_ref()
        .take(MAX_LINE_BYTES)
        .read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
        return Ok(Some(Event::LineTooLong));
    }
    Ok(Some(Event::Line(line)))
}

/// Writer of messages to the client. Clones share the stream.
#[derive(Clone, Debug)]
pub(super) struct ClientOutput {
    sender: mpsc::UnboundedSender<String>,
    unread: Arc<AtomicUsize>,
}

impl ClientOutput {
    /// Creates an output whose messages are written by the caller.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<String>) {
        let (sender, messages) = mpsc::unbounded_channel();
        let unread = Arc::default();
        (Self { sender, unread }, messages)
    }

    /// Starts the writer. The receiver is ready when everything has been written, or the client reads no more.
    pub(super) fn spawn() -> (Self, oneshot::Receiver<()>) {
        let (output, mut messages) = Self::new();
        let unread = Arc::clone(&output.unread);
        let (done, ended) = oneshot::channel();
        thread::spawn(move || {
            while let Some(message) = messages.blocking_recv() {
                let mut stdout = io::stdout().lock();
                let written = writeln!(stdout, "{message}").and_then(|()| stdout.flush());
                unread.fetch_sub(message.len(), Ordering::Relaxed);
                if written.is_err() {
                    break;
                }
            }
            // The receiver may be gone.
            let _ = done.send(());
        });
        (output, ended)
    }

    /// Queues a message. A message of several lines is written on one.
    pub(super) fn send(&self, message: &str) {
        let message = message.replace(['\n', '\r'], " ");
        self.unread.fetch_add(message.len(), Ordering::Relaxed);
        // The client has closed the stream.
        let _ = self.sender.send(message);
    }

    /// Returns whether the client has stopped reading.
    pub(super) fn is_stuck(&self) -> bool {
        self.unread.load(Ordering::Relaxed) > MAX_UNREAD_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_skipped() {
        let mut text = vec![b'x'; usize::try_from(MAX_LINE_BYTES).unwrap() + 1];
        text.extend_from_slice(b"\nnext");
        let mut input = &*text;
        let long = read_line(&mut input).unwrap();
        assert!(matches!(long, Some(Event::LineTooLong)), "{long:?}");
        let Some(Event::Line(line)) = read_line(&mut input).unwrap() else {
            panic!("the next line is read");
        };
        assert_eq!(line, b"next");
        assert!(read_line(&mut input).unwrap().is_none());
    }
}
