//! Servers as child processes: how they are started, and how they end, be it well or not.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};
use treenail::client::{ClientError, ClientLimits, ServerCommand, Stderr};
use treenail::prelude::*;

use crate::installed::node;

/// Where servers tell of their lives: the connection of one ends when its process does.
struct Lifelines(TcpListener);

/// One server's.
struct Lifeline(Lines<BufReader<TcpStream>>);

impl Lifelines {
    async fn open() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    /// A server with these manners.
    fn server(&self, manners: &[&str]) -> ServerCommand {
        let port = self.0.local_addr().unwrap().port();
        node("process.mjs")
            .arg(port.to_string())
            .args(manners)
            .stderr(Stderr::Null)
    }

    async fn next(&self) -> Lifeline {
        let (stream, _) = self.0.accept().await.unwrap();
        Lifeline(BufReader::new(stream).lines())
    }
}

impl Lifeline {
    /// What the server has told since, up to its end.
    async fn end(mut self) -> Vec<String> {
        let mut told = Vec::new();
        // A process that is killed may leave a connection that is reset.
        while let Ok(Some(line)) = self.0.next_line().await {
            told.push(line);
        }
        told
    }
}

/// The time for servers that do not end by themselves.
const IMPATIENT: Duration = Duration::from_millis(200);

/// A session whose server ends by itself when it should: no machine is too slow for that.
async fn connect(command: ServerCommand) -> McpClientSession {
    connect_with(command, Duration::from_secs(120)).await
}

/// A session whose server may take this long for each step of its end.
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
async fn a_server_has_the_environment_and_the_folder_that_it_is_given() {
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
async fn lines_of_standard_error_are_passed_on_up_to_the_last() {
    let lifelines = Lifelines::open().await;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&lines);
    let stderr = Stderr::lines(move |line| {
        taken.lock().unwrap().push(line.to_owned());
        assert_ne!(line, "ready", "a panic ends nothing");
    });
    let session = connect(lifelines.server(&[]).stderr(stderr)).await;
    session.close().await.unwrap();
    let lines = lines.lock().unwrap();
    let expected = ["ready", "broken \u{fffd} line", "the end"];
    assert_eq!(*lines, expected, "CLI-STDIO-03, CLI-STDIO-04");
}

#[tokio::test]
async fn much_on_standard_error_holds_nothing_up() {
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
async fn a_program_that_is_not_there_is_named() {
    for program in ["no-such-server", "/no/such/server"] {
        let builder = McpClientSession::builder().command(program);
        let error = builder.build().await.unwrap_err();
        assert!(matches!(error, ClientError::Closed(_)));
        let expected = format!("the connection is closed: `{program}` cannot be started: ");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[tokio::test]
async fn the_end_of_a_server_is_told_to_all_who_wait() {
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
async fn a_server_ends_when_its_input_does() {
    let lifelines = Lifelines::open().await;
    let session = connect(lifelines.server(&["heeds-sigterm"])).await;
    let waiting = tokio::spawn(session.tools_call("wait", ()).into_future());
    let mut life = lifelines.next().await;
    while life.0.next_line().await.unwrap().unwrap() != "tools/call" {}
    session.close().await.unwrap();
    assert_eq!(life.end().await, Vec::<String>::new(), "no signal");
    let error = waiting.await.unwrap().unwrap_err();
    assert!(
        error.to_string().ends_with("has exited with status 0"),
        "{error}"
    );
    session.close().await.expect("closing again is nothing");
}

#[tokio::test]
async fn a_server_that_stays_is_terminated_and_then_killed() {
    // The first needs time to react to the signal.
    let cases = [
        ("heeds-sigterm", "was terminated", 5_000),
        ("ignores-sigterm", "was killed", 200),
    ];
    for (manner, reason, millis) in cases {
        let lifelines = Lifelines::open().await;
        let command = lifelines.server(&["ignores-end-of-input", manner]);
        let session = connect_with(command, Duration::from_millis(millis)).await;
        let life = lifelines.next().await;
        session.close().await.unwrap();
        let told = life.end().await;
        assert_eq!(told.last().unwrap(), "SIGTERM", "CLI-STDIO-08: {manner}");
        let error = session.tools_list(None).await.unwrap_err();
        assert!(error.to_string().ends_with(reason), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_closes_its_output_is_ended() {
    let lifelines = Lifelines::open().await;
    let manners = ["ignores-end-of-input", "ignores-sigterm"];
    let session = connect_with(lifelines.server(&manners), IMPATIENT).await;
    let life = lifelines.next().await;
    let error = session.tools_call("close-output", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Closed(_)), "{error}");
    life.end().await;
}

#[tokio::test]
async fn what_a_server_has_started_ends_with_it() {
    // By itself, when it is closed, and although what it has started has its output.
    for (manner, tool) in [("", "exit"), ("", ""), ("shares-output", "exit")] {
        let lifelines = Lifelines::open().await;
        let session = connect(lifelines.server(&["leaves-a-child", manner])).await;
        let (one, other) = (lifelines.next().await, lifelines.next().await);
        if !tool.is_empty() {
            let error = session.tools_call(tool, ()).await.unwrap_err();
            assert!(error.to_string().ends_with("status 3"), "{error}");
        }
        session.close().await.unwrap();
        let told = [one.end().await, other.end().await].concat();
        assert!(told.contains(&"child".to_owned()), "{told:?}");
    }
}

#[tokio::test]
async fn dropping_the_client_ends_the_server() {
    let lifelines = Lifelines::open().await;
    let builder = McpClient::builder().command(lifelines.server(&["leaves-a-child"]));
    let client = builder.build().await.unwrap();
    let (one, other) = (lifelines.next().await, lifelines.next().await);
    drop(client);
    one.end().await;
    other.end().await;
}

#[test]
fn the_end_of_the_runtime_ends_the_server() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let outer = runtime();
    let lifelines = outer.block_on(Lifelines::open());
    let inner = runtime();
    let manners = ["leaves-a-child", "ignores-end-of-input", "ignores-sigterm"];
    let session = inner.block_on(connect_with(lifelines.server(&manners), IMPATIENT));
    let (one, other) = outer.block_on(async { (lifelines.next().await, lifelines.next().await) });
    drop(inner);
    outer.block_on(async { (one.end().await, other.end().await) });
    let error = outer.block_on(session.tools_list(None).into_future());
    assert!(matches!(error, Err(ClientError::Closed(_))));
}

#[tokio::test]
async fn a_server_that_dies_when_it_is_probed_is_started_again() {
    let lifelines = Lifelines::open().await;
    let session = connect(lifelines.server(&["dies-when-probed"])).await;
    assert!(!session.protocol_version().is_modern(), "CLI-ERA-04");
    call(&session, "cwd").await;
    let (first, second) = (lifelines.next().await, lifelines.next().await);
    assert_eq!(first.end().await, ["begun", "server/discover"]);
    session.close().await.unwrap();
    let greeted = [
        "begun",
        "initialize",
        "notifications/initialized",
        "tools/call",
    ];
    assert_eq!(second.end().await, greeted);

    // Once, and not when it dies again.
    let manners = ["dies-when-probed", "dies-when-greeted"];
    let builder = McpClientSession::builder().command(lifelines.server(&manners));
    let error = builder.build().await.unwrap_err();
    assert!(error.to_string().ends_with("status 7"), "{error}");
}

#[tokio::test]
async fn a_caller_starts_a_server_again() {
    let lifelines = Lifelines::open().await;
    let command = lifelines.server(&[]);
    let session = connect(command.clone()).await;
    session.tools_call("exit", ()).await.unwrap_err();
    // CLI-STDIO-09: with what it is known to speak, it is not probed.
    let known = session.protocol_version();
    let builder = McpClientSession::builder().command(command);
    let session = builder.prefer_version(known).build().await.unwrap();
    call(&session, "cwd").await;
    let (first, second) = (lifelines.next().await, lifelines.next().await);
    first.end().await;
    session.close().await.unwrap();
    let told = second.end().await;
    assert!(!told.contains(&"server/discover".to_owned()), "{told:?}");
}

#[tokio::test]
async fn standard_error_is_that_of_this_process_by_default() {
    // The test starts itself, as a process whose standard error can be looked at.
    let lifelines = Lifelines::open().await;
    let port = lifelines.0.local_addr().unwrap().port();
    let mut inner = std::process::Command::new(std::env::current_exe().unwrap());
    inner
        .args(["--exact", "process::inherits", "--ignored", "--nocapture"])
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
#[ignore = "it is started by the test before it"]
async fn inherits() {
    let port = std::env::var("LIFELINE").unwrap();
    let session = connect(node("process.mjs").arg(port)).await;
    session.close().await.unwrap();
}
