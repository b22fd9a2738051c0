//! Errors of reading a lock file and of selecting tools.

use treenail_schema::internal::quoted;

use crate::file::FORMAT;

/// Error of reading a lock file, or of selecting tools from a contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContractError {
    /// The text is not a lock file: the member `treenailLock` is missing.
    #[error("not a lock file: it has no member `treenailLock`")]
    NotALockFile,
    /// The format is not supported. Usually a newer version of Treenail has written the file.
    #[error("the lock file has format {0}; this version of Treenail supports format {FORMAT}")]
    UnsupportedFormat(u64),
    /// The text is not valid JSON, or a value in it has an unexpected type.
    #[error("the lock file cannot be read: {reason}, at line {line}, column {column}{}", within(.path))]
    #[non_exhaustive]
    Malformed {
        /// Line, counted from 1.
        line: usize,
        /// Column in bytes, counted from 1.
        column: usize,
        /// Path within the JSON, such as `tools[2].inputSchema`. Empty if unknown.
        path: String,
        /// Description of the error.
        reason: String,
    },
    /// Two entries of one list have the same name.
    #[error("the lock file has two {list} named {}", quoted(.name))]
    #[non_exhaustive]
    DuplicateName {
        /// The list that contains them, such as `tools`.
        list: &'static str,
        /// The duplicate name.
        name: String,
    },
    /// The contract has no tool with this name.
    #[error("the contract has no tool {}", quoted(.0))]
    UnknownTool(String),
}

fn within(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    format!(", in {}", quoted(path))
}
