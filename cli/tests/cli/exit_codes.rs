//! Exit codes, and cancellation of calls on timeout and signals.

use crate::process::{run, run_alone};

#[test]
fn invalid_command_line_exits_with_2() {
    for args in [
        &["list"][..],
        &["call", "-c", "x"],
        &["list", "-c", "x", "-u", "http://localhost"],
        &["list", "-c", "x 'y"],
        &["list", "-c", ""],
        &["call", "x", "no-value", "-c", "x"],
        &["list", "-c", "x", "--timeout", "soon"],
        &["list", "-c", "x", "--protocol-version", "2020-01-01"],
        &["list", "-c", "x", "--header", "a: b"],
        &["list", "-u", "http://localhost", "--header", "a"],
        &[
            "list",
            "-u",
            "http://localhost",
            "--header-env",
            "A=NO_SUCH_VARIABLE",
        ],
        &["call", "x", "-c", "x", "--answer", "name"],
    ] {
        let outcome = run_alone(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stderr);
        assert!(
            outcome.stderr.starts_with("error: "),
            "{args:?}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn help_lists_the_exit_codes() {
    let help = run_alone(&["--help"]);
    assert_eq!(help.code, 0);
    for line in [
        "  1    the tool ran and returned an error\n",
        "  130  interrupted by Ctrl-C; the call was cancelled\n",
    ] {
        assert!(help.stdout.contains(line), "{}", help.stdout);
    }
}

#[test]
fn unreachable_server_exits_with_3() {
    let outcome = run_alone(&["list", "-c", "no-such-program-at-all"]);
    assert_eq!(outcome.code, 3);
    let error =
        "error: could not connect to the server: `no-such-program-at-all` cannot be started: ";
    assert!(outcome.stderr.starts_with(error), "{}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn stderr_of_an_exited_server_is_shown_once() {
    let outcome = run_alone(&["list", "-c", "sh -c 'echo bad \u{1b}config >&2; exit 7'"]);
    assert_eq!((outcome.code, &*outcome.stdout), (3, ""));
    let error = "error: could not connect to the server: the server has exited with status 7";
    assert!(outcome.stderr.starts_with(error), "{}", outcome.stderr);
    // One line with the error and one with the output of the server.
    let note = "\n note: server: bad ␛config\n";
    assert!(outcome.stderr.ends_with(note), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 2, "{}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn silent_server_exits_with_3() {
    let outcome = run_alone(&[
        "list",
        "-c",
        "sh -c 'cat > /dev/null'",
        "--timeout",
        "300ms",
    ]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
}

#[test]
fn timed_out_call_exits_with_5() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let args = [
            "call",
            "wait",
            "--timeout",
            "2s",
            "-v",
            "--protocol-version",
            revision,
        ];
        let outcome = run(&args);
        assert_eq!(
            (outcome.code, &*outcome.stdout),
            (5, ""),
            "{}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains("error: no answer within 2s\n"),
            "{}",
            outcome.stderr
        );
        let dropped = "server: the call was dropped\n";
        assert!(
            outcome.stderr.contains(dropped),
            "ALL-CANC-03: {revision}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn progress_resets_the_timeout_and_is_not_drawn_into_a_pipe() {
    // All steps take 5.6 s, and each of them 0.4 s.
    run(&["call", "steps", "count=14", "--timeout", "5s"]).check(0, "done\n", "");
}

#[cfg(unix)]
#[test]
fn signals_cancel_the_call() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use rustix::process::{Pid, Signal, kill_process};

    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let args = ["call", "wait", "-v"];
        let mut call = crate::process::command(&crate::process::test_server(), &args);
        call.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = call.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let started = lines.find(|line| line == "warning: waiting started");
        assert!(started.is_some(), "the call has not started");
        let id = i32::try_from(child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        let rest: Vec<_> = lines.collect();
        let dropped = rest
            .iter()
            .any(|line| line == "server: the call was dropped");
        assert!(dropped, "the server did not shut down cleanly: {rest:?}");
    }
}

#[cfg(unix)]
#[test]
fn stray_output_of_a_server_is_quoted_at_once_and_in_the_error() {
    let note = "the server wrote a line to standard output that is not a message: `Listening on ␛[1mport 80`\n";
    let outcome = run_alone(&[
        "list",
        "-c",
        "sh -c 'printf \"Listening on \\033[1mport 80\\n\"'",
    ]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with(note), "{}", outcome.stderr);
    let error = outcome.stderr.lines().nth(1).unwrap_or_default();
    assert!(
        error.starts_with("error: could not connect to the server: "),
        "{error}"
    );
    assert!(error.contains(": `Listening on"), "{error}");

    let server = "sh -c 'while read line; do echo oops; done'";
    let outcome = run_alone(&["list", "--timeout", "3s", "-c", server]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert_eq!(
        outcome.stderr.matches(": `oops`").count(),
        2,
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_answer_above_the_limit_is_no_fault_of_the_server() {
    let limited = |size| run(&["read", "data://large", "--max-message", size]);
    // With the smaller limit, already the first answer is too long.
    for size in ["100", "100K"] {
        let outcome = limited(size);
        assert_eq!(outcome.code, 8, "{}", outcome.stderr);
        let note = "use --max-message to raise the limit";
        assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    }
    let outcome = limited("64M");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let outcome = limited("many");
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn signals_end_a_write_to_a_reader_that_stalls() {
    use std::io::Read as _;
    use std::process::Stdio;

    use rustix::process::{Pid, Signal, kill_process};

    use crate::process::{command, test_server};

    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for args in [
            &["read", "data://large"][..],
            &["read", "data://large", "--json"],
            &["read", "data://large", "-o", "/dev/stdout"],
            &["read", "data://large", "--json", "-o", "/dev/stdout"],
        ] {
            let mut child = command(&test_server(), args)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // The pipe takes only a part of the rest.
            let mut stdout = child.stdout.take().unwrap();
            stdout.read_exact(&mut [0]).unwrap();
            let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
            kill_process(id, signal).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?}");
        }
    }
}
