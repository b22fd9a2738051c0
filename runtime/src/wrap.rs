//! Wrapping of tools in their policy.

use std::time::Duration;

use treenail_schema::Tool;

use crate::definition::Registered;

/// Stack around each tool of a server: the timeout of tools without their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallStack {
    pub(crate) call_timeout: Option<Duration>,
}

impl CallStack {
    /// Wraps the function of a tool in its policy. A tool without one stays unchanged.
    pub(crate) fn wrap(&self, tool: Registered<Tool>) -> Registered<Tool> {
        let stack = self.clone();
        tool.wrap(move |descriptor, policy, handler| {
            let policy = policy.or_timeout(stack.call_timeout);
            policy.apply(&descriptor.name, handler)
        })
    }
}
