//! Server over standard input and output whose tools are tasks, and which kills itself at a chosen point.
//!
//! The environment contains `STORE` (`memory`, the path of a file of SQLite, or the URL of a Redis, a
//! space and the name of the server), `EFFECTS` (a file to which
//! the tools append a line for each effect), and optionally `KILL_AT`: the number of the point at which the process is killed.
//! Each change of the store has a point before and after it, and each effect as well.

mod kill_store;
mod orders;
mod point;

use std::env;
use std::error::Error;
use std::sync::Arc;

use treenail::prelude::*;
use treenail::tasks::{MemoryStore, SqliteStore, TaskStore, Tasks};

use self::kill_store::KillStore;
use self::orders::{idempotent_order, order, plain_order};

fn store() -> Result<Arc<dyn TaskStore>, Box<dyn Error>> {
    let place = env::var("STORE")?;
    if place == "memory" {
        return Ok(Arc::new(MemoryStore::new()));
    }
    if let Some((url, name)) = place.split_once(' ') {
        let store = treenail::tasks::RedisStore::new(url)?;
        return Ok(Arc::new(store.server(name)));
    }
    Ok(Arc::new(SqliteStore::open(place)?))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let tasks = Tasks::new().store(KillStore::new(store()?));
    let builder = treenail::server!().tools(tools![order, idempotent_order, plain_order]);
    builder.extension(tasks).serve_stdio().await?;
    Ok(())
}
