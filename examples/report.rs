//! Report that takes its time: a task that asks half-way, and that continues after a crash of the server. Clients without
//! tasks wait for the result. `report` serves standard input and output, `report --http 127.0.0.1:8080` serves HTTP. Reports
//! and unfinished tasks are files in the current directory.

use std::io::Write;
use std::time::Duration;
use std::{env, fs};

use treenail::prelude::*;
use treenail::tasks::{SqliteStore, TaskLimits, Tasks};

#[mcp_form]
struct Editor {
    name: String,
}

/// Write the report of a year.
#[mcp_tool(task(always, resume, keep = "1d"))]
async fn write_report(cx: &Context, year: u16) -> Result<String, ToolError> {
    for quarter in 1..=4 {
        cx.progress(quarter).total(4).await;
        let sales = count_sales(quarter).await; // may run again after a crash
        let line = format!("Quarter {quarter}: {sales} sold");
        let key = format!("quarter {quarter}");
        // Never runs again. The first line replaces an earlier report.
        cx.once(key, async { write(year, &line, quarter == 1) })
            .await?;
    }
    let Editor { name } = cx
        .elicit(format!("Who edits the report of {year}?"))
        .await?;
    let line = format!("Edited by {name}");
    cx.once("editor", async { write(year, &line, false) })
        .await?;
    Ok(fs::read_to_string(path(year))?)
}

fn write(year: u16, line: &str, is_first: bool) -> Result<(), ToolError> {
    if is_first {
        return Ok(fs::write(path(year), format!("{line}\n"))?);
    }
    let mut file = fs::File::options().append(true).open(path(year))?;
    Ok(writeln!(file, "{line}")?)
}

fn path(year: u16) -> String {
    format!("report-{year}.txt")
}

/// Stands in for an hour of work.
async fn count_sales(quarter: u32) -> u32 {
    tokio::time::sleep(Duration::from_millis(250)).await;
    1_000 * quarter
}

fn server() -> treenail::Result<Server> {
    let second = Duration::from_secs(1);
    // The longest delay after a crash is the sum of both.
    let limits = TaskLimits::default()
        .lease(2 * second)
        .sweep_interval(second);
    let tasks = Tasks::new().store(SqliteStore::open("tasks.db")?);
    let server = Server::builder("report", env!("CARGO_PKG_VERSION")).tools(tools![write_report]);
    server.extension(tasks.limits(limits)).build()
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stderr, reason = "the user needs the address")]
async fn main() -> treenail::Result<()> {
    let mut arguments = env::args().skip_while(|argument| argument != "--http");
    let Some(address) = arguments.nth(1) else {
        return server()?.serve_stdio().await;
    };
    let http = server()?.bind_http(address).await?;
    eprintln!("http://{}/mcp", http.local_addr());
    http.serve().await
}
