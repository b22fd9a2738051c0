//! Time of `tasks/get` beside that of a plain call.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use treenail::Server;
use treenail::prelude::*;
use treenail::tasks::{MemoryStore, SqliteStore, TaskStore, Tasks};

use crate::{Outcome, ROUNDS, median};

/// Requests of one measurement.
const REQUESTS: u32 = 10_000;

/// Adds two integers.
#[mcp_tool(task)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Does not return during the measurement.
#[mcp_tool(task(always))]
async fn forever() {
    std::future::pending::<()>().await;
}

/// Client of one connection in memory.
struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl Peer {
    fn connect(server: &Server) -> Self {
        let (here, there) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(there);
        tokio::spawn(server.connect().serve(BufReader::new(reader), writer));
        let (reader, writer) = tokio::io::split(here);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
        }
    }

    async fn request(&mut self, line: &str) -> Outcome<String> {
        self.writer.write_all(line.as_bytes()).await?;
        Ok(self
            .lines
            .next_line()
            .await?
            .ok_or("the connection was closed")?)
    }

    /// Returns the microseconds of a request: the median of the rounds.
    async fn time(&mut self, line: &str) -> Outcome<f64> {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            for _ in 0..REQUESTS {
                let answer = self.request(line).await?;
                if answer.contains("\"error\"") {
                    return Err(answer.into());
                }
            }
            times.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(REQUESTS));
        }
        Ok(median(times))
    }
}

fn request(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    format!("{request}\n")
}

pub(crate) async fn measure(directory: &Path) -> Outcome<()> {
    compare("memory", MemoryStore::new()).await?;
    compare("SQLite", SqliteStore::open(directory.join("get.db"))?).await
}

async fn compare(name: &str, store: impl TaskStore) -> Outcome<()> {
    let server = Server::builder("bench", "1").tools(tools![add, forever]);
    let server = server.extension(Tasks::new().store(store)).build()?;
    let mut peer = Peer::connect(&server);
    let created = request("tools/call", json!({"name": "forever", "arguments": {}}));
    let created: Value = serde_json::from_str(&peer.request(&created).await?)?;
    let get = request("tasks/get", json!({"taskId": created["result"]["taskId"]}));
    let call = request(
        "tools/call",
        json!({"name": "add", "arguments": {"a": 1, "b": 2}}),
    );
    let (get, call) = (peer.time(&get).await?, peer.time(&call).await?);
    println!(
        "{name}: tasks/get {get:.1} µs, a plain call {call:.1} µs (ratio {:.1})",
        get / call
    );
    Ok(())
}
