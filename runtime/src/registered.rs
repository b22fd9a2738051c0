//! Tools, prompts and resources with their functions, before they are entries of a server.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
#[cfg(feature = "http-server")]
use std::sync::OnceLock;

use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::entry::{Descriptor, Entry};
use crate::handler::Handler;
use crate::panic::drop_values;
use crate::policy::Policy;
use crate::scope::RequiredScopes;
use crate::task::TaskTool;

/// A tool, a prompt or a resource that is complete except for its name, which the server may still change.
pub(crate) struct Registered<D> {
    pub(crate) descriptor: D,
    handler: Box<dyn FnOnce(&D) -> Handler + Send + Sync>,
    completers: Completers,
    policy: Policy,
    /// The task support of a tool.
    task: Option<Arc<dyn TaskTool>>,
    /// `None` for the default of the `impl` block.
    scopes: Option<RequiredScopes>,
}

/// Descriptor with a name, which the server may still change.
pub(crate) trait Named {
    fn name_mut(&mut self) -> &mut String;
}

macro_rules! named {
    ($($descriptor:ty),+) => {
        $(impl Named for $descriptor {
            fn name_mut(&mut self) -> &mut String {
                &mut self.name
            }
        })+
    };
}

named!(Tool, Prompt, Resource, ResourceTemplate);

/// Handlers of completion requests.
#[derive(Default)]
pub(crate) struct Completers {
    by_argument: Vec<(Cow<'static, str>, Handler)>,
    /// Handler for all other arguments, also those that the descriptor does not name.
    any: Option<Handler>,
}

impl Completers {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_argument.is_empty() && self.any.is_none()
    }

    /// Returns the handler for an argument.
    pub(crate) fn find(&self, argument: &str) -> Option<&Handler> {
        let mut found = self.by_argument.iter();
        let found = found.find(|(name, _)| name == argument);
        found.map(|(_, handler)| handler).or(self.any.as_ref())
    }

    /// Drops each handler separately, because a panic during another one would abort the process.
    pub(crate) fn drop_each(&mut self) {
        let named = self.by_argument.drain(..).map(|(_, handler)| handler);
        named.chain(self.any.take()).for_each(drop_values);
    }

    /// Sets the handler for all arguments without their own.
    #[cfg(feature = "dynamic")]
    pub(crate) fn set_any(&mut self, handler: Handler) {
        self.any = Some(handler);
    }
}

impl FromIterator<(Cow<'static, str>, Handler)> for Completers {
    fn from_iter<I: IntoIterator<Item = (Cow<'static, str>, Handler)>>(handlers: I) -> Self {
        Self {
            by_argument: handlers.into_iter().collect(),
            any: None,
        }
    }
}

impl<D> Registered<D> {
    /// Creates an entry without completers, policy and scopes. `handler` makes its handler, given the final descriptor.
    pub(crate) fn new(
        descriptor: D,
        handler: impl FnOnce(&D) -> Handler + Send + Sync + 'static,
    ) -> Self {
        Self {
            descriptor,
            handler: Box::new(handler),
            completers: Completers::default(),
            policy: Policy::default(),
            task: None,
            scopes: None,
        }
    }

    pub(crate) fn with_completers(mut self, completers: Completers) -> Self {
        self.completers = completers;
        self
    }

    /// Adds completers for the arguments that have none.
    pub(crate) fn with_default_completers(
        mut self,
        completers: impl IntoIterator<Item = (String, Handler)>,
    ) -> Self {
        for (argument, handler) in completers {
            if self.completers.find(&argument).is_none() {
                let completer = (argument.into(), handler);
                self.completers.by_argument.push(completer);
            }
        }
        self
    }

    pub(crate) fn with_scopes(mut self, scopes: Option<RequiredScopes>) -> Self {
        self.scopes = scopes;
        self
    }
}

impl<D: 'static> Registered<D> {
    pub(crate) fn with_task(mut self, task: Option<Arc<dyn TaskTool>>) -> Self {
        self.task = task;
        self
    }

    pub(crate) fn task(&self) -> Option<&Arc<dyn TaskTool>> {
        self.task.as_ref()
    }

    pub(crate) fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Adds a wrapper around the handler, applied once the descriptor is final.
    pub(crate) fn wrap(
        mut self,
        wrap: impl FnOnce(&D, Policy, Handler) -> Handler + Send + Sync + 'static,
    ) -> Self {
        let (handler, policy) = (self.handler, self.policy);
        self.handler = Box::new(move |descriptor| wrap(descriptor, policy, handler(descriptor)));
        self
    }
}

impl<D> Registered<D> {
    /// Completes the entry; the descriptor is final now. `name` is its name with dots. The entry has the scopes `default` if it
    /// declares none.
    pub(crate) fn finish(
        self,
        name: Arc<str>,
        default: &RequiredScopes,
        describe: impl FnOnce(D) -> Descriptor,
    ) -> Entry {
        Entry {
            name,
            handler: (self.handler)(&self.descriptor),
            descriptor: describe(self.descriptor),
            completers: self.completers,
            scopes: self.scopes.unwrap_or_else(|| default.clone()),
            #[cfg(feature = "http-server")]
            mirrors: OnceLock::new(),
        }
    }
}

impl<D: fmt::Debug> fmt::Debug for Registered<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Registered")
            .field("descriptor", &self.descriptor)
            .finish_non_exhaustive()
    }
}
