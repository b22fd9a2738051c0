//! Generated clients with the real servers, which `tests/install` installs.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod everything;
mod filesystem;
mod fresh;
mod installed;
mod memory;
