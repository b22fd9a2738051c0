//! What a server puts around each of its tools, those included that come later.

use std::time::Duration;

use treenail_schema::Tool;

use crate::definition::Registered;
#[cfg(feature = "tower")]
use crate::layer::Layers;

/// The timeout of tools that have none of their own, and the layers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    pub(crate) call_timeout: Option<Duration>,
    #[cfg(feature = "tower")]
    pub(crate) layers: Layers,
}

impl Around {
    /// Puts the policy of a tool around its function, and the layers around both. A tool that has neither stays as it is.
    pub(crate) fn wrap(&self, tool: Registered<Tool>) -> Registered<Tool> {
        let around = self.clone();
        tool.wrap(move |descriptor, policy, handler| {
            let policy = policy.or_timeout(around.call_timeout);
            let handler = policy.apply(&descriptor.name, handler);
            #[cfg(feature = "tower")]
            let handler = around.layers.apply(descriptor, handler);
            handler
        })
    }
}
