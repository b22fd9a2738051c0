//! Interactive `treenail chat` at a pseudo-terminal: approvals, elicitation and Ctrl-C.

use serde_json::{Value, json};

use crate::chat::{chat, last_message};
use crate::fake::{Endpoint, Reply, content};
use crate::process::test_server;
use crate::terminal::Terminal;

fn start_chat(endpoint: &Endpoint, args: &[&str]) -> Terminal {
    let mut terminal = Terminal::run(chat(endpoint, args));
    terminal.expect("/help shows help.\n").expect("\n> ");
    terminal
}

fn quit(mut terminal: Terminal) {
    terminal.enter("/quit");
    terminal.expect_exit(0, "");
}

/// Returns a reply that calls a tool.
fn call_reply(id: &str, tool: &str, arguments: &Value) -> Reply {
    Reply::calls(&[(id, tool, &arguments.to_string())])
}

#[test]
fn conversation_continues_until_it_is_reset() {
    let endpoint = Endpoint::start([
        Reply::text("Hello Ada."),
        Reply::text("Ada."),
        Reply::text("No."),
    ]);
    let mut terminal = start_chat(&endpoint, &[]);
    terminal
        .enter("I am Ada.")
        .expect("Hello Ada.\n")
        .expect("\n> ");
    terminal.enter("").expect("\n> ");
    terminal.enter("Who am I?").expect("Ada.\n").expect("\n> ");
    terminal
        .enter("/new")
        .expect("started a new conversation\n")
        .expect("\n> ");
    terminal
        .enter("Do you know me?")
        .expect("No.\n")
        .expect("\n> ");
    endpoint.asked();
    let expected = json!([
        {"role": "user", "content": "I am Ada."},
        {"role": "assistant", "content": "Hello Ada."},
        {"role": "user", "content": "Who am I?"},
    ]);
    assert_eq!(endpoint.asked().json()["messages"], expected);
    let expected = json!([{"role": "user", "content": "Do you know me?"}]);
    assert_eq!(endpoint.asked().json()["messages"], expected);
    quit(terminal);
}

#[test]
fn only_the_hint_is_printed_before_the_first_prompt() {
    let endpoint = Endpoint::start([]);
    let mut terminal = Terminal::run(chat(&endpoint, &[]));
    let printed = terminal.until("\n> ");
    let expected = "Ctrl-C stops an answer, Ctrl-D quits, /help shows help.\n";
    assert_eq!(printed, expected);
    quit(terminal);
}

#[test]
fn annotations_of_untrusted_tools_are_marked() {
    let endpoint = Endpoint::start([
        call_reply("c1", "add", &json!({"a": 1})),
        Reply::text("Fine."),
    ]);
    let mut terminal = start_chat(&endpoint, &[]);
    terminal
        .enter("Add!")
        .expect(
            "run `add` of `test` (declared read-only, but the server is not trusted; see --trust):\n",
        )
        .expect("this tool: ")
        .enter("n");
    terminal.expect("Fine.\n").expect("\n> ");
    quit(terminal);
}

#[test]
fn calls_are_approved_once_always_or_denied() {
    let echo = |id: &str| call_reply(id, "echo", &json!({"text": format!("\u{1b}{id}")}));
    let endpoint = Endpoint::start([
        echo("c1"),
        Reply::text("One."),
        echo("c2"),
        Reply::text("Two."),
        echo("c3"),
        echo("c4"),
        Reply::text("Three."),
    ]);
    let question = "Run it? [y]es, [n]o, [a]lways this tool: ";
    let mut terminal = start_chat(&endpoint, &[]);
    terminal
        .enter("Echo!")
        .expect("The model wants to run `echo` of `test` (effects not declared):\n");
    terminal
        .expect("{\n  \"text\": \"\\u001bc1\"\n}\n")
        .expect(question);
    terminal.enter("perhaps").expect(question).enter("y");
    terminal
        .expect("call: echo  ")
        .expect("done: echo  ␛c1\n")
        .expect("One.\n")
        .expect("\n> ");
    terminal.enter("Again!").expect(question).enter("n");
    terminal
        .expect("failed: echo  ")
        .expect("Two.\n")
        .expect("\n> ");
    terminal.enter("Again!").expect(question).enter("a");
    terminal
        .expect("done: echo  ␛c3\n")
        .expect("done: echo  ␛c4\n")
        .expect("Three.\n")
        .expect("\n> ");
    let asked: Vec<_> = (0..7).map(|_| endpoint.asked()).collect();
    let message = last_message(&asked[3]);
    let text = message["content"].as_str().unwrap();
    assert!(text.contains("the user denied the call"), "{text}");
    quit(terminal);
}

#[test]
fn input_before_a_prompt_is_not_an_answer() {
    let question = "this tool: ";
    let echo = || call_reply("c1", "echo", &json!({"text": "a"}));
    let endpoint = Endpoint::start([echo(), Reply::text("Fine.")]);
    let mut terminal = start_chat(&endpoint, &[]);
    terminal.enter("Echo!").enter("y").enter("y").enter("a");
    terminal.expect(question).enter("n");
    terminal.expect("failed: echo  ").expect("\n> ");
    quit(terminal);

    // In a single answer, the prompt precedes the first read from the terminal.
    let endpoint = Endpoint::start([echo(), Reply::text("Fine.")]);
    let mut terminal = Terminal::run(chat(&endpoint, &["Echo!"]));
    terminal.enter("y").enter("y").expect(question).enter("n");
    terminal.expect("failed: echo  ").expect("Fine.\n");
    terminal.expect_exit(0, "");

    // A partly typed line before the prompt is discarded, too.
    let endpoint = Endpoint::start([echo(), Reply::text("Fine.")]);
    let mut terminal = Terminal::run(chat(&endpoint, &["Echo!"]));
    terminal.press("y").expect(question).enter("");
    terminal.expect(question).enter("n");
    terminal.expect("failed: echo  ").expect("Fine.\n");
    terminal.expect_exit(0, "");
}

#[test]
fn messages_can_be_typed_ahead() {
    let endpoint = Endpoint::start([Reply::text("One."), Reply::text("Two.")]);
    let mut terminal = start_chat(&endpoint, &[]);
    terminal.enter("First").enter("Second");
    terminal.expect("One.\n").expect("Two.\n").expect("\n> ");
    endpoint.asked();
    assert_eq!(last_message(&endpoint.asked())["content"], "Second");
    quit(terminal);
}

#[test]
fn calls_are_approved_one_by_one() {
    let calls = [
        ("c1", "echo", r#"{"text": "one"}"#),
        ("c2", "add", r#"{"a": 1}"#),
        ("c3", "order", r#"{"id": 1, "express": false}"#),
    ];
    let endpoint = Endpoint::start([Reply::calls(&calls), Reply::text("Done.")]);
    let mut terminal = start_chat(&endpoint, &["--trust=test"]);
    terminal
        .enter("Go!")
        .expect("run `echo` of")
        .expect("this tool: ")
        .enter("y");
    terminal
        .expect("run `order` of")
        .expect("this tool: ")
        .enter("n");
    terminal.expect("Done.\n").expect("\n> ");
    endpoint.asked();
    let messages = endpoint.asked().json()["messages"].take();
    let ids: Vec<_> = (2..5)
        .map(|index| messages[index]["tool_call_id"].clone())
        .collect();
    assert_eq!(ids, ["c1", "c2", "c3"], "ALL-SAM-03");
    assert_eq!(messages[2]["content"], "one");
    assert_eq!(messages[3]["content"], "2");
    quit(terminal);
}

#[test]
fn elicitation_works_during_a_call() {
    let endpoint = Endpoint::start([
        call_reply("c1", "erase", &json!({})),
        Reply::text("Erased."),
    ]);
    let mut terminal = start_chat(&endpoint, &["--approve", "erase"]);
    terminal
        .enter("Erase!")
        .expect("asks: Erase everything?\n")
        .expect("[c]ancel: ")
        .enter("y");
    terminal
        .expect("done: erase  erased\n")
        .expect("Erased.\n")
        .expect("\n> ");
    quit(terminal);
}

#[test]
fn ctrl_c_stops_an_answer_but_not_the_conversation() {
    let endless = Reply::stream([content("One, "), content("two")]).held_before("data: [DONE]");
    let endpoint = Endpoint::start([Reply::text("Hello Ada."), endless, Reply::text("Ada.")]);
    let mut terminal = start_chat(&endpoint, &[]);
    terminal
        .enter("I am Ada.")
        .expect("Hello Ada.\n")
        .expect("\n> ");
    terminal.enter("Count!").expect("One, two");
    terminal.interrupt();
    terminal
        .expect("\ncancelled; the conversation continues\n")
        .expect("\n> ");
    endpoint.is_left();
    terminal.enter("Who am I?").expect("Ada.\n").expect("\n> ");
    let asked: Vec<_> = (0..3).map(|_| endpoint.asked()).collect();
    let expected = json!([
        {"role": "user", "content": "I am Ada."},
        {"role": "assistant", "content": "Hello Ada."},
        {"role": "user", "content": "Count!"},
        {"role": "user", "content": "Who am I?"},
    ]);
    assert_eq!(asked[2].json()["messages"], expected);
    terminal.interrupt();
    terminal
        .expect("\nPress Ctrl-C again to quit.\n")
        .expect("\n> ");
    terminal.interrupt();
    terminal.expect_exit(130, "");
}

#[test]
fn ctrl_c_stops_a_call_but_not_the_conversation() {
    let endpoint = Endpoint::start([call_reply("c1", "wait", &json!({})), Reply::text("I see.")]);
    let mut terminal = start_chat(&endpoint, &["--approve", "wait", "-v"]);
    terminal.enter("Wait!").expect("call: wait  {}\n");
    terminal.interrupt();
    terminal.expect("cancelled; the conversation continues\n");
    terminal.expect("server: the call was dropped\n");
    terminal.enter("Well?").expect("I see.\n").expect("\n> ");
    endpoint.asked();
    let messages = endpoint.asked().json()["messages"].take();
    assert_eq!(messages[1]["tool_calls"][0]["id"], "c1");
    assert_eq!(messages[2]["tool_call_id"], "c1", "ALL-SAM-03");
    let text = messages[2]["content"].as_str().unwrap();
    assert!(text.contains("the user cancelled the run"), "{text}");
    assert_eq!(messages[3]["content"], "Well?");
    quit(terminal);
}

#[test]
fn ctrl_c_at_an_approval_stops_the_answer() {
    let endpoint = Endpoint::start([
        call_reply("c1", "echo", &json!({"text": "a"})),
        Reply::text("Fine."),
    ]);
    let mut terminal = start_chat(&endpoint, &[]);
    terminal.enter("Echo!").expect("this tool: ");
    terminal.interrupt();
    terminal
        .expect("cancelled; the conversation continues\n")
        .expect("\n> ");
    terminal.enter("Leave it.").expect("Fine.\n").expect("\n> ");
    quit(terminal);
}

#[test]
fn ctrl_c_quits_during_an_unsolicited_elicitation() {
    let endpoint = Endpoint::start([]);
    let mut command = chat(&endpoint, &["-v", "--approve=test:add"]);
    command.arg(format!("--server=evil='{}' rogue", test_server().display()));
    let mut terminal = Terminal::run(command);
    terminal
        .expect("asks: Unsolicited question?\n")
        .expect("[c]ancel: ")
        .expect("/help shows help.\n");
    terminal.interrupt();
    terminal.expect("\nPress Ctrl-C again to quit.\n");
    terminal.interrupt();
    terminal.expect_exit(130, "");
}

#[test]
fn error_does_not_end_the_conversation() {
    let endpoint = Endpoint::start([Reply::error(400, "too long", "x"), Reply::text("Better.")]);
    let mut terminal = start_chat(&endpoint, &[]);
    terminal
        .enter("Hello")
        .expect("error: the model rejected the request: HTTP status 400: too long\n")
        .expect("\n> ");
    terminal
        .enter("Once more")
        .expect("Better.\n")
        .expect("\n> ");
    quit(terminal);
}

#[test]
fn progress_of_a_call_is_drawn() {
    let endpoint = Endpoint::start([call_reply("c1", "steps", &json!({})), Reply::text("Done.")]);
    let mut terminal = start_chat(&endpoint, &["--approve", "steps"]);
    terminal
        .enter("Go!")
        .expect("of 6  step␛[1m by step")
        .expect("done: steps  done\n")
        .expect("Done.\n");
    quit(terminal);
}
