//! Tasks of the framework Treenail: calls of tools that outlive their request.
//!
//! Use the crate `treenail`, which re-exports this one as `treenail::tasks`. The modules, from the bytes up: `store` (the places
//! where tasks are stored)
//! and `test_kit` (tests for stores).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod store;
#[cfg(feature = "test-kit")]
pub mod test_kit;

pub use self::store::{
    MemoryStore, ParseTaskIdError, StoreError, StoreFuture, StoredTask, TaskId, TaskStore, Usage,
};
#[cfg(feature = "sqlite")]
pub use self::store::{SqliteStore, SqliteStoreBuilder};
