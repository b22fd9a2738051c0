//! `treenail chat` with a single answer, against a fake model endpoint.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::fake::{Asked, Endpoint, Reply};
use crate::http::HttpServer;
use crate::process::{Outcome, outcome_of, test_server};

/// Returns the program with a model at the endpoint and with the test server.
pub(crate) fn chat(endpoint: &Endpoint, args: &[&str]) -> Command {
    let mut command = without_server(&["--base-url", &endpoint.url]);
    let server = test_server();
    command.arg(format!("--server=test='{}'", server.display()));
    command.args(args);
    command
}

/// Returns the program with a model and without a server.
pub(crate) fn without_server(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
    command.args(["chat", "--model", "fake-1"]).args(args);
    command.env_remove("CLICOLOR_FORCE");
    for variable in [
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
    ] {
        command.env_remove(variable);
    }
    command
}

fn run(mut command: Command) -> Outcome {
    outcome_of(command.stdin(Stdio::null()).output().unwrap())
}

fn run_with_input(mut command: Command, input: &str) -> Outcome {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    outcome_of(child.wait_with_output().unwrap())
}

/// Returns the last message that was sent to the model.
pub(crate) fn last_message(asked: &Asked) -> Value {
    let messages = asked.json()["messages"].take();
    messages.as_array().unwrap().last().unwrap().clone()
}

#[test]
fn tools_are_called_and_the_answer_is_printed() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "add", r#"{"a": 1, "b": 2}"#), ("c2", "fail", "{}")]),
        Reply::text("It is 3."),
    ]);
    let args = [
        "--trust=test",
        "--approve",
        "test:fail",
        "--system-prompt",
        "Be brief.",
        "What is 1 + 2?",
    ];
    let outcome = run(chat(&endpoint, &args));
    assert_eq!(
        (outcome.code, &*outcome.stdout),
        (0, "It is 3.\n"),
        "{}",
        outcome.stderr
    );
    for line in [
        "call: add  {\"a\":1,\"b\":2}\n",
        "done: add  3\n",
        "call: fail  {}\n",
        "failed: fail  the sea is ␛[31mrough\n",
    ] {
        assert!(outcome.stderr.contains(line), "{line}: {}", outcome.stderr);
    }
    let first = endpoint.asked().json();
    let messages = json!([{"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 1 + 2?"}]);
    assert_eq!(first["messages"], messages);
    let tools = first["tools"].as_array().unwrap();
    assert_eq!(tools[0]["function"]["name"], "add");
    let second = endpoint.asked().json();
    assert_eq!(
        second["messages"][3],
        json!({"role": "tool", "tool_call_id": "c1", "content": "3"})
    );
}

#[test]
fn a_tool_that_runs_only_as_a_task_is_called() {
    let server = HttpServer::start_mode("tasks");
    let endpoint = Endpoint::start([Reply::calls(&[("c1", "dry", "{}")]), Reply::text("Done.")]);
    let mut command = without_server(&["--base-url", &endpoint.url, "--approve=yard"]);
    command.arg(format!("--server=yard={}", server.url));
    command.arg("Dry it");
    let outcome = run(command);
    assert_eq!((outcome.code, &*outcome.stdout), (0, "Done.\n"));
    assert!(
        outcome.stderr.contains("done: dry  dry\n"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn control_characters_are_never_printed() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "hostile", "{}")]),
        Reply::text("so\u{1b}[2J be \u{202e}it"),
    ]);
    let outcome = run(chat(&endpoint, &["--approve", "test", "Hello"]));
    assert_eq!(
        (outcome.code, &*outcome.stdout),
        (0, "so␛[2J be \\u{202e}it\n")
    );
    assert!(!outcome.stderr.contains('\u{1b}'), "{:?}", outcome.stderr);
    assert!(
        outcome.stderr.contains("one␛]0;title␇ two"),
        "{}",
        outcome.stderr
    );
}

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

#[test]
fn tools_of_several_servers_are_prefixed() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "two__add", r#"{"a": 1}"#)]),
        Reply::text("2"),
    ]);
    let mut command = chat(&endpoint, &["--trust=two", "1 + 1?"]);
    command.arg(format!("--server=two='{}'", test_server().display()));
    let outcome = run(command);
    assert_eq!(
        (outcome.code, &*outcome.stdout),
        (0, "2\n"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("done: two__add  2\n"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn prompt_is_read_from_standard_input() {
    for args in [&[][..], &["-"]] {
        let endpoint = Endpoint::start([Reply::text("Hello.")]);
        let outcome = run_with_input(chat(&endpoint, args), "Who is\nthere?\n");
        assert_eq!(
            (outcome.code, &*outcome.stdout),
            (0, "Hello.\n"),
            "{}",
            outcome.stderr
        );
        assert_eq!(
            last_message(&endpoint.asked())["content"],
            "Who is\nthere?\n"
        );
    }
    let endpoint = Endpoint::start([]);
    let outcome = run(chat(&endpoint, &[]));
    outcome.check(2, "", "error: no prompt on standard input\n");
}

#[test]
fn json_is_the_whole_report() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "add", r#"{"a": 1}"#)]),
        Reply::text("2"),
    ]);
    let outcome = run(chat(&endpoint, &["--trust=test", "--json", "-q", "1 + 1?"]));
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""));
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["transcript"].as_array().unwrap().len(), 4);
    assert_eq!(report["calls"][0]["call"]["tool"], "add");
    assert_eq!(report["iterations"], 2);
}

#[test]
fn stop_reasons_have_messages_and_exit_codes() {
    let call = || Reply::calls(&[("c1", "add", r#"{"a": 1}"#)]);
    let cases = [
        (
            vec![Reply::error(401, "no key", "invalid_api_key")],
            4,
            "error: the model rejected the request: HTTP status 401: no key\n \
             note: no key was sent; use --key-env to name the environment variable with the key\n",
        ),
        (
            vec![Reply::of(200, "text/html", "<html>")],
            6,
            "error: the model returned an invalid response: the response has the content type `text/html`, expected JSON or an event stream\n",
        ),
        (
            vec![Reply::error(429, "later", "x").header("retry-after", "3600")],
            3,
            "error: the model is unavailable for 3600 s: HTTP status 429: later\n",
        ),
        (
            vec![call(), Reply::text("I have enough.")],
            12,
            "the limit of tool rounds was reached; see --max-rounds\n",
        ),
    ];
    for (replies, code, expected) in cases {
        let endpoint = Endpoint::start(replies);
        let outcome = run(chat(&endpoint, &["--max-rounds", "1", "1 + 1?"]));
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
        assert!(outcome.stderr.ends_with(expected), "{}", outcome.stderr);
    }
}

#[test]
fn invalid_command_line_is_reported_before_the_start() {
    let wrong: [(&[&str], &str); 5] = [
        (
            &["hi"],
            "error: the model is misconfigured: the environment variable `OPENAI_API_KEY` contains no key\n",
        ),
        (
            &["--base-url", "http://10.0.0.1/v1", "hi"],
            "error: the model is misconfigured: the base URL uses plain `http`, which exposes the key; use `https` or `allow_plain_http`\n",
        ),
        (
            &["--base-url", "http://localhost", "-s", "a b=c", "hi"],
            "error: invalid value `a b=c` for --server: expected `name=command` or `name=https://…`; a name consists of letters, digits, `_` and `-`\n",
        ),
        (
            &[
                "--base-url",
                "http://localhost",
                "-s",
                "a=b",
                "-s",
                "a=c",
                "hi",
            ],
            "error: duplicate server name `a`\n",
        ),
        (
            &["--base-url", "http://localhost", "--trust", "b", "hi"],
            "error: unknown server `b`\n",
        ),
    ];
    for (args, expected) in wrong {
        run(without_server(args)).check(2, "", expected);
    }
}

#[test]
fn key_is_sent_only_to_its_endpoint() {
    let sent = |change: fn(&mut Command, &str)| {
        let endpoint = Endpoint::start([Reply::text("Hi.")]);
        let mut command = without_server(&["hi"]);
        command
            .env("OPENAI_API_KEY", "sk-public")
            .env("OTHER", "sk-other");
        change(&mut command, &endpoint.url);
        let outcome = run(command);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        endpoint.asked().header("authorization").map(str::to_owned)
    };
    let named = sent(|command, url| {
        command.args(["--base-url", url]);
    });
    assert_eq!(
        named, None,
        "the key in the environment belongs to another endpoint"
    );
    let in_environment = sent(|command, url| {
        command.env("OPENAI_BASE_URL", url);
    });
    assert_eq!(in_environment.as_deref(), Some("Bearer sk-public"));
    let both = sent(|command, url| {
        command.args(["--base-url", url, "--key-env", "OTHER"]);
    });
    assert_eq!(both.as_deref(), Some("Bearer sk-other"));
}
