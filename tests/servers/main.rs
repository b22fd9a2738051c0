//! Tests of the client with third-party servers: the reference servers on npm, and two small servers with the official
//! SDKs for TypeScript and Python. `tests/install` installs their dependencies.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod everything;
mod filesystem;
mod gateway;
mod harbour;
mod http_server;
mod installed;
mod memory;
mod process;
mod report;
mod results;
