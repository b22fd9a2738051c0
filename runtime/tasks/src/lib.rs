//! Tasks of the framework Treenail: calls of tools that outlive their request.
//!
//! Use the crate `treenail`, which re-exports this one as `treenail::tasks`.

// The modules, from the bytes up: `store` (the places where tasks are stored), `record` (the body of a stored task), `engine`
// (shared state), `run` (a task that runs in this process), `start` (calls that become tasks), `sweep` (interrupted and expired
// tasks), `again` (what a function sees of them), `suspension` (a computer that sleeps), `push` (notifications), `methods` (requests of clients), `external` (tokens),
// `test_kit` (tests for stores), and `client` (tasks of other servers).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod again;
#[cfg(feature = "client")]
mod client;
mod clock;
mod engine;
mod external;
mod limits;
mod methods;
mod options;
#[doc(hidden)]
pub mod private;
mod push;
mod record;
mod run;
mod start;
mod store;
mod suspension;
mod sweep;
mod tasks;
#[cfg(feature = "test-tasks")]
pub mod test_kit;

pub use self::again::runs_again;
#[cfg(feature = "client")]
pub use self::client::{
    StartTask, TaskBuilderExt, TaskCallExt, TaskClientExt, TaskHandle, TaskTicket, TaskUpdate,
    TaskUpdates,
};
pub use self::external::{ExternalTasks, TaskToken, task_token};
pub use self::limits::TaskLimits;
pub use self::options::ToolTask;
#[cfg(feature = "redis")]
pub use self::store::RedisStore;
pub use self::store::{
    MemoryStore, ParseTaskIdError, StoreError, StoreFuture, StoreUsage, StoredTask, TaskId,
    TaskStore,
};
#[cfg(feature = "postgres")]
pub use self::store::{PostgresStore, PostgresStoreBuilder};
#[cfg(feature = "durable-tasks")]
pub use self::store::{SqliteStore, SqliteStoreBuilder};
pub use self::tasks::{ServerTasks, Tasks};
