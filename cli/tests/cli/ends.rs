//! How the program ends: the exit codes, and what becomes of a call that nobody waits for.

use crate::run::{run, run_alone};

#[test]
fn a_wrong_command_line_ends_with_2() {
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
        let ended = run_alone(args);
        assert_eq!(ended.code, 2, "{args:?}: {}", ended.stderr);
        assert!(
            ended.stderr.starts_with("error: "),
            "{args:?}: {}",
            ended.stderr
        );
    }
}

#[test]
fn help_tells_the_exit_codes() {
    let help = run_alone(&["--help"]);
    assert_eq!(help.code, 0);
    for line in [
        "  1    the tool was run and failed\n",
        "  130  Ctrl-C: the call was cancelled\n",
    ] {
        assert!(help.stdout.contains(line), "{}", help.stdout);
    }
}

#[test]
fn a_server_that_cannot_be_reached_ends_with_3() {
    let ended = run_alone(&["list", "-c", "no-such-program-at-all"]);
    assert_eq!(ended.code, 3);
    let error = "error: no connection: `no-such-program-at-all` cannot be started: ";
    assert!(ended.stderr.starts_with(error), "{}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn what_a_server_wrote_before_it_ended_is_shown_once() {
    let ended = run_alone(&["list", "-c", "sh -c 'echo bad \u{1b}config >&2; exit 7'"]);
    assert_eq!((ended.code, &*ended.stdout), (3, ""));
    let error = "error: no connection: the server has exited with status 7";
    assert!(ended.stderr.starts_with(error), "{}", ended.stderr);
    // One line of the error, which may say more, and one of the server.
    let note = "\n note: server: bad ␛config\n";
    assert!(ended.stderr.ends_with(note), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 2, "{}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn a_server_that_never_answers_is_given_up() {
    let ended = run_alone(&[
        "list",
        "-c",
        "sh -c 'cat > /dev/null'",
        "--timeout",
        "300ms",
    ]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
}

#[test]
fn a_call_that_takes_too_long_ends_with_5() {
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
        let ended = run(&args);
        assert_eq!((ended.code, &*ended.stdout), (5, ""), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("error: no answer within 2s\n"),
            "{}",
            ended.stderr
        );
        let dropped = "server: the call was dropped\n";
        assert!(
            ended.stderr.contains(dropped),
            "ALL-CANC-03: {revision}: {}",
            ended.stderr
        );
    }
}

#[test]
fn progress_begins_the_time_anew_and_is_not_drawn_into_a_pipe() {
    run(&["call", "steps", "--timeout", "2s"]).check(0, "done\n", "");
}

#[cfg(unix)]
#[test]
fn signals_cancel_the_call() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use rustix::process::{Pid, Signal, kill_process};

    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let args = ["call", "wait", "-v"];
        let mut call = crate::run::command(&crate::run::test_server(), &args);
        call.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = call.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let begun = lines.find(|line| line == "warning: it begins");
        assert!(begun.is_some(), "the call has begun");
        let id = i32::try_from(child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        let rest: Vec<_> = lines.collect();
        let dropped = rest
            .iter()
            .any(|line| line == "server: the call was dropped");
        assert!(dropped, "the server ends in order: {rest:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_prints_a_line_is_quoted_at_once_and_in_the_error() {
    let note = "the server wrote a line that is no message: `Listening on ␛[1mport 80`\n";
    let ended = run_alone(&[
        "list",
        "-c",
        "sh -c 'printf \"Listening on \\033[1mport 80\\n\"'",
    ]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.starts_with(note), "{}", ended.stderr);
    let error = ended.stderr.lines().nth(1).unwrap_or_default();
    assert!(error.starts_with("error: no connection: "), "{error}");
    assert!(
        error.contains("a line that is not a message: `Listening on"),
        "{error}"
    );

    let server = "sh -c 'while read line; do echo oops; done'";
    let ended = run_alone(&["list", "--timeout", "200ms", "-c", server]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("no message: `oops`").count(),
        2,
        "{}",
        ended.stderr
    );
}
