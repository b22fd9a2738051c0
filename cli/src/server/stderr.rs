//! What a server writes to standard error: shown with `-v`, and otherwise kept for the case that it explains a failure.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use std::convert::Infallible;
use std::time::Duration;

use console::Style;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::show::clean_line;

/// Lines that are kept.
const KEPT: usize = 10;

/// Characters of a line that are shown.
const SHOWN: usize = 200;

/// How long the last lines of a server that has ended are waited for. Processes of its own may keep the stream open.
const SETTLES_WITHIN: Duration = Duration::from_millis(500);

/// The last lines.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    screen: Screen,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    /// A line of standard output that is no message has been shown.
    has_strayed: bool,
    /// Ready when nobody reads standard error any more.
    ended: Option<oneshot::Receiver<Infallible>>,
}

impl Tail {
    pub(super) fn new(screen: &Screen) -> Self {
        Self {
            screen: screen.clone(),
            state: Arc::default(),
        }
    }

    /// Takes the lines.
    pub(super) fn listen(&self) -> impl Fn(&str) + Send + Sync + use<> {
        let (reading, ended) = oneshot::channel();
        self.state().ended = Some(ended);
        let tail = self.clone();
        move |line| {
            let _reading = &reading;
            tail.line(line);
        }
    }

    /// Takes lines of standard output that are no messages: the first one is shown at once, all of them with `-v`.
    pub(super) fn listen_for_stray_lines(&self) -> impl Fn(&str) + Send + Sync + use<> {
        let tail = self.clone();
        move |line| {
            let is_first = !std::mem::replace(&mut tail.state().has_strayed, true);
            if is_first || tail.screen.verbose() > 0 {
                let line: String = clean_line(line).chars().take(SHOWN).collect();
                let note = format!("the server wrote a line that is no message: `{line}`");
                tail.screen.note(&note);
            }
        }
    }

    /// Waits for the last lines of a server that has ended.
    pub(super) async fn settle(&self) {
        let ended = self.state().ended.take();
        if let Some(ended) = ended {
            // Either way there is nothing more to wait for.
            let _ = timeout(SETTLES_WITHIN, ended).await;
        }
    }

    fn line(&self, line: &str) {
        if self.screen.verbose() > 0 {
            self.screen.say_under("server:", &Style::new().dim(), line);
            return;
        }
        let lines = &mut self.state().lines;
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
    pub(super) async fn explain(&self, failure: Failure) -> Failure {
        if failure.exit() != Exit::Connection {
            return failure;
        }
        self.settle().await;
        let lines = &self.state().lines;
        lines.iter().fold(failure, |failure, line| {
            failure.note(format!("server: {line}"))
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
