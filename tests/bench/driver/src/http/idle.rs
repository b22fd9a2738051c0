//! Memory of sessions and streams on which nothing is sent.

use super::connection::Connection;
use super::server::{Program, Server, with_room};
use super::{greet, post};
use crate::Result;
use crate::dialect::Era;
use crate::table::Table;

/// Measures all servers with `count` sessions, then with a stream for each, and prints the memory of one.
pub(crate) fn compare(count: usize) -> Result<()> {
    let head = ["server", "idle", "count", "kB each", "MB of the server"];
    let mut table = Table::new(&head);
    for program in with_room() {
        measure(program, count, &mut table)?;
    }
    table.print();
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
fn measure(program: Program, count: usize, table: &mut Table) -> Result<()> {
    let server = program.start(&[])?;
    // What the server allocates for the first clients belongs to no other.
    open_streams(&server, open_sessions(&server, 100)?)?;
    let mut row = |idle: &str, before: f64| {
        let memory = server.memory()?;
        table.row(&[
            program.name.to_owned(),
            idle.to_owned(),
            count.to_string(),
            format!("{:.2}", (memory - before) / count as f64),
            format!("{:.0}", memory / 1000.0),
        ]);
        Ok::<_, Box<dyn std::error::Error>>(memory)
    };
    let before = server.memory()?;
    let heads = open_sessions(&server, count)?;
    let with_sessions = row("session", before)?;
    let streams = open_streams(&server, heads)?;
    row("stream of a session, with its connection", with_sessions)?;
    drop(streams);
    server.stop()
}

/// Opens sessions on one connection. Returns the heads of their requests.
fn open_sessions(server: &Server, count: usize) -> Result<Vec<String>> {
    let head = post(server);
    let handshake = Era::Legacy.handshake().ok_or("no handshake")?;
    let mut connection = Connection::open(server.address)?;
    (0..count)
        .map(|_| greet(&mut connection, &head, handshake))
        .collect()
}

/// Opens the stream of each session on a connection of its own.
fn open_streams(server: &Server, heads: Vec<String>) -> Result<Vec<Connection>> {
    let open = |head: String| {
        let mut connection = Connection::open(server.address)?;
        let get = head.replacen("POST", "GET", 1);
        connection.send(format!("{get}\r\n").as_bytes())?;
        let status = connection.receive_status()?;
        if status != 200 {
            return Err(format!("a stream has the status {status}").into());
        }
        Ok(connection)
    };
    heads.into_iter().map(open).collect()
}
