//! Server over standard input and output whose tools are tasks, and which kills or stops itself at a chosen point.
//!
//! The environment contains `STORE` (`memory`, the path of a file of SQLite, the URL of a Redis, a
//! space and the name of the server, or the URL of a PostgreSQL, a space and the name of the table), `EFFECTS` (a file to which
//! the tools append a line for each effect), and optionally `KILL_AT`: the number of the point at which the process is killed.
//! Each change of the store has a point before and after it, and each effect as well. With `STOP_AT` in its place, the process stops
//! at that point until it is continued.
//!
//! `LEASE_MS` is the lease of tasks in milliseconds; without it, leases have always ended. `CLOCK_AHEAD_MS` is the number of milliseconds by
//! which the clock is ahead. The log is written to standard error.

mod kill_store;
#[path = "../log.rs"]
mod log;
mod orders;
mod point;

use std::env;
use std::error::Error;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use treenail::prelude::*;
use treenail::tasks::test_kit::shift_clock;
use treenail::tasks::{MemoryStore, SqliteStore, TaskLimits, TaskStore, Tasks};

use self::kill_store::KillStore;
use self::orders::{idempotent_order, order, plain_order, running, suspend};

fn store() -> Result<Arc<dyn TaskStore>, Box<dyn Error>> {
    let place = env::var("STORE")?;
    if place == "memory" {
        return Ok(Arc::new(MemoryStore::new()));
    }
    if let Some((url, name)) = place.split_once(' ') {
        if url.starts_with("postgres:") {
            let store = treenail::tasks::PostgresStore::builder().table(name);
            return Ok(Arc::new(store.build(url)?));
        }
        let store = treenail::tasks::RedisStore::new(url)?;
        return Ok(Arc::new(store.server(name)));
    }
    Ok(Arc::new(SqliteStore::open(place)?))
}

/// Reads a number in the environment.
fn number<T: FromStr>(variable: &str) -> Result<Option<T>, T::Err> {
    env::var(variable).ok().map(|text| text.parse()).transpose()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    log::install()?;
    shift_clock(number("CLOCK_AHEAD_MS")?.unwrap_or(0));
    let lease = number("LEASE_MS")?;
    let mut limits = TaskLimits::default();
    if let Some(lease) = lease {
        let short = Duration::from_millis(100);
        limits = limits.lease(Duration::from_millis(lease));
        limits = limits
            .watch_interval(short)
            .sweep_interval(short)
            .attempts(20);
    }
    let store = KillStore::new(store()?, lease.is_some());
    let tasks = Tasks::new().store(store).limits(limits);
    let builder = treenail::server!().tools(tools![
        order,
        idempotent_order,
        plain_order,
        running,
        suspend
    ]);
    builder.extension(tasks).serve_stdio().await?;
    Ok(())
}
