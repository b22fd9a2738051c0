//! Ends of `treenail proxy`: its servers see the end of their input, and may finish their work.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rustix::process::{Pid, test_kill_process};
use treenail::McpClient;
use treenail::client::{ServerCommand, ServerNotification};
use treenail::schema::{LoggingLevel, LoggingMessageNotification};

use super::server;

/// Runs a proxy of a server that writes a file after its end, and ends the proxy with a signal, or with its input.
fn ends_with(signal: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    let script = format!("'{}'; echo saved > '{}'", server(), saved.display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
    command.args(["proxy", "--", "sh", "-c", &script]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut proxy = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(proxy.stderr.take().unwrap()).lines();
    let connected = notes.find(|note| note.as_ref().unwrap().contains(": connected"));
    assert!(connected.is_some(), "the server is connected");
    std::thread::spawn(move || notes.for_each(drop));
    // Waiting would close it.
    let mut input = proxy.stdin.take();
    let code = match signal {
        None => {
            drop(input.take());
            0
        }
        Some(signal) => {
            let id = proxy.id().to_string();
            let sent = Command::new("kill").args([signal, &id]).status();
            assert!(sent.unwrap().success());
            if signal == "-INT" { 130 } else { 143 }
        }
    };
    assert_eq!(proxy.wait().unwrap().code(), Some(code), "{signal:?}");
    drop(input);
    assert_eq!(fs::read_to_string(saved).unwrap(), "saved\n", "{signal:?}");
}

#[test]
fn a_server_may_finish_its_work_after_every_end_of_the_proxy() {
    // CLI-STDIO-08
    for signal in [None, Some("-TERM"), Some("-INT")] {
        ends_with(signal);
    }
}

#[tokio::test]
async fn a_host_that_quits_during_a_call_leaves_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("id");
    let script = format!("echo $$ > '{}'; exec '{}'", file.display(), server());
    let proxy = ServerCommand::new(env!("CARGO_BIN_EXE_treenail"));
    let proxy = proxy.args(["proxy", "--", "sh", "-c", &script]);
    // Its limits are those of the official SDKs: 2 s after the end of input SIGTERM, and 2 s after that SIGKILL.
    let host = McpClient::builder().command(proxy).build().await.unwrap();
    let mut notifications = host.session().notifications();
    let call = host.call_tool("wait", ()).log_level(LoggingLevel::Info);
    let call = tokio::spawn(call.into_future());
    let is_message = |it: ServerNotification| it.decode::<LoggingMessageNotification>().is_some();
    while !is_message(notifications.next().await.unwrap()) {}
    host.close().await.unwrap();
    call.await.unwrap().unwrap_err();
    let id = fs::read_to_string(file).unwrap().trim().parse().unwrap();
    assert!(test_kill_process(Pid::from_raw(id).unwrap()).is_err());
}
