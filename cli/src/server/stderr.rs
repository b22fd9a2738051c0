//! What a server writes to standard error: shown with `-v`, and otherwise kept for the case that it explains a failure.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use console::Style;

use crate::exit::{Exit, Failure};
use crate::screen::Screen;

/// Lines that are kept.
const KEPT: usize = 10;

/// The last lines.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    screen: Screen,
    lines: Arc<Mutex<VecDeque<String>>>,
}

impl Tail {
    pub(super) fn new(screen: &Screen) -> Self {
        Self {
            screen: screen.clone(),
            lines: Arc::default(),
        }
    }

    pub(super) fn line(&self, line: &str) {
        if self.screen.verbose() > 0 {
            self.screen.say_under("server:", &Style::new().dim(), line);
            return;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // A server that ended when it was probed is started once more, and says the same again.
        if lines.iter().any(|kept| kept == line) {
            return;
        }
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// Adds what the server wrote to a failure that it may explain.
    pub(super) fn explain(&self, failure: Failure) -> Failure {
        if failure.exit() != Exit::Connection {
            return failure;
        }
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().fold(failure, |failure, line| {
            failure.note(format!("server: {line}"))
        })
    }
}
