//! `treenail dev` with a Cargo package.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};
use treenail::schema::Revision;

use super::project::{Project, connect, description};
use crate::terminal::Terminal;

const MANIFEST: &str =
    "[package]\nname = \"tiny-server\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";

/// Server without dependencies, which compiles fast.
const SERVER: &str = r##"
use std::io::{BufRead, Write};

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let Some((_, id)) = line.split_once("\"id\":") else { continue };
        let id = id.split(',').next().unwrap();
        let result = if line.contains("\"initialize\"") {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1"}}"#.to_owned()
        } else {
            let description = include_str!("description.txt").trim();
            format!(r#"{{"tools":[{{"name":"hello","description":"{description}","inputSchema":{{"type":"object"}}}}]}}"#)
        };
        println!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        std::io::stdout().flush().unwrap();
    }
}
"##;

#[tokio::test]
async fn a_package_is_built_and_restarted() {
    let project = Project::new("unused");
    fs::create_dir(project.path("src")).unwrap();
    project.write("Cargo.toml", MANIFEST);
    project.write("src/main.rs", SERVER);
    project.write("src/description.txt", "one");
    let target = project.path("target");
    let command = project.dev(&["dev", "--bin", "tiny-server"]);
    let command = command
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_NET_OFFLINE", "true");
    let client = connect(command, Revision::V2025_11_25).await;
    assert_eq!(description(&client, "hello").await, "one");
    let mut notifications = client.session().notifications();
    // A file that the compiler reads, but that is no Rust source.
    project.write("src/description.txt", "two");
    let changed = notifications.next().await.unwrap();
    assert_eq!(changed.method, "notifications/tools/list_changed");
    assert_eq!(description(&client, "hello").await, "two");

    project.write("src/main.rs", &SERVER.replace("fn main()", "fn main"));
    let log = notifications.next().await.unwrap();
    let log: Value = serde_json::from_str(&log.params).unwrap();
    let text = log["data"].as_str().unwrap();
    assert!(text.contains("--> src/main.rs"), "{text}");
    assert_eq!(description(&client, "hello").await, "two");

    project.write("src/main.rs", &SERVER.replace("trim()", "trim_start()"));
    let changed = notifications.next().await.unwrap();
    assert_eq!(changed.method, "notifications/tools/list_changed");
    let result = client.call_tool("hello", json!({})).await;
    assert!(result.is_err(), "the server has no call");
    client.close().await.unwrap();
}

#[test]
fn compiler_messages_at_a_terminal_have_no_colours_if_the_user_wants_none() {
    let project = Project::new("unused");
    let cargo = project.path("cargo");
    fs::write(&cargo, "#!/bin/sh\necho \"cargo $*\" >&2\nexit 1\n").unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let mut dev = Command::new(env!("CARGO_BIN_EXE_treenail"));
    dev.arg("dev")
        .current_dir(project.path("."))
        .env("CARGO", cargo);
    // It sets NO_COLOR.
    let mut terminal = Terminal::run(dev);
    terminal.expect("cargo build --message-format=json\n");
    terminal.interrupt();
    terminal.expect_exit(130, "");
}
