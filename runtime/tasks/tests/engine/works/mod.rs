//! Server of the tests.

mod tools;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use treenail::prelude::*;
use treenail::tasks::{MemoryStore, ServerTasks, TaskLimits, TaskStore, Tasks};

/// Tools with task support, and a log of their work.
#[derive(Clone)]
pub(crate) struct Works {
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    /// Permits of work that waits for the test.
    pub(crate) gate: Arc<Semaphore>,
}

impl Default for Works {
    fn default() -> Self {
        Self {
            log: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
        }
    }
}

impl Works {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.log.lock().unwrap().push(text.into());
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    async fn pass(&self) {
        self.gate.acquire().await.unwrap().forget();
    }

    /// Builds a server with these tools.
    pub(crate) fn server(&self, store: impl TaskStore) -> Server {
        self.with(Tasks::new().store(store))
    }

    pub(crate) fn with(&self, tasks: Tasks) -> Server {
        let builder = Server::builder("works", "1.0.0").extension(tasks);
        builder.mount(self.clone()).build().unwrap()
    }
}

/// Limits with short leases.
pub(crate) fn limits() -> TaskLimits {
    let second = Duration::from_secs(1);
    TaskLimits::default()
        .lease(3 * second)
        .watch_interval(second)
        .sweep_interval(second)
}

/// Stops the tasks of a server as a crash does.
pub(crate) async fn crash(server: Server) {
    ServerTasks::of(&server).unwrap().crash().await;
}

/// Makes a store that several servers can share.
pub(crate) fn shared() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new())
}
