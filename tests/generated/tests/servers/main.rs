//! The generated clients against the servers that they are of, which `tests/install` installs.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod everything;
mod filesystem;
mod fresh;
mod installed;
mod memory;
