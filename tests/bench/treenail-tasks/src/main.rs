//! A server with one tool that answers directly, and one that runs as a task: `treenail-tasks` stores tasks in memory,
//! `treenail-tasks sqlite` in a file.

use std::error::Error;

use treenail::prelude::*;
use treenail::tasks::{SqliteStore, Tasks};

/// Adds two integers.
#[mcp_tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Adds two integers in a task.
#[mcp_tool(task(always, keep = "1d"))]
async fn add_later(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let tasks = match std::env::args().nth(1).as_deref() {
        Some("sqlite") => Tasks::new().store(SqliteStore::open(folder.path().join("tasks.db"))?),
        _ => Tasks::new(),
    };
    let server = treenail::server!()
        .tools(tools![add, add_later])
        .extension(tasks)
        .build()?;
    Ok(server.serve_stdio().await?)
}
