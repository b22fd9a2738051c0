//! Approval of calls by the user.

use serde_json::json;

use super::{call_reply, quit, start_chat};
use crate::chat::{chat, last_message};
use crate::fake::{Endpoint, Reply};
use crate::terminal::Terminal;

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
