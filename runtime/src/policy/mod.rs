//! Bounds on the calls of one tool: their time, and the number of concurrent ones.
//!
//! The handler of a tool is wrapped when the server is built. A tool without a policy is not wrapped.

mod limited_call;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::handler::Handler;
use crate::policy::limited_call::LimitedCall;

/// Bounds that the author of a tool has set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Policy {
    pub(crate) timeout: Option<Duration>,
    pub(crate) concurrency: Option<usize>,
}

impl Policy {
    /// Rejects bounds that no call can meet.
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

    /// Returns the policy with `timeout` if it has none of its own.
    pub(crate) fn or_timeout(self, timeout: Option<Duration>) -> Self {
        Self {
            timeout: self.timeout.or(timeout),
            ..self
        }
    }

    /// Wraps the handler of the tool `name`, unless the policy is empty.
    pub(crate) fn apply(self, name: &str, handler: Handler) -> Handler {
        if self.timeout.is_none() && self.concurrency.is_none() {
            return handler;
        }
        let permits = self.concurrency.map(|calls| {
            let calls = calls.min(Semaphore::MAX_PERMITS);
            (calls, Arc::new(Semaphore::new(calls)))
        });
        let tool = Arc::new(LimitedTool {
            name: name.into(),
            timeout: self.timeout,
            permits,
            handler,
        });
        Box::new(move |call, result| LimitedCall::start(&tool, call, result))
    }
}

/// Tool with a policy.
struct LimitedTool {
    name: Box<str>,
    timeout: Option<Duration>,
    /// The number of concurrent calls, and their permits.
    permits: Option<(usize, Arc<Semaphore>)>,
    handler: Handler,
}
