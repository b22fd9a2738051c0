//! Tools with several steps, each of which has an effect that must happen once.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::process;

use treenail::prelude::*;
use treenail::tasks::ServerTasks;
use treenail::tasks::test_kit::shift_clock;

use crate::kill_store::stored;
use crate::point;

/// Appends a line to the file of effects, and returns the number of this process.
fn append(step: &str) -> io::Result<u32> {
    let path = env::var_os("EFFECTS").ok_or(io::ErrorKind::NotFound)?;
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let id = process::id();
    file.write_all(format!("{step} {id}\n").as_bytes())?;
    Ok(id)
}

/// Makes an effect. It can be interrupted before and after.
fn effect(step: &str) -> Result<u32, ToolError> {
    point::pass();
    let id = append(step)?;
    point::pass();
    Ok(id)
}

/// Runs all steps, and returns the processes that made the effects.
async fn run(cx: &Context) -> Result<String, ToolError> {
    // The call becomes a task before its first effect.
    stored().await;
    let first = cx.once("first", async { effect("first") }).await?;
    cx.confirm("Continue?").await?;
    let second = cx.once("second", async { effect("second") }).await?;
    let third = cx.once("third", async { effect("third") }).await?;
    Ok(format!("first {first} second {second} third {third}"))
}

/// Runs again after an interruption, from its start.
#[mcp_tool(task(always, resume))]
pub(crate) async fn order(cx: &Context) -> Result<String, ToolError> {
    run(cx).await
}

/// Runs again after an interruption, even if an effect may have happened.
#[mcp_tool(idempotent, task(always))]
pub(crate) async fn idempotent_order(cx: &Context) -> Result<String, ToolError> {
    run(cx).await
}

/// Does not run again.
#[mcp_tool(task(always))]
pub(crate) async fn plain_order(cx: &Context) -> Result<String, ToolError> {
    run(cx).await
}

/// Returns the number of tasks that run in this process.
#[mcp_tool]
pub(crate) fn running(cx: &Context) -> usize {
    ServerTasks::of(cx.server()).map_or(0, |tasks| tasks.running())
}

/// Sets the clock of this process ahead, as a suspension of the computer does. Its timers do not advance meanwhile.
#[mcp_tool]
pub(crate) fn suspend(milliseconds: i64) {
    shift_clock(milliseconds);
}
