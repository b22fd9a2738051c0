//! Approval of calls without a user: options, names and annotations.

use std::process::Command;

use super::{chat, last_message, run};
use crate::fake::{Endpoint, Reply};
use crate::process::test_server;

#[test]
fn calls_are_denied_if_no_user_is_available() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "echo", r#"{"text": "a"}"#)]),
        Reply::text("Well."),
    ]);
    let outcome = run(chat(&endpoint, &["Say a"]));
    assert_eq!((outcome.code, &*outcome.stdout), (0, "Well.\n"));
    let note = "denied `echo` of `test`: no user is available to approve the call (use --approve test:echo)\n";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    endpoint.asked();
    let message = last_message(&endpoint.asked());
    let text = message["content"].as_str().unwrap().to_owned();
    assert!(
        text.contains("no user is available to approve the call"),
        "{text}"
    );
}

#[test]
fn annotations_of_untrusted_servers_are_ignored() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "add", r#"{"a": 1}"#)]),
        Reply::text("Well."),
    ]);
    let outcome = run(chat(&endpoint, &["1 + 1?"]));
    assert!(
        outcome.stderr.contains("denied `add` of `test`"),
        "CLI-TOOL-03: {}",
        outcome.stderr
    );
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "add", r#"{"a": 1}"#)]),
        Reply::text("Well."),
    ]);
    let outcome = run(chat(&endpoint, &["--trust", "test", "1 + 1?"]));
    assert!(
        outcome.stderr.contains("done: add  2\n"),
        "{}",
        outcome.stderr
    );
}

/// Adds a second server whose tools imitate the names of other tools.
fn with_rogue(endpoint: &Endpoint, args: &[&str]) -> Command {
    let mut command = chat(endpoint, args);
    command.arg(format!("--server=evil='{}' rogue", test_server().display()));
    command
}

#[test]
fn approval_does_not_apply_to_imitated_names() {
    let cases: [(&[&str], &str, &str); 4] = [
        (&["--approve=test:echo"], "test:echo", "test:echo"),
        (&["--approve=test"], "evil__test", "test"),
        (&["--approve=echo", "--trust=test"], "evil__echo", "echo"),
        (&["--approve=test:echo"], "evil__echo", "echo"),
    ];
    for (args, called, tool) in cases {
        let endpoint = Endpoint::start([
            Reply::calls(&[
                ("c1", called, "{}"),
                ("c2", "test__echo", r#"{"text": "a"}"#),
            ]),
            Reply::text("Well."),
        ]);
        let outcome = run(with_rogue(&endpoint, &[args, &["Go"]].concat()));
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let note = format!("denied `{tool}` of `evil`");
        assert!(
            outcome.stderr.contains(&note),
            "{args:?}: {}",
            outcome.stderr
        );
        let done = "done: test__echo  a\n";
        assert!(
            outcome.stderr.contains(done),
            "{args:?}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn bare_tool_name_is_approved_on_trusted_servers() {
    for (args, called) in [
        (
            &["--approve=echo", "--trust=evil", "--trust=test"][..],
            "evil__echo",
        ),
        (&["--approve=evil"], "evil__echo"),
        (&["--approve=evil:test:echo"], "test:echo"),
    ] {
        let endpoint =
            Endpoint::start([Reply::calls(&[("c1", called, "{}")]), Reply::text("Well.")]);
        let outcome = run(with_rogue(&endpoint, &[args, &["Go"]].concat()));
        let done = "  hijacked\n";
        assert!(
            outcome.stderr.contains(done),
            "{args:?}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn invalid_approvals_are_reported_at_the_start() {
    let endpoint = Endpoint::start([]);
    let refused = |args: &[&str]| run(with_rogue(&endpoint, &[args, &["Go"]].concat()));
    let message = "error: invalid value `other:echo` for --approve: unknown server `other`; expected SERVER, SERVER:TOOL or TOOL\n";
    refused(&["--approve=other:echo"]).check(2, "", message);
    let message = "error: invalid value `echo` for --approve: no server has this name, and no tool of the only server or of a server with --trust; use SERVER:TOOL\n";
    refused(&["--approve=echo"]).check(2, "", message);
    let message = message.replace("echo", "nothing");
    let message = message.as_str();
    refused(&["--trust=test", "--approve=nothing"]).check(2, "", message);
    refused(&["--approve=evil", "--approve=nothing"]).check(2, "", message);

    let endpoint = Endpoint::start([Reply::text("Well.")]);
    let outcome = run(with_rogue(&endpoint, &["--approve=test:nothing", "Go"]));
    outcome.check(
        0,
        "Well.\n",
        "--approve `test:nothing`: the server currently does not have this tool\n",
    );
}
