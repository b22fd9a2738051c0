//! Ends of `treenail proxy`: its servers see the end of their input, and may finish their work.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

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
