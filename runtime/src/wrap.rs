//! Wrapping of tools in their policy and in the layers of the server.

use std::time::Duration;

use treenail_schema::Tool;

use crate::definition::Registered;
#[cfg(feature = "tower")]
use crate::layer::Layers;

/// Stack around each tool of a server: the layers, and the timeout of tools without their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallStack {
    pub(crate) call_timeout: Option<Duration>,
    #[cfg(feature = "tower")]
    pub(crate) layers: Layers,
}

impl CallStack {
    /// Wraps the function of a tool in its policy, and both in the layers. A tool with neither stays unchanged.
    pub(crate) fn wrap(&self, tool: Registered<Tool>) -> Registered<Tool> {
        let stack = self.clone();
        tool.wrap(move |descriptor, policy, handler| {
            let policy = policy.or_timeout(stack.call_timeout);
            let handler = policy.apply(&descriptor.name, handler);
            #[cfg(feature = "tower")]
            let handler = stack.layers.apply(descriptor, handler);
            handler
        })
    }
}
