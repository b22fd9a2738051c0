//! Hints in errors of the first minutes.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use crate::http::HttpServer;
use crate::process::{Outcome, run, run_alone};

#[track_caller]
fn check(outcome: &Outcome, code: i32, hint: &str) {
    assert_eq!(outcome.code, code, "{}", outcome.stderr);
    assert!(outcome.stderr.contains(hint), "{}", outcome.stderr);
}

#[test]
fn a_json_object_is_the_value_of_an_option() {
    let object = format!("{{\"text\": \"{}\"}}", "a=b".repeat(4_000));
    for at in [
        &["--", "my-server"][..],
        &["--url", "http://127.0.0.1:9/mcp"],
    ] {
        let outcome = run_alone(&[&["call", "add", &object], at].concat());
        check(&outcome, 2, "is the value of `--args`");
        assert!(!outcome.stderr.contains("tip:"), "{}", outcome.stderr);
        assert!(outcome.stderr.len() < 1_000, "{}", outcome.stderr);
    }
}

#[test]
fn a_missing_server_is_explained() {
    let cases = [
        (&["list"][..], "as in `treenail list -- my-server`"),
        (
            &["list", "tools"],
            "as in `treenail list tools -- my-server`",
        ),
        (
            &["call", "add", "a=1"],
            "as in `treenail call add a=1 -- my-server`",
        ),
        (
            &["info"],
            "or connect to one with `--url http://127.0.0.1:8080/mcp`",
        ),
        (
            &["list", "npx", "-y", "some"],
            "`treenail list -- npx -y some`",
        ),
        (&["list", "my-server"], "`treenail list -- my-server`"),
        (&["info", "npx", "some"], "`treenail info -- npx some`"),
        (
            &["call", "add", "a=1", "npx", "-y"],
            "`treenail call add a=1 -- npx -y`",
        ),
        (&["read", "a://b", "npx"], "`treenail read a://b -- npx`"),
        (
            &["check", "some.lock.json", "npx"],
            "`treenail check some.lock.json -- npx`",
        ),
    ];
    for (args, hint) in cases {
        let outcome = run_alone(args);
        check(&outcome, 2, hint);
        assert_eq!(
            outcome.stderr.matches("tip:").count(),
            1,
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn tls_and_plain_ports_are_not_confused() {
    let server = HttpServer::start_mode("http");
    let url = server.url.replace("http:", "https:");
    check(
        &run_alone(&["list", "--url", &url]),
        3,
        "use `http://` in the URL",
    );

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map(Result::unwrap) {
            // The answer of TLS to something else: a fatal alert.
            let _ = (&stream).read(&mut [0; 1024]);
            let _ = (&stream).write_all(&[0x15, 3, 3, 0, 2, 2, 10]);
        }
    });
    check(
        &run_alone(&["list", "--url", &url]),
        3,
        "use `https://` in the URL",
    );
}

#[test]
fn a_missing_path_is_proposed() {
    let server = HttpServer::start_mode("http");
    let root = server.url.strip_suffix("/mcp").unwrap();
    let hint = format!("the URL has no path; most servers use `{}`", server.url);
    for revision in [&[][..], &["--protocol-version", "2026-07-28"]] {
        let outcome = run_alone(&[&["list", "--url", root][..], revision].concat());
        check(&outcome, 4, &hint);
    }
}

#[cfg(unix)]
#[test]
fn the_message_of_a_panic_is_shown_instead_of_its_backtrace() {
    let mut script =
        "echo \"thread 'main' panicked at src/main.rs:3:5:\" >&2; echo 'no database' >&2; "
            .to_owned();
    script += "echo 'stack backtrace:' >&2; for frame in 1 2 3 4 5 6 7 8 9 10 11 12; do ";
    script +=
        "echo \"  $frame: main\" >&2; echo '             at ./src/main.rs:3:5' >&2; done; exit 101";
    let outcome = run_alone(&["list", "--", "sh", "-c", &script]);
    let notes =
        " note: server: thread 'main' panicked at src/main.rs:3:5:\n note: server: no database\n";
    check(&outcome, 3, notes);
    assert!(!outcome.stderr.contains("./src"), "{}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn a_server_that_prints_and_exits_is_explained() {
    let outcome = run_alone(&["list", "--", "sh", "-c", "echo 'usage: my-server COMMAND'"]);
    check(
        &outcome,
        3,
        "a line that is not a message: `usage: my-server COMMAND`",
    );
    check(
        &outcome,
        3,
        "a server on standard streams reads messages until its input ends",
    );
}

#[test]
fn an_argument_that_is_given_is_not_proposed() {
    let outcome = run(&["call", "add", "a=1", "aa=2"]);
    check(&outcome, 2, "- unknown argument `aa`\n");
    check(&run(&["call", "add", "aa=2"]), 2, "did you mean `a`?");
    // The server checks a JSON object itself.
    let given = |arguments| run(&["call", "order", "--args", arguments]).stderr;
    let error = given(r#"{"id": 1, "expres": true, "express": false}"#);
    assert!(
        error.contains("/expres: unknown argument; known arguments"),
        "{error}"
    );
    let error = given(r#"{"id": 1, "expres": true}"#);
    assert!(error.contains("did you mean `express`?"), "{error}");
}
