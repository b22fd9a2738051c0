//! The OAuth client with authorization servers that others wrote.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use treenail::auth::{ClientCredentials, Clock, Dpop, OAuth, SigningKey};
use treenail::prelude::*;

use super::browser::callback;
use super::guarded::Bound;
use crate::programs::venv_python;

/// Authorization server in another process.
struct Program {
    /// The process, which ends when this is dropped.
    _process: Child,
    /// The rest of its output. Without a reader, the process would fail to write.
    _output: Lines<BufReader<ChildStdout>>,
    /// The first line of its output.
    line: String,
}

impl Program {
    async fn start(program: impl AsRef<OsStr>, arguments: &[&str]) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/authorization");
        let mut process = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the program can be started; run `tests/install`");
        let output = process.stdout.take().expect("standard output is piped");
        let mut output = BufReader::new(output).lines();
        let line = output.next_line().await;
        let line = line.expect("standard output is UTF-8");
        Self {
            _process: process,
            _output: output,
            line: line.expect("the program prints its URL; run `tests/install`"),
        }
    }
}

/// Returns the text of a result.
async fn call(client: &McpClient, tool: &str) -> String {
    let arguments = serde_json::json!({ "text": "x" });
    let arguments = if tool == "write" {
        arguments
    } else {
        serde_json::json!({})
    };
    let result = client.call_tool(tool, arguments).await;
    let result = result.unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert_ne!(result.is_error, Some(true), "{tool}: {result:?}");
    let content = serde_json::to_value(&result.content[0]).expect("content is JSON");
    content["text"].as_str().unwrap_or_default().to_owned()
}

async fn connect(url: &str, oauth: OAuth) -> McpClient {
    let client = McpClient::builder()
        .url(url)
        .authorization(oauth)
        .build()
        .await;
    client.expect("the client signs in")
}

#[tokio::test]
async fn oidc_provider_registers_signs_in_steps_up_and_renews() {
    let bound = Bound::new(Clock::system()).await;
    let url = bound.url.clone();
    let provider = Program::start("node", &["provider.mjs", &url, "bearer"]).await;
    let running = bound.serve(&provider.line);
    let clock = Clock::manual(SystemTime::now());
    let oauth = OAuth::callback("Interop", callback()).clock(clock.clone());
    let client = connect(&url, oauth).await;
    assert_eq!(call(&client, "whoami").await, "alice: files:read");
    assert_eq!(call(&client, "write").await, "written");
    assert_eq!(
        call(&client, "whoami").await,
        "alice: files:read files:write"
    );
    // The client renews its token, though the server would still accept it.
    clock.advance(Duration::from_secs(3600));
    assert_eq!(
        call(&client, "whoami").await,
        "alice: files:read files:write"
    );
    client.close().await.expect("the session ends");
    running.close().await;
}

#[tokio::test]
async fn oidc_provider_binds_tokens_to_a_key() {
    let bound = Bound::new(Clock::system()).await;
    let url = bound.url.clone();
    let provider = Program::start("node", &["provider.mjs", &url, "dpop"]).await;
    let running = bound.serve_with(&provider.line, |authorization| {
        authorization.dpop(Dpop::required())
    });
    let clock = Clock::manual(SystemTime::now());
    let oauth = OAuth::callback("Interop", callback()).clock(clock.clone());
    let client = connect(&url, oauth.dpop()).await;
    assert_eq!(call(&client, "whoami").await, "alice: files:read");
    clock.advance(Duration::from_secs(60));
    assert_eq!(call(&client, "write").await, "written");
    client.close().await.expect("the session ends");
    running.close().await;
}

#[tokio::test]
async fn oidc_provider_accepts_the_key_of_a_client_without_a_user() {
    let bound = Bound::new(Clock::system()).await;
    let url = bound.url.clone();
    let key = SigningKey::generate().expect("the system has random numbers");
    let key = key.key_id("2026");
    let public = key.public_jwk().to_string();
    let provider = Program::start("node", &["provider.mjs", &url, "bearer", &public]).await;
    let running = bound.serve(&provider.line);
    let credentials = ClientCredentials::private_key("service", key);
    let credentials = credentials.issuer(provider.line.as_str());
    let client = connect(&url, OAuth::client_credentials(credentials)).await;
    assert_eq!(call(&client, "whoami").await, "service: files:read");
    client.close().await.expect("the session ends");
    running.close().await;
}

#[tokio::test]
async fn the_python_sdk_registers_signs_in_and_renews() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
    let server = Program::start(venv_python(&folder), &["authorization_server.py"]).await;
    let clock = Clock::manual(SystemTime::now());
    let oauth = OAuth::callback("Interop", callback()).clock(clock.clone());
    let client = connect(&server.line, oauth).await;
    assert_eq!(call(&client, "whoami").await, "alice");
    clock.advance(Duration::from_secs(3600));
    assert_eq!(call(&client, "whoami").await, "alice");
    client.close().await.expect("the session ends");
}
