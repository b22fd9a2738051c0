//! CPU time that a hop through a proxy costs per call, in memory and over standard input and output.
//!
//! `proxy-hop SERVER` starts `forwarder` and `treenail-proxy`, which are beside it, each in front of the program `SERVER`.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote};
use treenail::schema::Revision;

/// Calls of one measurement.
const CALLS: usize = 100_000;
/// Calls in flight over pipes.
const WINDOW: usize = 64;
const ROUNDS: usize = 5;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Adds two integers.
#[mcp_tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let server = PathBuf::from(env::args().nth(1).ok_or("usage: proxy-hop SERVER")?);
    println!("| hop | revision of the client | CPU µs/call |\n|---|---|---|");
    let hops = [
        ("stdio, forwarder written by hand", "forwarder"),
        ("stdio, Treenail", "treenail-proxy"),
    ];
    for (name, program) in hops {
        let program = env::current_exe()?.with_file_name(program);
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            times.push(over_pipes(&program, &server)?);
        }
        times.sort_by(f64::total_cmp);
        let time = times[ROUNDS / 2];
        println!("| {name} | {} | {time:.1} |", Revision::V2025_11_25);
    }
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let (direct, proxied) = in_memory(revision).await?;
        println!("| memory, none: client and server | {revision} | {direct:.1} |");
        println!("| memory, Treenail: client, proxy and server | {revision} | {proxied:.1} |");
    }
    Ok(())
}

/// Returns the CPU time of a call without and with a proxy, in microseconds: medians of the rounds.
async fn in_memory(revision: Revision) -> Outcome<(f64, f64)> {
    let server = Server::builder("far", "1").tools(tools![add]).build()?;
    let gateway = Server::builder("gateway", "1").dynamic().build()?;
    let far = server.clone();
    let connect = move || McpClient::builder().server(&far).protocol_version(revision);
    Proxy::new(&gateway)
        .mount(Remote::new("far", connect))?
        .connected()
        .await;
    let direct = McpClientSession::builder()
        .server(&server)
        .protocol_version(revision)
        .build()
        .await?;
    let proxied = McpClientSession::builder()
        .server(&gateway)
        .protocol_version(revision)
        .build()
        .await?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(calls(&direct, "add").await?);
        with.push(calls(&proxied, "far.add").await?);
    }
    without.sort_by(f64::total_cmp);
    with.sort_by(f64::total_cmp);
    Ok((without[ROUNDS / 2], with[ROUNDS / 2]))
}

async fn calls(session: &McpClientSession, tool: &str) -> Outcome<f64> {
    let before = cpu_seconds("self")?;
    for number in 0..CALLS {
        let result = session
            .tools_call(tool, json!({"a": number, "b": 1}))
            .await?;
        if result.is_error == Some(true) {
            return Err("a call failed".into());
        }
    }
    Ok(per_call(cpu_seconds("self")? - before))
}

fn per_call(seconds: f64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "the number is small")]
    let calls = CALLS as f64;
    seconds / calls * 1e6
}

/// Program in the middle, with its pipes.
struct Hop {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Hop {
    fn start(program: &Path, server: &Path) -> Outcome<Self> {
        let mut command = Command::new(program);
        let command = command
            .arg(server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let input = process.stdin.take().ok_or("no pipe")?;
        let output = process.stdout.take().ok_or("no pipe")?;
        let (output, line) = (BufReader::new(output), String::new());
        Ok(Self {
            process,
            input,
            output,
            line,
        })
    }

    fn send(&mut self, text: &str) -> io::Result<()> {
        self.input.write_all(text.as_bytes())
    }

    fn read(&mut self) -> Outcome<&str> {
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        if self.line.contains("\"error\"")
            || self.line.contains("isError\":true")
            || self.line.is_empty()
        {
            return Err(format!("a call failed: {}", self.line).into());
        }
        Ok(&self.line)
    }
}

/// Returns the CPU time of the program in the middle for a call, in microseconds.
fn over_pipes(program: &Path, server: &Path) -> Outcome<f64> {
    let mut hop = Hop::start(program, server)?;
    let info = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}"#;
    hop.send(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{info}}}\n"
    ))?;
    hop.read()?;
    hop.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
    let pid = hop.process.id().to_string();
    let before = cpu_seconds(&pid)?;
    let (mut sent, mut received) = (0, 0);
    while received < CALLS {
        let mut batch = String::new();
        while sent < CALLS && sent - received < WINDOW {
            sent += 1;
            let params = format!("{{\"name\":\"far.add\",\"arguments\":{{\"a\":{sent},\"b\":1}}}}");
            batch += &format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{sent},\"method\":\"tools/call\",\"params\":{params}}}\n"
            );
        }
        hop.send(&batch)?;
        hop.read()?;
        received += 1;
        while !hop.output.buffer().is_empty() && received < CALLS {
            hop.read()?;
            received += 1;
        }
    }
    let after = cpu_seconds(&pid)?;
    drop(hop.input);
    hop.process.wait()?;
    Ok(per_call(after - before))
}

/// Returns the CPU time of a process, in seconds.
fn cpu_seconds(process: &str) -> Outcome<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("no fields")?;
    let ticks: f64 = fields
        .split(' ')
        .skip(11)
        .take(2)
        .map(str::parse::<f64>)
        .sum::<Result<f64, _>>()?;
    // The unit is the same on all architectures of Linux.
    Ok(ticks / 100.0)
}
