//! The attacked server, in a separate process.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use treenail::Limits;
use treenail::http::ServeHttp as _;

use super::tools::Counters;
use super::wire::call;
use crate::fixture::builder;

/// Environment variable that makes the process the server, with these limits.
const ROLE: &str = "TREENAIL_ATTACKED";
/// Test that runs as the server.
const NAME: &str = "attacks::process::a_server_process_ends_with_its_input";

/// Server in a separate process. Dropping it ends the process.
pub(crate) struct Attacked {
    pub(crate) address: SocketAddr,
    child: Child,
    input: Option<ChildStdin>,
    /// Held open, because the process writes output at its end.
    _output: BufReader<ChildStdout>,
}

impl Attacked {
    /// Starts the server with the default limits, except those in `limits`. Times are in milliseconds.
    pub(crate) fn start(limits: &Value) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args([NAME, "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, limits.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let address = output.by_ref().lines().find_map(|line| {
            let line = line.unwrap();
            let (_, address) = line.split_once("listening at ")?;
            Some(address.parse().unwrap())
        });
        Self {
            address: address.expect("the server prints its address"),
            input: child.stdin.take(),
            _output: output,
            child,
        }
    }

    /// Starts measuring the memory of the process, relative to its current size.
    pub(crate) fn memory(&self) -> Memory {
        let pid = self.child.id();
        // Resets the peak to the current size.
        let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
        Memory {
            pid,
            start: status(pid, "VmRSS:"),
        }
    }

    /// Ends the process. Returns true if it succeeded.
    fn finish(mut self) -> bool {
        drop(self.input.take());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Attacked {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Memory growth of a process since the start of the measurement.
pub(crate) struct Memory {
    pid: u32,
    start: Option<usize>,
}

impl Memory {
    /// Returns the peak growth in bytes. `None` if the system does not report it.
    pub(crate) fn peak(&self) -> Option<usize> {
        Some(status(self.pid, "VmHWM:")?.saturating_sub(self.start?))
    }

    /// Fails if the growth exceeds `max_bytes` plus a margin for the allocator and the process.
    #[allow(clippy::print_stdout, reason = "a failed test reports all figures")]
    pub(crate) fn check(&self, max_bytes: usize, description: &str) {
        const SLACK: usize = 3 << 20;
        if let Some(peak) = self.peak() {
            println!(
                "{description}: {} KiB of {} KiB",
                peak >> 10,
                (max_bytes + SLACK) >> 10
            );
            assert!(
                peak <= max_bytes + SLACK,
                "{description}: {peak} bytes, more than {max_bytes}"
            );
        }
    }
}

fn status(pid: u32, name: &str) -> Option<usize> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: usize = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

fn limits(named: &Value) -> Limits {
    let mut limits = Limits::default();
    for (name, value) in named.as_object().unwrap() {
        let value = value.as_u64().unwrap();
        let (count, time) = (
            usize::try_from(value).unwrap(),
            Duration::from_millis(value),
        );
        match &**name {
            "message_bytes" => limits.message_bytes = count,
            "http.connections" => limits.http.connections = count,
            "http.sessions" => limits.http.sessions = count,
            "http.read_timeout" => limits.http.read_timeout = time,
            "http.write_timeout" => limits.http.write_timeout = time,
            other => panic!("unsupported limit `{other}`"),
        }
    }
    limits
}

/// Serves until the input ends.
#[tokio::main(flavor = "current_thread")]
async fn serve(limits: Limits) {
    let builder = builder().mount(Counters::default()).limits(limits);
    let server = builder.build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let mut out = io::stdout();
    writeln!(out, "listening at {}", http.local_addr()).unwrap();
    out.flush().unwrap();
    std::thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        server.close();
    });
    http.serve().await.unwrap();
}

#[test]
fn a_server_process_ends_with_its_input() {
    if let Ok(named) = env::var(ROLE) {
        return serve(limits(&serde_json::from_str(&named).unwrap()));
    }
    let attacked = Attacked::start(&json!({}));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let sum = runtime.block_on(call(attacked.address, "sum", json!({"numbers": [2, 3]})));
    assert_eq!(sum, 5);
    assert!(attacked.finish());
}
