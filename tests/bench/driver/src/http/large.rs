//! Results of 10 MB over HTTP: time, CPU time and memory.

use std::time::Instant;

use super::server::{Program, with_room};
use super::{Client, ERAS, request};
use crate::Result;
use crate::dialect::Era;
use crate::table::Table;

const BYTES: usize = 10_000_000;

/// Measures all servers with `calls` calls, and prints the means.
pub(crate) fn compare(calls: usize) -> Result<()> {
    let head = ["era", "server", "ms/call", "CPU ms/call", "peak MB ÷ 10"];
    let mut table = Table::new(&head);
    for era in ERAS {
        for program in with_room() {
            measure(program, era, calls, &mut table)?;
        }
    }
    table.print();
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
fn measure(program: Program, era: Era, calls: usize, table: &mut Table) -> Result<()> {
    let server = program.start(&[])?;
    let mut client = Client::with(&server, era, 1)?;
    let head = client.heads[0].replace("mcp-name: add", "mcp-name: text");
    let connection = &mut client.connections[0];
    let mut call = |id: usize, bytes: usize| {
        let params = format!(r#""name":"text","arguments":{{"bytes":{bytes}}}"#);
        let message = era.request(id, "tools/call", &params);
        connection.send(&request(&head, message.as_bytes()))?;
        let response = connection.receive()?;
        if response.status != 200 || response.body.len() < bytes {
            return Err(format!("{}: status {}", program.name, response.status).into());
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    call(0, 10)?;
    let idle = server.memory()?;
    call(1, BYTES)?;
    let peak = server.peak_memory()? - idle;
    let (before, start) = (server.cpu()?, Instant::now());
    for id in 0..calls {
        call(id + 2, BYTES)?;
    }
    let (time, cpu) = (start.elapsed(), server.cpu()?.saturating_sub(before));
    let each = |seconds: f64| format!("{:.2}", seconds * 1000.0 / calls as f64);
    table.row(&[
        era.name().to_owned(),
        program.name.to_owned(),
        each(time.as_secs_f64()),
        each(cpu.as_secs_f64()),
        format!("{:.1}", peak * 1024.0 / BYTES as f64),
    ]);
    server.stop()
}
