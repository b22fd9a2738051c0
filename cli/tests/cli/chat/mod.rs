//! `treenail chat` with a single answer, against a fake model endpoint.

mod approval;
mod failure;

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
