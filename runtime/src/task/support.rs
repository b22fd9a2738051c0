//! Task support of tools.

use std::fmt::Debug;
use std::sync::Arc;

use treenail_schema::{TaskSupport, Tool as Descriptor, ToolExecution};

use crate::extension::Extension;
use crate::handler::Handler;
use crate::tool::shape::Shape;

/// Task support of one tool.
pub trait TaskTool: Debug + Send + Sync + 'static {
    /// Returns the value of `execution.taskSupport` in lists of tools of revision 2025-11-25.
    fn support(&self) -> TaskSupport;

    /// Returns the extension that serves the tasks. The builder of a server adds it, unless it has one with the same identifier.
    fn extension(&self) -> Extension;

    /// Wraps the handler of the tool, outside of its policy. A call that [`resume`](crate::internal::task::resume) starts passes
    /// the wrapper by.
    fn wrap(&self, tool: &ToolFacts, handler: Handler) -> Handler;
}

impl TaskTool for Arc<dyn TaskTool> {
    fn support(&self) -> TaskSupport {
        (**self).support()
    }

    fn extension(&self) -> Extension {
        (**self).extension()
    }

    fn wrap(&self, tool: &ToolFacts, handler: Handler) -> Handler {
        (**self).wrap(tool, handler)
    }
}

/// Properties of a tool that its task support needs.
#[derive(Clone, Debug)]
pub struct ToolFacts {
    /// The name, as peers write it.
    pub name: Arc<str>,
    /// Set if the tool does not modify its environment.
    pub read_only: bool,
    /// Set if repeated calls with the same arguments have no additional effect.
    pub idempotent: bool,
    /// Shape of the output.
    pub(crate) shape: Shape,
}

impl ToolFacts {
    pub(crate) fn new(descriptor: &Descriptor) -> Self {
        let hints = descriptor.annotations.as_ref();
        let output = descriptor.output_schema.as_ref();
        Self {
            name: descriptor.name.as_str().into(),
            read_only: hints.and_then(|hints| hints.read_only_hint) == Some(true),
            idempotent: hints.and_then(|hints| hints.idempotent_hint) == Some(true),
            shape: output.map_or(Shape::Any, |schema| Shape::of_declared(schema)),
        }
    }
}

/// Declares the task support of a tool, in place of one in its descriptor, which may be that of another server. Only lists of revision
/// 2025-11-25 contain it.
pub(crate) fn declare_task(descriptor: &mut Descriptor, task: Option<&Arc<dyn TaskTool>>) {
    descriptor.execution = task.map(|task| ToolExecution::new().with_task_support(task.support()));
}
