//! The environment of servers that are child processes.

use std::sync::Arc;

use treenail::client::{ClientLimits, LineSession, ServerCommand, Session, SessionRequest};
use treenail::jsoncall::JsoncallSession;

/// A server that answers with two variables: one of the short list, and one that Cargo sets for tests, like a secret.
fn server() -> ServerCommand {
    let script = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"path":"'"${PATH:-none}"'","secret":"'"${CARGO_PKG_NAME-none}"'"}}'; cat > /dev/null"#;
    ServerCommand::new("sh").args(["-c", script])
}

/// What the server answers over both kinds of sessions.
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
    // More is handed over where that is asked for.
    let answers = variables(&server().inherit_env()).await;
    assert_eq!(answers, [expected(&secret), expected(&secret)]);
    let answers = variables(&server().env("CARGO_PKG_NAME", "set")).await;
    assert_eq!(answers, [expected("set"), expected("set")]);
    let command = server().inherit_env().env_remove("CARGO_PKG_NAME");
    let answers = variables(&command).await;
    assert_eq!(answers, [expected("none"), expected("none")]);
}
