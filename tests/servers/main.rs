//! The client against servers that others wrote: those of the npm registry, and two small ones with the official SDKs of
//! TypeScript and Python. `tests/install` installs what they need.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod everything;
mod filesystem;
mod harbour;
mod installed;
mod listening;
mod memory;
mod process;
mod told;
