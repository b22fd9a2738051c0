//! Errors of stores.

/// Error of a [`TaskStore`](super::TaskStore). Its message contains no credentials and no part of a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached or does not respond, is locked or read-only. A later attempt may succeed.
    #[error("the task store is unavailable: {0}")]
    Unavailable(String),
    /// The store has no space for the change, which was not made.
    #[error("the task store is full: {0}")]
    Full(String),
    /// The store has another task with this id.
    #[error("the task store already has a task with this id")]
    Duplicate,
    /// The owner has no task with the id that a list should start behind.
    #[error("the task at which the list continues does not exist")]
    UnknownTask,
    /// Any other error, such as a damaged record.
    #[error("the task store failed: {0}")]
    Other(String),
}

impl From<StoreError> for treenail_runtime::Error {
    fn from(error: StoreError) -> Self {
        Self::Other(Box::new(error))
    }
}
