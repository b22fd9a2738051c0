//! Why there is no contract.

use treenail_schema::internal::quoted;

use crate::file::FORMAT;

/// Why a text is no contract, or a contract has not what is asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContractError {
    /// The text is no lock file at all: it does not say so with `treenailLock`.
    #[error("not a lock file: it has no member `treenailLock`")]
    NoLockFile,
    /// The format is another one; a newer version of Treenail has written it.
    #[error("the lock file has format {0}, and this version of Treenail reads format {FORMAT}")]
    Format(u64),
    /// The text is no JSON, or something in it has another form.
    #[error("the lock file cannot be read: {reason}, at line {line}, column {column}{}", within(.path))]
    Malformed {
        /// The line, from 1 on.
        line: usize,
        /// The column in bytes, from 1 on.
        column: usize,
        /// Where that is in the JSON, as in `tools[2].inputSchema`; empty if it is not known.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// Two things of one kind have the same name.
    #[error("the lock file has two {kind} called {}", quoted(.name))]
    Twice {
        /// The list that they are in, as in `tools`.
        kind: &'static str,
        /// Their name.
        name: String,
    },
    /// There is no such tool in the contract.
    #[error("the contract has no tool {}", quoted(.0))]
    NoSuchTool(String),
}

fn within(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    format!(", in {}", quoted(path))
}
