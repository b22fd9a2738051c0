//! Tests of the tasks of a server, over connections in memory. The clock is paused, so no test waits. The ids in the tests are
//! those of the requirements.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod cancellation;
mod creation;
mod external;
mod failing_store;
mod leases;
mod limits;
#[path = "../../../../tests/protocol/support/log.rs"]
mod log;
mod lost_changes;
mod lost_versions;
mod newer;
mod older;
mod older_asking;
mod older_capabilities;
mod older_questions;
mod older_restart;
mod older_support;
mod outages;
mod owners;
mod peer;
mod progress;
mod push;
mod questions;
mod replicas;
mod restart;
mod restart_extensions;
mod results;
mod store_failures;
mod store_panics;
mod sweep;
mod works;
