//! Tasks of a server: the extension of the protocol, and the control over running tasks.

use std::sync::Arc;

use serde_json::json;
use treenail_runtime::Extension;
use treenail_runtime::internal::extension::state;
use treenail_runtime::{RequestStateKey, Server};
use treenail_schema::Revision;

use crate::engine::Engine;
use crate::external::ExternalTasks;
use crate::limits::TaskLimits;
use crate::methods;
use crate::push;
use crate::run::Stop;
use crate::store::{MemoryStore, TaskStore};

/// Identifier of the extension.
pub(crate) const ID: &str = "io.modelcontextprotocol/tasks";

/// Tasks of a server: calls of tools that outlive their request (extension `io.modelcontextprotocol/tasks`, and the tasks of
/// revision 2025-11-25).
///
/// A server with a tool that has the attribute `task` has them with the default settings, with a store in memory. Other settings are
/// added to the builder. A server that has such tools only later, through `Server::edit` or a source of features, needs them in its
/// builder too; otherwise the change is refused.
///
/// ```
/// use treenail::Server;
/// use treenail::tasks::{MemoryStore, TaskLimits, Tasks};
///
/// let tasks = Tasks::new().store(MemoryStore::new()).limits(TaskLimits::default().running(64));
/// let server = Server::builder("demo", "1.0.0").extension(tasks).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// Build the server within a tokio runtime: interrupted tasks in the store then continue at once. Otherwise, they continue with the
/// first request for a tool with tasks.
#[derive(Debug)]
#[must_use = "tasks are an extension of a server"]
pub struct Tasks {
    store: Arc<dyn TaskStore>,
    limits: TaskLimits,
    key: Option<RequestStateKey>,
    list: bool,
}

impl Default for Tasks {
    fn default() -> Self {
        Self::new()
    }
}

impl Tasks {
    /// Creates the default settings: a store in memory, which does not survive the process.
    pub fn new() -> Self {
        Self {
            store: Arc::new(MemoryStore::new()),
            limits: TaskLimits::default(),
            key: None,
            list: false,
        }
    }

    /// Sets the store. Replicas of a server share one: each serves the tasks of all, and takes over those of a replica that has
    /// crashed.
    pub fn store(mut self, store: impl TaskStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: TaskLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the key that seals the tokens of tools with `task(external)`. Processes that complete such tasks need the same key,
    /// see [`ExternalTasks`]. Without a key, there are no tokens.
    pub fn token_key(mut self, key: RequestStateKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Offers `tasks/list` to clients of revision 2025-11-25. Callers without a principal see the tasks of all such callers, so
    /// this is for servers that authenticate their callers or have one user. Default: not offered.
    pub fn enable_list(mut self) -> Self {
        self.list = true;
        self
    }
}

impl From<Tasks> for Extension {
    fn from(tasks: Tasks) -> Self {
        let mut capability = json!({"cancel": {}, "requests": {"tools": {"call": {}}}});
        if tasks.list {
            capability["list"] = json!({});
        }
        let engine = Arc::new(Engine::new(tasks.store, tasks.limits, tasks.key));
        let accepting = Arc::clone(&engine);
        let started = Arc::clone(&engine);
        let extension = Self::new(ID)
            .core_capability(Revision::V2025_11_25, "tasks", capability)
            .listen_member(push::MEMBER, move |context, ids| {
                push::accept(Arc::clone(&accepting), context, ids)
            })
            .on_build(move |server| {
                started.start(server);
                Ok(())
            })
            .state(Arc::clone(&engine));
        methods::add(extension, &engine, tasks.list)
    }
}

/// Control over the tasks of a running server.
///
/// ```
/// use treenail::tasks::ServerTasks;
///
/// # async fn example(server: treenail::Server) {
/// // Before the process ends, for a restart without a wait for leases:
/// if let Some(tasks) = ServerTasks::of(&server) {
///     tasks.release().await;
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ServerTasks {
    engine: Arc<Engine>,
}

impl ServerTasks {
    /// Returns the tasks of a server, if it has the extension.
    pub fn of(server: &Server) -> Option<Self> {
        let engine = state::<Arc<Engine>>(server)?;
        Some(Self {
            engine: Arc::clone(engine),
        })
    }

    /// Returns the number of tasks that run in this process.
    pub fn running(&self) -> usize {
        self.engine.all_local().len()
    }

    /// Returns the interface to complete external tasks, if there is a [`Tasks::token_key`].
    pub fn external(&self) -> Option<ExternalTasks> {
        let key = self.engine.key.clone()?;
        Some(ExternalTasks::of(&self.engine, key))
    }

    /// Stops all tasks of this process, and leaves them to other processes with the same store. They run again there if they may;
    /// others fail as interrupted. Returns when all have been left.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped, the tasks are stopped all the same.
    pub async fn release(&self) {
        self.stop_all(Stop::Released).await;
    }

    /// Stops all tasks of this process and stores nothing, as a crash does.
    #[cfg(feature = "test-tasks")]
    #[cfg_attr(docsrs, doc(cfg(feature = "test-tasks")))]
    pub async fn crash(&self) {
        self.stop_all(Stop::Lost).await;
    }

    async fn stop_all(&self, reason: Stop) {
        self.engine.halt();
        let runs = self.engine.all_local();
        for run in &runs {
            run.stop(reason);
        }
        for run in runs {
            run.dismissed().await;
        }
    }
}
