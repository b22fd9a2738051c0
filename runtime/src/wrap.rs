//! Wrapping of tools in their policy and their task support.

use std::sync::Arc;
use std::time::Duration;

use treenail_schema::Tool;

use crate::handler::Handler;
use crate::policy::Policy;
use crate::registered::Registered;
use crate::task::{TaskTool, ToolFacts};

/// Stack around each tool of a server: the timeout of tools without their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallStack {
    pub(crate) call_timeout: Option<Duration>,
}

impl CallStack {
    /// Wraps the function of a tool in its policy, and in its task support. A tool without both stays unchanged.
    pub(crate) fn wrap(&self, tool: Registered<Tool>) -> Registered<Tool> {
        let (stack, task) = (self.clone(), tool.task().cloned());
        tool.wrap(move |descriptor, policy, handler| match task {
            None => policy
                .or_timeout(stack.call_timeout)
                .apply(&descriptor.name, handler),
            Some(task) => stack.wrap_task(&*task, descriptor, policy, handler),
        })
    }

    /// Wraps the function of a tool that supports tasks. The default timeout applies to calls that do not become tasks. A call
    /// that is a task already passes the task support by.
    fn wrap_task(
        &self,
        task: &dyn TaskTool,
        descriptor: &Tool,
        policy: Policy,
        handler: Handler,
    ) -> Handler {
        let own: Arc<Handler> = Arc::new(policy.apply(&descriptor.name, handler));
        let inner = Arc::clone(&own);
        let inner: Handler = Box::new(move |call, result| inner(call, result));
        let outer = Policy {
            timeout: self.call_timeout.filter(|_| policy.timeout.is_none()),
            concurrency: None,
        };
        let wrapped = task.wrap(&ToolFacts::new(descriptor), inner);
        let wrapped = outer.apply(&descriptor.name, wrapped);
        Box::new(move |call, result| {
            if call.is_task() {
                own(call, result)
            } else {
                wrapped(call, result)
            }
        })
    }
}
