//! Record of a task in a store.

use std::fmt;

use super::TaskId;

/// Record of a task in a [`TaskStore`](super::TaskStore).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredTask {
    /// Identity of the task.
    pub id: TaskId,
    /// Principal that created the task, or the empty text. Any text without a limit on its characters.
    pub owner: String,
    /// Time of creation in milliseconds since 1970, at most 2⁵³ - 1.
    pub created_ms: u64,
    /// Version of the record. Each replacement increments it by one. At most 2⁵³ - 1.
    pub version: u64,
    /// State for polling clients, see [`TaskStore::state`](super::TaskStore::state): JSON, which a store does not read.
    pub state: Vec<u8>,
    /// The rest: JSON, which a store does not read.
    pub body: Vec<u8>,
}

impl StoredTask {
    /// Creates the first version of a record, which is 1, with an empty state.
    pub fn new(
        id: TaskId,
        owner: impl Into<String>,
        created_ms: u64,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        Self {
            id,
            owner: owner.into(),
            created_ms,
            version: 1,
            state: Vec::new(),
            body: body.into(),
        }
    }

    /// Returns the size of state and body in bytes.
    pub fn bytes(&self) -> usize {
        self.state.len() + self.body.len()
    }
}

impl fmt::Debug for StoredTask {
    /// Shows neither owner nor contents, which may be confidential.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoredTask")
            .field("id", &self.id)
            .field("created_ms", &self.created_ms)
            .field("version", &self.version)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// Tasks of an owner in a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreUsage {
    /// Number of tasks.
    pub tasks: u64,
    /// Total size of their states and bodies in bytes.
    pub bytes: u64,
}

impl StoreUsage {
    /// Creates a usage.
    pub fn new(tasks: u64, bytes: u64) -> Self {
        Self { tasks, bytes }
    }
}
