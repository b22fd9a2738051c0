//! Environment of servers that are child processes.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use treenail::client::{ClientLimits, LineSession, ServerCommand, Session, SessionRequest};
use treenail::jsoncall::JsoncallSession;

/// A server that returns two variables: one of the short list of inherited variables, and one that Cargo sets for
/// tests, in place of a secret.
fn server() -> ServerCommand {
    let script = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"path":"'"${PATH:-none}"'","secret":"'"${CARGO_PKG_NAME-none}"'"}}'; cat > /dev/null"#;
    ServerCommand::new("sh").args(["-c", script])
}

/// Returns the variables of the server over both kinds of sessions.
async fn variables(command: &ServerCommand) -> Vec<String> {
    let limits = ClientLimits::default();
    let line: LineSession = command.start(&limits).unwrap();
    let jsoncall = JsoncallSession::command(command, &limits).unwrap();
    let sessions: [Arc<dyn Session>; 2] = [Arc::new(line), Arc::new(jsoncall)];
    let mut answers = Vec::new();
    for session in sessions {
        let request = SessionRequest::new(1, "ping", "{}".to_owned());
        answers.push(session.request(request).await.unwrap());
        session.close().await.unwrap();
    }
    answers
}

fn expected(secret: &str) -> String {
    let path = std::env::var("PATH").unwrap();
    serde_json::json!({ "path": path, "secret": secret }).to_string()
}

#[tokio::test]
async fn a_server_inherits_no_secrets() {
    let secret = std::env::var("CARGO_PKG_NAME").unwrap();
    let answers = variables(&server()).await;
    assert_eq!(answers, [expected("none"), expected("none")]);
    // The command can pass on more variables.
    let answers = variables(&server().inherit_env()).await;
    assert_eq!(answers, [expected(&secret), expected(&secret)]);
    let answers = variables(&server().env("CARGO_PKG_NAME", "set")).await;
    assert_eq!(answers, [expected("set"), expected("set")]);
    let command = server().inherit_env().env_remove("CARGO_PKG_NAME");
    let answers = variables(&command).await;
    assert_eq!(answers, [expected("none"), expected("none")]);
}

#[tokio::test]
async fn a_server_that_exits_on_the_probe_can_still_be_modern() {
    let folder = tempfile::tempdir().unwrap();
    // It exits the first time, and rejects the handshake the second time.
    let script = r#"
        [ -e started ] || { touch started; read line; exit 1; }
        read line
        echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}'
        read line
        echo '{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}'
        cat > /dev/null
    "#;
    let command = ServerCommand::new("sh")
        .args(["-c", script])
        .current_dir(folder.path());
    let builder = treenail::McpClientSession::builder().command(command);
    let session = builder.build().await.unwrap();
    assert_eq!(
        session.protocol_version(),
        treenail::schema::Revision::LATEST
    );
    session.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_exit_is_killed_after_two_timeouts() {
    let script = r#"
        trap '' TERM
        read line
        echo '{"jsonrpc":"2.0","id":1,"result":{}}'
        sleep 1000
    "#;
    let command = ServerCommand::new("sh").args(["-c", script]);
    let limits = ClientLimits::default().shutdown_timeout(Duration::from_secs(3));
    let line: LineSession = command.start(&limits).unwrap();
    let jsoncall = JsoncallSession::command(&command, &limits).unwrap();
    let sessions: [Arc<dyn Session>; 2] = [Arc::new(line), Arc::new(jsoncall)];
    for session in sessions {
        let request = SessionRequest::new(1, "ping", "{}".to_owned());
        session.request(request).await.unwrap();
        let start = Instant::now();
        session.close().await.unwrap();
        assert_eq!(
            start.elapsed().as_secs(),
            6,
            "SIGTERM after 3 s, SIGKILL after 6 s"
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_asks_at_the_terminal_is_reported() {
    // As the kernel does to a process in the background that reads from the terminal.
    let command = ServerCommand::new("sh").args(["-c", "kill -TTIN $$; cat"]);
    let session = command.start(&ClientLimits::default()).unwrap();
    let request = SessionRequest::new(1, "ping", "{}".to_owned());
    let error = session.request(request).await.unwrap_err().to_string();
    assert!(error.contains("asked at the terminal"), "{error}");
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_missing_directory_is_not_reported_as_a_missing_program() {
    let command = ServerCommand::new("sh").current_dir("/no/such directory");
    let error = command.start(&ClientLimits::default()).unwrap_err();
    let error = error.to_string();
    let expected =
        "`sh` cannot be started: its working directory `/no/such directory` is not a directory";
    assert!(error.ends_with(expected), "{error}");
}

#[tokio::test]
async fn a_command_line_is_not_a_program() {
    let error = |command: &str| {
        let started = ServerCommand::new(command).start(&ClientLimits::default());
        started.unwrap_err().to_string()
    };
    let hint = "its arguments must be separate from it";
    assert!(error("no-such-server -y").ends_with(hint));
    assert!(!error("no-such-server").contains(hint));
}
