//! Tasks of the framework Treenail: calls of tools that outlive their request.
//!
//! Use the crate `treenail`, which re-exports this one as `treenail::tasks`. The modules, from the bytes up: `store` (the places
//! where tasks are stored), `client` (tasks of other servers).

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
mod client;
mod store;

#[cfg(feature = "client")]
pub use self::client::{
    StartTask, TaskBuilderExt, TaskCallExt, TaskClientExt, TaskHandle, TaskTicket, TaskUpdate,
    TaskUpdates,
};
pub use self::store::{
    MemoryStore, ParseTaskIdError, StoreError, StoreFuture, StoredTask, TaskId, TaskStore, Usage,
};
