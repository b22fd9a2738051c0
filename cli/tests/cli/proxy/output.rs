//! Output of servers behind `treenail proxy` that is no message, on standard error and standard output.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::json;

use super::{server, through_proxy};

#[test]
fn stray_output_of_a_server_with_a_directory_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let script = format!("echo oops from $(basename $PWD); exec '{}'", server());
    let config = json!({"mcpServers": {
        "stray": {"command": "sh", "args": ["-c", script], "cwd": folder.path()},
    }});
    fs::write(&file, config.to_string()).unwrap();
    let args = ["call", "stray.add", "a=1", "b=2", "--verbose"];
    let outcome = through_proxy(&args, &["--config", file.to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.stdout.trim()), (0, "3"));
    let folder = folder.path().file_name().unwrap().to_str().unwrap();
    let note = format!("output that is not a message: `oops from {folder}`");
    assert!(outcome.stderr.contains(&note), "{}", outcome.stderr);
}

#[test]
fn standard_error_of_a_server_that_does_not_start_is_shown() {
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_treenail"));
    proxy.args(["proxy", "-s", "odd=sh -c 'echo no such table >&2; exit 2'"]);
    proxy.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut proxy = proxy.stderr(Stdio::piped()).spawn().unwrap();
    let notes = BufReader::new(proxy.stderr.take().unwrap()).lines();
    // Further attempts to connect have notes, too.
    let mut notes = notes.map(Result::unwrap).take(20);
    let line = "server `odd` wrote: no such table";
    assert!(notes.any(|note| note.contains(line)));
    drop(proxy.stdin.take());
    proxy.wait().unwrap();
}

#[test]
fn standard_error_is_shown_again_after_a_connection() {
    let folder = tempfile::tempdir().unwrap();
    let (ready, id) = (folder.path().join("ready"), folder.path().join("id"));
    let script = format!(
        "if [ -e '{}' ]; then echo $$ > '{}'; exec '{}'; fi; echo no such table >&2; exit 2",
        ready.display(),
        id.display(),
        server()
    );
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_treenail"));
    proxy.args(["proxy", "--", "sh", "-c", &script]);
    proxy.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut proxy = proxy.stderr(Stdio::piped()).spawn().unwrap();
    let notes = BufReader::new(proxy.stderr.take().unwrap()).lines();
    let mut notes = notes.map(Result::unwrap).take(20);
    let mut is_noted = |text| notes.any(|note| note.contains(text));
    assert!(is_noted("wrote: no such table"));
    fs::write(&ready, "").unwrap();
    assert!(is_noted(": connected"));
    fs::remove_file(&ready).unwrap();
    let id = fs::read_to_string(&id).unwrap();
    let killed = Command::new("kill").arg(id.trim()).status().unwrap();
    assert!(killed.success());
    assert!(is_noted("wrote: no such table"));
    drop(proxy.stdin.take());
    proxy.wait().unwrap();
}
