//! Ends of `treenail dev`, after which no process is left.

use std::io::Write;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use treenail::client::{HttpClientBuilderExt as _, Session};
use treenail::schema::Revision;

use super::project::{Project, is_running};

#[tokio::test]
async fn the_end_of_input_ends_the_server() {
    let project = Project::new("before");
    let client = project.connect(Revision::V2025_11_25).await;
    let server = project.server_id();
    client.close().await.unwrap();
    assert!(!is_running(server));
}

#[test]
fn signals_end_the_server() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let project = Project::new("before");
        let mut dev = Command::new(env!("CARGO_BIN_EXE_treenail"));
        dev.args([
            "dev",
            "--build",
            "sh build.sh",
            "--watch",
            "source",
            "--",
            "sh",
            "run.sh",
        ]);
        dev.current_dir(project.path("."));
        let mut dev = dev
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let request = r#"{"jsonrpc":"2.0","id":"one","method":"ping"}"#;
        let mut input = dev.stdin.take().unwrap();
        writeln!(input, "{request}").unwrap();
        let mut answer = String::new();
        let stdout = dev.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut answer).unwrap();
        assert!(answer.contains(r#""id":"one""#), "{answer}");
        let server = project.server_id();
        assert!(is_running(server));
        let id = i32::try_from(dev.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
        assert_eq!(dev.wait().unwrap().code(), Some(code));
        assert!(!is_running(server));
    }
}

#[tokio::test]
async fn a_running_build_is_killed() {
    let project = Project::new("before");
    project.write(
        "build.sh",
        "echo $$ > pid; echo started >&2; exec sleep 1000\n",
    );
    let limits = treenail::client::ClientLimits::default();
    let session = project.command(&[]).start(&limits).unwrap();
    project.stderr.wait_for("started", 1).await;
    let build = project.server_id();
    session.close().await.unwrap();
    assert!(!is_running(build));
}

/// Starts `treenail dev --http` at a free port, and returns its session and its URL.
fn dev_over_http(project: &Project) -> (impl Session + use<>, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let url = format!("http://{address}/mcp");
    let build = ["--build", "sh build.sh", "--watch", "source"];
    let words = [
        &["dev", "--http", &url][..],
        &build,
        &["--", "sh", "run.sh", &address],
    ];
    let limits = treenail::client::ClientLimits::default();
    (project.dev(&words.concat()).start(&limits).unwrap(), url)
}

#[tokio::test]
async fn a_server_over_http_is_restarted_at_its_port() {
    let project = Project::new("before");
    let (session, url) = dev_over_http(&project);
    project.stderr.wait_for("the server runs at ", 1).await;
    let client = treenail::McpClient::builder()
        .url(&url)
        .build()
        .await
        .unwrap();
    assert_eq!(
        super::project::description(&client, "forecast").await,
        "Daily forecast."
    );
    project.write("source", "broken");
    project.stderr.wait_for("the old server stays", 1).await;
    project.write("source", "after");
    project.stderr.wait_for("the server runs at ", 2).await;
    let client = treenail::McpClient::builder()
        .url(&url)
        .build()
        .await
        .unwrap();
    assert_eq!(
        super::project::description(&client, "forecast").await,
        "Daily forecast. Call `forget` first."
    );
    let server = project.server_id();
    session.close().await.unwrap();
    assert!(!is_running(server));
}

#[tokio::test]
async fn a_server_that_opens_no_port_is_replaced_by_the_next_build() {
    let project = Project::new("hanging");
    let hang = "if grep -q hanging built; then echo hangs >&2; exec sleep 1000; fi";
    project.write("run.sh", &Project::run_script(hang));
    let (session, _) = dev_over_http(&project);
    project.stderr.wait_for("hangs", 1).await;
    let hanging = project.server_id();
    project.write("source", "before");
    project.stderr.wait_for("the server runs at ", 1).await;
    assert!(!is_running(hanging));
    assert!(!project.stderr.contain("no connection to "));
    session.close().await.unwrap();
}
