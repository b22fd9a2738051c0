//! The generated clients against the servers that they are of, which `tests/install` installs.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod everything;
mod filesystem;
mod fresh;
mod installed;
mod memory;
