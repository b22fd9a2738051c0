//! What is asked for the calls of one tool: how long they may take, and how many run at once.
//!
//! It is put around the tool's handler when the server is built; a tool without a policy has nothing around it.

mod guarded;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::policy::guarded::Guarded;
use crate::respond::Handler;

/// What the author of a tool has asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Policy {
    pub(crate) timeout: Option<Duration>,
    pub(crate) concurrency: Option<usize>,
}

impl Policy {
    /// Refuses what no call could ever meet.
    pub(crate) fn check(self, name: &str) -> Result<Self, String> {
        if self.timeout == Some(Duration::ZERO) {
            return Err(format!("tool `{name}`: its `timeout` is zero"));
        }
        if self.concurrency == Some(0) {
            return Err(format!(
                "tool `{name}`: its `max_concurrency` is 0, so it could never run"
            ));
        }
        Ok(self)
    }

    /// The same, with the server's timeout if the tool has none of its own.
    pub(crate) fn or_timeout(self, timeout: Option<Duration>) -> Self {
        Self {
            timeout: self.timeout.or(timeout),
            ..self
        }
    }

    /// Puts itself around what answers the calls of the tool `name`, if it asks for anything.
    pub(crate) fn apply(self, name: &str, handler: Handler) -> Handler {
        if self.timeout.is_none() && self.concurrency.is_none() {
            return handler;
        }
        let turns = self.concurrency.map(|calls| {
            let calls = calls.min(Semaphore::MAX_PERMITS);
            (calls, Arc::new(Semaphore::new(calls)))
        });
        let tool = Arc::new(Limited {
            name: name.into(),
            timeout: self.timeout,
            turns,
            handler,
        });
        Box::new(move |call, result| Guarded::start(&tool, call, result))
    }
}

/// A tool with a policy.
struct Limited {
    name: Box<str>,
    timeout: Option<Duration>,
    /// How many calls run at once, and the turns of those that may.
    turns: Option<(usize, Arc<Semaphore>)>,
    handler: Handler,
}
