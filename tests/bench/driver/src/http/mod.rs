//! Calls over HTTP, on connections that are kept: calls per second, CPU time and instructions.

mod connection;
mod idle;
mod large;
mod latency;
mod server;
mod sessions;
mod threads;

use std::fs;
use std::path::Path;
use std::time::Instant;

use self::connection::{Connection, Response};
pub(crate) use self::idle::compare as idle;
pub(crate) use self::large::compare as large;
pub(crate) use self::latency::compare as latency;
use self::server::{Program, Server, programs};
pub(crate) use self::sessions::{compare as sessions, instructions as session_instructions};
pub(crate) use self::threads::compare as threads;
use crate::Result;
use crate::count;
use crate::dialect::{Calls, Era};
use crate::table::{Table, median, microseconds, ratio};

/// Connections, each with one call in flight.
const CONNECTIONS: usize = 32;

const WARM_UP: usize = 2_000;

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// What Node sends with each request beside what the protocol asks for.
const HEADERS: &str = "connection: keep-alive\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\naccept-language: *\r\nsec-fetch-mode: cors\r\nuser-agent: node\r\naccept-encoding: gzip, deflate\r\n";

/// Members that the modern era adds to a call.
const MODERN: &str =
    "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: add\r\n";

/// Measures all servers in turn, `rounds` times, and prints the medians.
pub(crate) fn compare(rounds: usize, calls: usize) -> Result<()> {
    let programs = programs();
    let head = [
        "era",
        "server",
        "requests/s",
        "× last row",
        "CPU µs/request",
        "× first row",
    ];
    let mut table = Table::new(&head);
    for era in ERAS {
        let mut samples = vec![Vec::new(); programs.len()];
        for _ in 0..rounds {
            for (samples, program) in samples.iter_mut().zip(&programs) {
                samples.push(measure_with(&[], *program, era, calls / program.patience)?);
            }
        }
        let medians: Vec<(f64, f64)> = samples
            .iter()
            .map(|samples| {
                let time = median(samples.iter().map(|(time, _)| *time).collect());
                let cpu = median(samples.iter().map(|(_, cpu)| *cpu).collect());
                (time, cpu)
            })
            .collect();
        for (program, (time, cpu)) in programs.iter().zip(&medians) {
            table.row(&[
                era.name().to_owned(),
                program.name.to_owned(),
                format!("{:.0}", 1.0 / time),
                ratio(medians[medians.len() - 1].0, *time),
                microseconds(*cpu),
                ratio(*cpu, medians[0].1),
            ]);
        }
    }
    table.print();
    Ok(())
}

/// Prints instructions per request; the files of callgrind go to `keep`, if they are wanted.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn instructions(keep: Option<&Path>) -> Result<()> {
    let directory = keep.map_or_else(count::scratch, Path::to_path_buf);
    fs::create_dir_all(&directory)?;
    let programs = programs();
    let head = ["era", "server", "instructions/request", "× first row"];
    let mut table = Table::new(&head);
    for era in ERAS {
        let mut first = None;
        for program in &programs {
            let mut totals = [0; 2];
            for (total, calls) in totals.iter_mut().zip([count::SHORT, count::LONG]) {
                let file = directory.join(format!("{}-{}-{calls}", program.file, era.name()));
                let tool = count::callgrind(&file);
                let server = program.start(&tool)?;
                drive(
                    &mut Client::new(&server, era)?,
                    &Calls::new(era, calls),
                    *program,
                )?;
                server.stop()?;
                *total = count::callgrind_total(&file)?;
            }
            let difference = totals[1].abs_diff(totals[0]) as f64;
            let counted = difference / (count::LONG - count::SHORT) as f64;
            table.row(&[
                era.name().to_owned(),
                program.name.to_owned(),
                format!("{counted:.0}"),
                ratio(counted, *first.get_or_insert(counted)),
            ]);
        }
    }
    if keep.is_none() {
        fs::remove_dir_all(directory)?;
    }
    table.print();
    Ok(())
}

/// Returns the time and the CPU time of one request, in seconds. The server is the last argument of `tool`, which may be empty.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 calls")]
fn measure_with(tool: &[String], program: Program, era: Era, calls: usize) -> Result<(f64, f64)> {
    let warm_up = Calls::new(era, WARM_UP / program.patience);
    let calls = Calls::new(era, calls);
    let server = program.start(tool)?;
    let mut client = Client::new(&server, era)?;
    drive(&mut client, &warm_up, program)?;
    let (before, start) = (server.cpu()?, Instant::now());
    let answers = client.call(&calls)?;
    let (time, cpu) = (start.elapsed(), server.cpu()?.saturating_sub(before));
    check(&calls, answers, program)?;
    server.stop()?;
    let count = calls.len() as f64;
    Ok((time.as_secs_f64() / count, cpu.as_secs_f64() / count))
}

/// Makes all calls, and makes sure that they are answered.
fn drive(client: &mut Client, calls: &Calls, program: Program) -> Result<()> {
    let answers = client.call(calls)?;
    check(calls, answers, program)
}

fn check(calls: &Calls, answers: Vec<Response>, program: Program) -> Result<()> {
    let mut lines = Vec::new();
    for Response { status, body, .. } in answers {
        if status != 200 {
            let body = String::from_utf8_lossy(&body);
            return Err(format!("{}: status {status}: {body}", program.name).into());
        }
        // On a stream, the answer is the data of the last event that has some.
        let mut texts = body.rsplit(|byte| *byte == b'\n');
        let answer = texts.find_map(|text| {
            let text = text.strip_prefix(b"data: ").unwrap_or(text);
            text.starts_with(b"{").then_some(text)
        });
        lines.extend_from_slice(answer.ok_or("a response has no answer")?);
        lines.push(b'\n');
    }
    if program.calls {
        calls.check(&lines)
    } else {
        Ok(())
    }
}

/// Connections to one server; in the legacy era each is a session.
struct Client {
    connections: Vec<Connection>,
    heads: Vec<String>,
}

impl Client {
    fn new(server: &Server, era: Era) -> Result<Self> {
        Self::with(server, era, CONNECTIONS)
    }

    fn with(server: &Server, era: Era, connections: usize) -> Result<Self> {
        let count = connections;
        let head = post(server);
        let (mut connections, mut heads) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let mut connection = Connection::open(server.address)?;
            let head = match era.handshake() {
                Some(messages) => greet(&mut connection, &head, messages)?,
                None => format!("{head}{MODERN}"),
            };
            connections.push(connection);
            heads.push(head);
        }
        Ok(Self { connections, heads })
    }

    /// The requests of all calls, for the connections in turn.
    fn requests(&self, calls: &Calls) -> Vec<Vec<u8>> {
        let request = |call| {
            let line = calls.lines(call, call + 1);
            request(
                &self.heads[call % self.heads.len()],
                &line[..line.len() - 1],
            )
        };
        (0..calls.len()).map(request).collect()
    }

    /// Makes all calls, one on each connection at a time, and returns the responses.
    ///
    /// The requests are prepared before. Connections take turns, so one that is late holds the others up; the server has
    /// as many requests as there are connections all the same, but one.
    fn call(&mut self, calls: &Calls) -> Result<Vec<Response>> {
        let requests = self.requests(calls);
        let mut responses = Vec::with_capacity(calls.len());
        let mut rest = requests.iter();
        for (connection, request) in self.connections.iter_mut().zip(rest.by_ref()) {
            connection.send(request)?;
        }
        for call in 0..calls.len() {
            let turn = call % self.connections.len();
            let connection = &mut self.connections[turn];
            responses.push(connection.receive()?);
            if let Some(request) = rest.next() {
                connection.send(request)?;
            }
        }
        Ok(responses)
    }
}

/// The head of a POST that all requests have.
fn post(server: &Server) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\n{HEADERS}",
        server.address
    )
}

/// Begins a session; returns the head of its requests.
fn greet(
    connection: &mut Connection,
    head: &str,
    (initialize, initialized): (&str, &str),
) -> Result<String> {
    connection.send(&request(head, initialize.as_bytes()))?;
    let session = connection.receive()?.session;
    let session = session.map(|id| format!("mcp-session-id: {id}\r\n"));
    let session = session.unwrap_or_default();
    let head = format!("{head}mcp-protocol-version: 2025-11-25\r\n{session}");
    connection.send(&request(&head, initialized.as_bytes()))?;
    connection.receive()?;
    Ok(head)
}

fn request(head: &str, body: &[u8]) -> Vec<u8> {
    let mut request = format!("{head}content-length: {}\r\n\r\n", body.len()).into_bytes();
    request.extend_from_slice(body);
    request
}
