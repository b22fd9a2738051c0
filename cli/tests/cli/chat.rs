//! A model with tools, behind an endpoint of ours: one answer, and how it ends.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::fake::{Asked, Endpoint, Reply};
use crate::run::{Ended, ended, test_server};

/// The program with a model at the endpoint, and with the server of these tests.
pub(crate) fn chat(endpoint: &Endpoint, args: &[&str]) -> Command {
    let mut command = alone(&["--base-url", &endpoint.url]);
    let server = test_server();
    command.arg(format!("--server=test='{}'", server.display()));
    command.args(args);
    command
}

/// The program with a model, and without a server.
pub(crate) fn alone(args: &[&str]) -> Command {
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

fn run(mut command: Command) -> Ended {
    ended(command.stdin(Stdio::null()).output().unwrap())
}

fn run_with_input(mut command: Command, input: &str) -> Ended {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    ended(child.wait_with_output().unwrap())
}

/// The last message that the model was sent.
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
    let ended = run(chat(&endpoint, &args));
    assert_eq!(
        (ended.code, &*ended.stdout),
        (0, "It is 3.\n"),
        "{}",
        ended.stderr
    );
    for line in [
        "call: add  {\"a\":1,\"b\":2}\n",
        "done: add  3\n",
        "call: fail  {}\n",
        "failed: fail  the sea is ␛[31mrough\n",
    ] {
        assert!(ended.stderr.contains(line), "{line}: {}", ended.stderr);
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
fn nothing_reaches_the_terminal_that_it_would_obey() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "hostile", "{}")]),
        Reply::text("so\u{1b}[2J be \u{202e}it"),
    ]);
    let ended = run(chat(&endpoint, &["--approve", "test", "Hello"]));
    assert_eq!((ended.code, &*ended.stdout), (0, "so␛[2J be \\u{202e}it\n"));
    assert!(!ended.stderr.contains('\u{1b}'), "{:?}", ended.stderr);
    assert!(
        ended.stderr.contains("one␛]0;title␇ two"),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_nobody_can_agree_to_is_not_run() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "echo", r#"{"text": "a"}"#)]),
        Reply::text("Well."),
    ]);
    let ended = run(chat(&endpoint, &["Say a"]));
    assert_eq!((ended.code, &*ended.stdout), (0, "Well.\n"));
    let note = "`echo` of `test` is not run: nobody is there who could agree to it (see --approve test:echo)\n";
    assert!(ended.stderr.contains(note), "{}", ended.stderr);
    endpoint.asked();
    let told = last_message(&endpoint.asked());
    let told = told["content"].as_str().unwrap().to_owned();
    assert!(
        told.contains("nobody is there who could agree to it"),
        "{told}"
    );
}

#[test]
fn no_server_is_believed_unless_it_is_trusted() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "add", r#"{"a": 1}"#)]),
        Reply::text("Well."),
    ]);
    let ended = run(chat(&endpoint, &["1 + 1?"]));
    assert!(
        ended.stderr.contains("`add` of `test` is not run"),
        "CLI-TOOL-03: {}",
        ended.stderr
    );
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "add", r#"{"a": 1}"#)]),
        Reply::text("Well."),
    ]);
    let ended = run(chat(&endpoint, &["--trust", "test", "1 + 1?"]));
    assert!(ended.stderr.contains("done: add  2\n"), "{}", ended.stderr);
}

/// The program with a server beside the one of these tests whose tools have the names of others.
fn with_rogue(endpoint: &Endpoint, args: &[&str]) -> Command {
    let mut command = chat(endpoint, args);
    command.arg(format!("--server=evil='{}' rogue", test_server().display()));
    command
}

#[test]
fn no_server_gets_the_consent_that_was_meant_for_another() {
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
        let ended = run(with_rogue(&endpoint, &[args, &["Go"]].concat()));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let note = format!("`{tool}` of `evil` is not run");
        assert!(ended.stderr.contains(&note), "{args:?}: {}", ended.stderr);
        let done = "done: test__echo  a\n";
        assert!(ended.stderr.contains(done), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_tool_is_approved_wherever_it_is_trusted() {
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
        let ended = run(with_rogue(&endpoint, &[args, &["Go"]].concat()));
        let done = "  hijacked\n";
        assert!(ended.stderr.contains(done), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn what_nothing_can_be_approved_by_is_told_at_the_start() {
    let endpoint = Endpoint::start([]);
    let refused = |args: &[&str]| run(with_rogue(&endpoint, &[args, &["Go"]].concat()));
    let message = "error: --approve `other:echo`: there is no server `other`; it is SERVER, SERVER:TOOL or TOOL\n";
    refused(&["--approve=other:echo"]).check(2, "", message);
    let message = "error: --approve `echo`: there is no server of this name, and no tool of the only server or of one with --trust; write SERVER:TOOL\n";
    refused(&["--approve=echo"]).check(2, "", message);
    let message = message.replace("echo", "nothing");
    let message = message.as_str();
    refused(&["--trust=test", "--approve=nothing"]).check(2, "", message);
    refused(&["--approve=evil", "--approve=nothing"]).check(2, "", message);

    let endpoint = Endpoint::start([Reply::text("Well.")]);
    let ended = run(with_rogue(&endpoint, &["--approve=test:nothing", "Go"]));
    ended.check(
        0,
        "Well.\n",
        "--approve `test:nothing`: the server has no such tool now\n",
    );
}

#[test]
fn tools_of_several_servers_are_told_apart() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "two__add", r#"{"a": 1}"#)]),
        Reply::text("2"),
    ]);
    let mut command = chat(&endpoint, &["--trust=two", "1 + 1?"]);
    command.arg(format!("--server=two='{}'", test_server().display()));
    let ended = run(command);
    assert_eq!((ended.code, &*ended.stdout), (0, "2\n"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("done: two__add  2\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_prompt_may_come_on_standard_input() {
    for args in [&[][..], &["-"]] {
        let endpoint = Endpoint::start([Reply::text("Hello.")]);
        let ended = run_with_input(chat(&endpoint, args), "Who is\nthere?\n");
        assert_eq!(
            (ended.code, &*ended.stdout),
            (0, "Hello.\n"),
            "{}",
            ended.stderr
        );
        assert_eq!(
            last_message(&endpoint.asked())["content"],
            "Who is\nthere?\n"
        );
    }
    let endpoint = Endpoint::start([]);
    let ended = run(chat(&endpoint, &[]));
    ended.check(2, "", "error: there is no prompt on standard input\n");
}

#[test]
fn the_whole_report_is_json() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "add", r#"{"a": 1}"#)]),
        Reply::text("2"),
    ]);
    let ended = run(chat(&endpoint, &["--trust=test", "--json", "-q", "1 + 1?"]));
    assert_eq!((ended.code, &*ended.stderr), (0, ""));
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["transcript"].as_array().unwrap().len(), 4);
    assert_eq!(report["calls"][0]["call"]["tool"], "add");
    assert_eq!(report["iterations"], 2);
}

#[test]
fn the_end_says_how_it_went() {
    let call = || Reply::calls(&[("c1", "add", r#"{"a": 1}"#)]);
    let cases = [
        (
            vec![Reply::error(401, "no key", "invalid_api_key")],
            4,
            "error: the model rejected the request: HTTP status 401: no key\n \
             note: no key was sent; --key-env names the variable that has one\n",
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
            "the model would have called more tools: see --max-rounds\n",
        ),
    ];
    for (replies, code, expected) in cases {
        let endpoint = Endpoint::start(replies);
        let ended = run(chat(&endpoint, &["--max-rounds", "1", "1 + 1?"]));
        assert_eq!(ended.code, code, "{}", ended.stderr);
        assert!(ended.stderr.ends_with(expected), "{}", ended.stderr);
    }
}

#[test]
fn a_wrong_command_line_is_told_before_anything_begins() {
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
            "error: --server `a b=c` is not like `name=command` or `name=https://…`; a name has letters, digits, `_` and `-`\n",
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
            "error: there are two servers with the name `a`\n",
        ),
        (
            &["--base-url", "http://localhost", "--trust", "b", "hi"],
            "error: there is no server `b`\n",
        ),
    ];
    for (args, expected) in wrong {
        run(alone(args)).check(2, "", expected);
    }
}

#[test]
fn a_key_goes_to_the_endpoint_that_it_belongs_to() {
    let sent = |change: fn(&mut Command, &str)| {
        let endpoint = Endpoint::start([Reply::text("Hi.")]);
        let mut command = alone(&["hi"]);
        command
            .env("OPENAI_API_KEY", "sk-public")
            .env("OTHER", "sk-other");
        change(&mut command, &endpoint.url);
        let ended = run(command);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        endpoint.asked().header("authorization").map(str::to_owned)
    };
    let named = sent(|command, url| {
        command.args(["--base-url", url]);
    });
    assert_eq!(
        named, None,
        "the key of the environment is for another endpoint"
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
