//! `treenail proxy` over HTTP.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};

use super::server;
use crate::http::HttpServer;
use crate::process::{outcome_of, run_alone};

/// `treenail proxy --http`, which ends on drop.
struct HttpProxy {
    process: Child,
    url: String,
}

impl HttpProxy {
    fn start(options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
        command
            .args(["proxy", "--http", "127.0.0.1:0"])
            .args(options);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let notes = BufReader::new(process.stderr.take().unwrap());
        let mut notes = notes.lines().map(Result::unwrap);
        let url = notes.find_map(|note| Some(note.strip_prefix("serving ")?.to_owned()));
        let url = url.expect("the proxy prints its URL");
        // Otherwise it could not print any more.
        std::thread::spawn(move || notes.for_each(drop));
        Self { process, url }
    }
}

impl Drop for HttpProxy {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn servers_over_http_and_stdio_are_served_over_http() {
    let far = HttpServer::start_mode("http");
    let (near, far) = (format!("near='{}'", server()), format!("far={}", far.url));
    let proxy = HttpProxy::start(&["-s", &near, "-s", &far]);
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        for namespace in ["near", "far"] {
            let at = ["--url", &proxy.url, "--protocol-version", revision];
            let add = format!("{namespace}.add");
            run_alone(&[&["call", &add, "a=1", "b=2"][..], &at].concat()).check(0, "3\n", "");
            let book = format!("{namespace}.book");
            let answers = ["--answer", "name=Ada", "--answer", "room=Single"];
            let expected = "Ada, 2 nights, single, note: none\n";
            let booked = run_alone(&[&["call", &book][..], &answers, &at].concat());
            booked.check(0, expected, "");
        }
    }
}

#[test]
fn a_call_of_a_server_without_tasks_becomes_a_task_of_the_proxy() {
    let state = tempfile::tempdir().unwrap();
    let proxy = HttpProxy::start(&["--tasks", "--", &server()]);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
        command.env("XDG_STATE_HOME", state.path()).args(args);
        command.args(["--url", &proxy.url, "--protocol-version", "2025-11-25"]);
        outcome_of(command.stdin(Stdio::null()).output().unwrap())
    };
    let started = run(&["call", "add", "a=1", "b=2", "--detach"]);
    assert!(
        started.code == 0 && started.stderr.contains("treenail task wait"),
        "{}",
        started.stderr
    );
    run(&["task", "wait", started.stdout.trim()]).check(0, "3\n", "");
}

#[test]
fn no_server_is_started_for_an_address_that_cannot_be_used() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let taken = (taken.local_addr().unwrap().to_string(), taken);
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let script = format!("touch '{}'; exec '{}'", started.display(), server());
    for (address, code) in [
        (&*taken.0, 8),
        ("999", 2),
        ("127.0.0.1:99999", 2),
        (":80", 2),
    ] {
        let outcome = run_alone(&["proxy", "--http", address, "--", "sh", "-c", &script]);
        assert_eq!(outcome.code, code, "{address}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(address), "{}", outcome.stderr);
        assert!(!started.exists(), "{address}");
    }
}
