//! Servers as child processes: start, environment, standard error and shutdown.

mod shutdown;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};
use treenail::client::{ClientError, ClientLimits, ServerCommand, Stderr};
use treenail::prelude::*;

use crate::installed::node;

/// Listener to which servers report their events. A connection closes when its process exits.
struct Lifelines(TcpListener);

/// Connection from one server process.
struct Lifeline(Lines<BufReader<TcpStream>>);

impl Lifelines {
    async fn open() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    /// Returns the command for a server with these behaviours.
    fn server(&self, behaviours: &[&str]) -> ServerCommand {
        let port = self.0.local_addr().unwrap().port();
        node("process.mjs")
            .arg(port.to_string())
            .args(behaviours)
            .stderr(Stderr::Null)
    }

    async fn next(&self) -> Lifeline {
        let (stream, _) = self.0.accept().await.unwrap();
        Lifeline(BufReader::new(stream).lines())
    }
}

impl Lifeline {
    async fn next_event(&mut self) -> String {
        self.0.next_line().await.unwrap().unwrap()
    }

    /// Waits for the process to exit, and returns the remaining events.
    async fn events_until_exit(mut self) -> Vec<String> {
        let mut events = Vec::new();
        // The connection of a killed process may be reset.
        while let Ok(Some(line)) = self.0.next_line().await {
            events.push(line);
        }
        events
    }
}

/// Connects with a shutdown timeout that is long enough for any machine.
async fn connect(command: ServerCommand) -> McpClientSession {
    connect_with(command, Duration::from_secs(120)).await
}

/// Connects with the given timeout for each step of the shutdown.
async fn connect_with(command: ServerCommand, shutdown_within: Duration) -> McpClientSession {
    let limits = ClientLimits::default().shutdown_timeout(shutdown_within);
    let builder = McpClientSession::builder().command(command);
    builder.limits(limits).build().await.unwrap()
}

async fn call(session: &McpClientSession, tool: &str) -> Value {
    let result = session.tools_call(tool, ()).await.unwrap();
    serde_json::from_str(result.content[0].as_text().unwrap()).unwrap()
}

#[tokio::test]
async fn environment_and_working_directory_are_passed() {
    let lifelines = Lifelines::open().await;
    let folder = tempfile::tempdir().unwrap();
    let command = lifelines
        .server(&[])
        .env("HARBOUR", "Bergen")
        .env("CARGO_MANIFEST_DIR", "replaced")
        .env_remove("HOME")
        .current_dir(folder.path());
    let session = connect(command).await;
    let env = call(&session, "env").await;
    assert_eq!(env["HARBOUR"], "Bergen");
    assert_eq!(env["CARGO_MANIFEST_DIR"], "replaced");
    assert_eq!(env["CARGO_PKG_NAME"], Value::Null);
    assert_eq!(env["HOME"], Value::Null);
    assert_eq!(env["PATH"], std::env::var("PATH").unwrap());
    let folder = folder.path().canonicalize().unwrap();
    assert_eq!(call(&session, "cwd").await, folder.to_str().unwrap());
    session.close().await.unwrap();
}

#[tokio::test]
async fn all_lines_of_standard_error_are_passed_on() {
    let lifelines = Lifelines::open().await;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&lines);
    let stderr = Stderr::lines(move |line| {
        taken.lock().unwrap().push(line.to_owned());
        assert_ne!(line, "ready", "a panic in the callback is caught");
    });
    let session = connect(lifelines.server(&[]).stderr(stderr)).await;
    session.close().await.unwrap();
    let lines = lines.lock().unwrap();
    let expected = ["ready", "broken \u{fffd} line", "the end"];
    assert_eq!(*lines, expected, "CLI-STDIO-03, CLI-STDIO-04");
}

#[tokio::test]
async fn large_output_on_standard_error_does_not_block() {
    let lifelines = Lifelines::open().await;
    let count = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&count);
    let kinds = [
        Stderr::Null,
        Stderr::lines(move |_| *counted.lock().unwrap() += 1),
    ];
    for stderr in kinds {
        let command = lifelines.server(&["writes-much-to-stderr"]).stderr(stderr);
        let session = connect(command).await;
        call(&session, "cwd").await;
        session.close().await.unwrap();
    }
    assert_eq!(*count.lock().unwrap(), 50_003);
}

#[tokio::test]
async fn missing_program_is_named_in_the_error() {
    for program in ["no-such-server", "/no/such/server"] {
        let builder = McpClientSession::builder().command(program);
        let error = builder.build().await.unwrap_err();
        assert!(matches!(error, ClientError::Unreachable(_)));
        let expected = format!("the server cannot be reached: `{program}` cannot be started: ");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[tokio::test]
async fn exit_of_the_server_fails_all_pending_calls() {
    let ends = [
        ("exit", "the server has exited with status 3"),
        ("abort", "the server has ended: signal: 9 (SIGKILL)"),
    ];
    for (tool, reason) in ends {
        let lifelines = Lifelines::open().await;
        let session = connect(lifelines.server(&[])).await;
        let waiting = tokio::spawn(session.tools_call("wait", ()).into_future());
        let mut life = lifelines.next().await;
        while life.0.next_line().await.unwrap().unwrap() != "tools/call" {}
        let errors = [
            session.tools_call(tool, ()).await.unwrap_err(),
            waiting.await.unwrap().unwrap_err(),
            session.tools_call("later", ()).await.unwrap_err(),
        ];
        for error in errors {
            let expected = format!("the connection is closed: {reason}");
            assert_eq!(error.to_string(), expected);
        }
        session.close().await.unwrap();
    }
}

#[tokio::test]
async fn server_that_exits_during_the_probe_is_restarted() {
    let lifelines = Lifelines::open().await;
    let session = connect(lifelines.server(&["dies-when-probed"])).await;
    assert!(!session.protocol_version().is_modern(), "CLI-ERA-04");
    call(&session, "cwd").await;
    let (first, second) = (lifelines.next().await, lifelines.next().await);
    assert_eq!(
        first.events_until_exit().await,
        ["started", "server/discover"]
    );
    session.close().await.unwrap();
    let expected = [
        "started",
        "initialize",
        "notifications/initialized",
        "tools/call",
    ];
    assert_eq!(second.events_until_exit().await, expected);

    // The server is restarted only once.
    let behaviours = ["dies-when-probed", "dies-when-greeted"];
    let builder = McpClientSession::builder().command(lifelines.server(&behaviours));
    let error = builder.build().await.unwrap_err();
    assert!(error.to_string().ends_with("status 7"), "{error}");
}

#[tokio::test]
async fn client_can_restart_a_server() {
    let lifelines = Lifelines::open().await;
    let command = lifelines.server(&[]);
    let session = connect(command.clone()).await;
    session.tools_call("exit", ()).await.unwrap_err();
    // CLI-STDIO-09: the known revision makes the probe unnecessary.
    let known = session.protocol_version();
    let builder = McpClientSession::builder().command(command);
    let session = builder.prefer_version(known).build().await.unwrap();
    call(&session, "cwd").await;
    let (first, second) = (lifelines.next().await, lifelines.next().await);
    first.events_until_exit().await;
    session.close().await.unwrap();
    let events = second.events_until_exit().await;
    assert!(
        !events.contains(&"server/discover".to_owned()),
        "{events:?}"
    );
}

#[tokio::test]
async fn standard_error_is_inherited_by_default() {
    // The test runs itself as a child process, to read the standard error of that process.
    let lifelines = Lifelines::open().await;
    let port = lifelines.0.local_addr().unwrap().port();
    let mut inner = std::process::Command::new(std::env::current_exe().unwrap());
    inner
        .args([
            "--exact",
            "process::inherit_standard_error",
            "--ignored",
            "--nocapture",
        ])
        .env("LIFELINE", port.to_string());
    let output = tokio::task::spawn_blocking(move || inner.output()).await;
    let output = output.unwrap().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.contains("ready\n"),
        "{stderr}"
    );
}

#[tokio::test]
#[ignore = "the previous test runs it as a child process"]
async fn inherit_standard_error() {
    let port = std::env::var("LIFELINE").unwrap();
    let session = connect(node("process.mjs").arg(port)).await;
    session.close().await.unwrap();
}
