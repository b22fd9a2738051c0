//! Calls with input and output behind them, of 50 clients; in the legacy era each call has a session of its own.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::connection::{Response, take_response};
use super::server::{Program, Server, backend, with_io};
use super::{MODERN, check, post, request};
use crate::Result;
use crate::count;
use crate::dialect::{Calls, Era};
use crate::table::{Table, median, microseconds, ratio};

const CLIENTS: usize = 50;

const WARM_UP: usize = 2_000;

/// Revisions, and their eras.
const REVISIONS: [(&str, Era); 3] = [
    ("2024-11-05", Era::Legacy),
    ("2025-11-25", Era::Legacy),
    ("2026-07-28", Era::Modern),
];

/// Measures all servers in turn, `rounds` times, and prints the medians.
pub(crate) fn compare(rounds: usize, calls: usize) -> Result<()> {
    let head = [
        "revision",
        "server",
        "calls/s",
        "× best of rmcp",
        "CPU µs/call",
        "× best of rmcp",
    ];
    let mut table = Table::new(&head);
    for (revision, era) in REVISIONS {
        let programs = with_io(era);
        let mut samples = vec![Vec::new(); programs.len()];
        for _ in 0..rounds {
            for (samples, program) in samples.iter_mut().zip(&programs) {
                samples.push(measure(*program, revision, era, calls)?);
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
        let rmcp = programs.iter().zip(&medians);
        let rmcp: Vec<_> = rmcp.filter(|(it, _)| it.name.contains("rmcp")).collect();
        let best = |part: fn(&(f64, f64)) -> f64| {
            let parts = rmcp.iter().map(|(_, median)| part(median));
            parts.fold(f64::INFINITY, f64::min)
        };
        let (best_time, best_cpu) = (best(|it| it.0), best(|it| it.1));
        for (program, (time, cpu)) in programs.iter().zip(&medians) {
            table.row(&[
                revision.to_owned(),
                program.name.to_owned(),
                format!("{:.0}", 1.0 / time),
                ratio(best_time, *time),
                microseconds(*cpu),
                ratio(*cpu, best_cpu),
            ]);
        }
    }
    table.print();
    Ok(())
}

/// The time and the CPU time of one call with its session, in seconds.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 calls")]
fn measure(program: Program, revision: &str, era: Era, calls: usize) -> Result<(f64, f64)> {
    let service = backend()?;
    let server = program.start_with(&[], Some(service.address.to_string()))?;
    let (warm_up, calls) = (Calls::new(era, WARM_UP), Calls::new(era, calls));
    run(&server, revision, era, &warm_up)?;
    let (before, start) = (server.cpu()?, Instant::now());
    let answers = run(&server, revision, era, &calls)?;
    let (time, cpu) = (start.elapsed(), server.cpu()?.saturating_sub(before));
    check(&calls, answers, program)?;
    server.stop()?;
    service.stop()?;
    let count = calls.len() as f64;
    Ok((time.as_secs_f64() / count, cpu.as_secs_f64() / count))
}

/// Prints instructions per call with its session; the files of callgrind go to `keep`, if they are wanted.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn instructions(keep: Option<&Path>) -> Result<()> {
    let directory = keep.map_or_else(count::scratch, Path::to_path_buf);
    fs::create_dir_all(&directory)?;
    let mut table = Table::new(&["revision", "server", "instructions/call", "× first row"]);
    for (revision, era) in REVISIONS {
        let mut first = None;
        for program in with_io(era) {
            let mut totals = [0; 2];
            for (total, calls) in totals.iter_mut().zip([count::SHORT, count::LONG]) {
                let file = directory.join(format!("{}-{revision}-{calls}", program.file));
                let service = backend()?;
                let address = Some(service.address.to_string());
                let server = program.start_with(&count::callgrind(&file), address)?;
                let calls = Calls::new(era, calls);
                check(&calls, run(&server, revision, era, &calls)?, program)?;
                server.stop()?;
                service.stop()?;
                *total = count::callgrind_total(&file)?;
            }
            let difference = totals[1].abs_diff(totals[0]) as f64;
            let counted = difference / (count::LONG - count::SHORT) as f64;
            table.row(&[
                revision.to_owned(),
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

/// Makes all calls, each client one after the other, and returns their responses.
fn run(server: &Server, revision: &str, era: Era, calls: &Calls) -> Result<Vec<Response>> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(CLIENTS);
    let steps = Steps::new(server, revision, era);
    let (mut clients, mut answers) = (Vec::new(), Vec::with_capacity(calls.len()));
    let mut rest = (0..calls.len()).map(|call| {
        let line = calls.lines(call, call + 1);
        &line[..line.len() - 1]
    });
    for token in 0..CLIENTS {
        let stream = std::net::TcpStream::connect(server.address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut client = Client::new(TcpStream::from_std(stream));
        let interest = Interest::READABLE;
        poll.registry()
            .register(&mut client.stream, Token(token), interest)?;
        client.begin(&steps, rest.next())?;
        clients.push(client);
    }
    while answers.len() < calls.len() || clients.iter().any(|it| it.step != Step::Idle) {
        poll.poll(&mut events, Some(Duration::from_secs(10)))?;
        if events.is_empty() {
            return Err("a server does not answer".into());
        }
        for event in &events {
            let client = &mut clients[event.token().0];
            client.read()?;
            while let Some(response) = take_response(&mut client.ahead)? {
                if let Some(answer) = client.advance(&steps, response)? {
                    answers.push(answer);
                }
                if client.step == Step::Idle {
                    client.begin(&steps, rest.next())?;
                }
            }
        }
    }
    Ok(answers)
}

/// Requests that all clients send.
struct Steps {
    head: String,
    revision: String,
    /// The request and the notification of the handshake.
    handshake: Option<(Vec<u8>, String)>,
}

impl Steps {
    fn new(server: &Server, revision: &str, era: Era) -> Self {
        let head = post(server);
        let handshake = era.handshake().map(|(initialize, initialized)| {
            let initialize = initialize.replace("2025-11-25", revision);
            (
                request(&head, initialize.as_bytes()),
                initialized.to_owned(),
            )
        });
        Self {
            head,
            revision: revision.to_owned(),
            handshake,
        }
    }
}

/// Response that a client waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Idle,
    Initialize,
    Initialized,
    Call,
    Delete,
}

struct Client<'a> {
    stream: TcpStream,
    ahead: Vec<u8>,
    step: Step,
    call: &'a [u8],
    /// The head of the requests of the session, and whether the server has given it an id.
    head: String,
    has_session: bool,
}

impl<'a> Client<'a> {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            ahead: Vec::new(),
            step: Step::Idle,
            call: &[],
            head: String::new(),
            has_session: false,
        }
    }

    /// Begins with a call, if there is another one.
    fn begin(&mut self, steps: &Steps, call: Option<&'a [u8]>) -> Result<()> {
        let Some(call) = call else {
            return Ok(());
        };
        self.call = call;
        if let Some((initialize, _)) = &steps.handshake {
            return self.send(Step::Initialize, initialize);
        }
        let head = format!("{}{MODERN}", steps.head);
        self.send(Step::Call, &request(&head, call))
    }

    /// Sends what follows a response. Returns the response to a call.
    fn advance(&mut self, steps: &Steps, response: Response) -> Result<Option<Response>> {
        match (self.step, &steps.handshake) {
            (Step::Initialize, Some((_, initialized))) => {
                let session = response
                    .session
                    .map(|id| format!("mcp-session-id: {id}\r\n"));
                self.has_session = session.is_some();
                let (head, revision) = (&steps.head, &steps.revision);
                let session = session.unwrap_or_default();
                self.head = format!("{head}mcp-protocol-version: {revision}\r\n{session}");
                let message = request(&self.head, initialized.as_bytes());
                self.send(Step::Initialized, &message)?;
            }
            (Step::Initialized, _) => self.send(Step::Call, &request(&self.head, self.call))?,
            (Step::Call, _) => {
                if self.has_session {
                    let delete = self.head.replacen("POST", "DELETE", 1);
                    self.send(Step::Delete, format!("{delete}\r\n").as_bytes())?;
                } else {
                    self.step = Step::Idle;
                }
                return Ok(Some(response));
            }
            _ => self.step = Step::Idle,
        }
        Ok(None)
    }

    fn send(&mut self, step: Step, request: &[u8]) -> Result<()> {
        self.step = step;
        // The socket has room for a request, because the one before has been answered.
        Ok(self.stream.write_all(request)?)
    }

    /// Reads all that has arrived.
    fn read(&mut self) -> Result<()> {
        let mut chunk = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err("the server has closed a connection".into()),
                Ok(count) => self.ahead.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
