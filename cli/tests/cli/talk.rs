//! A conversation with a model at a terminal: calls are approved, and Ctrl-C keeps what was said.

use serde_json::{Value, json};

use crate::chat::{chat, last_message};
use crate::fake::{Endpoint, Reply, content};
use crate::run::test_server;
use crate::terminal::Terminal;

fn talk(endpoint: &Endpoint, args: &[&str]) -> Terminal {
    let mut terminal = Terminal::of(chat(endpoint, args));
    terminal.expect("/help tells more.\n").expect("\n> ");
    terminal
}

fn leave(mut terminal: Terminal) {
    terminal.enter("/quit");
    terminal.end(0, "");
}

/// A reply that calls a tool.
fn calling(id: &str, tool: &str, arguments: &Value) -> Reply {
    Reply::calls(&[(id, tool, &arguments.to_string())])
}

#[test]
fn one_thing_is_said_after_the_other() {
    let endpoint = Endpoint::start([
        Reply::text("Hello Ada."),
        Reply::text("Ada."),
        Reply::text("No."),
    ]);
    let mut terminal = talk(&endpoint, &[]);
    terminal
        .enter("I am Ada.")
        .expect("Hello Ada.\n")
        .expect("\n> ");
    terminal.enter("").expect("\n> ");
    terminal.enter("Who am I?").expect("Ada.\n").expect("\n> ");
    terminal
        .enter("/new")
        .expect("a new conversation\n")
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
    leave(terminal);
}

#[test]
fn nothing_is_drawn_before_the_first_prompt() {
    let endpoint = Endpoint::start([]);
    let mut terminal = Terminal::of(chat(&endpoint, &[]));
    let shown = terminal.until("\n> ");
    let expected = "Ctrl-C ends an answer, Ctrl-D leaves, /help tells more.\n";
    assert_eq!(shown, expected);
    leave(terminal);
}

#[test]
fn what_an_untrusted_tool_says_is_shown_as_that() {
    let endpoint = Endpoint::start([calling("c1", "add", &json!({"a": 1})), Reply::text("Fine.")]);
    let mut terminal = talk(&endpoint, &[]);
    terminal
        .enter("Add!")
        .expect(
            "run `add` of `test`, which says that it only reads (not believed without --trust):\n",
        )
        .expect("this tool: ")
        .enter("n");
    terminal.expect("Fine.\n").expect("\n> ");
    leave(terminal);
}

#[test]
fn calls_are_approved_once_always_or_not() {
    let echo = |id: &str| calling(id, "echo", &json!({"text": format!("\u{1b}{id}")}));
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
    let mut terminal = talk(&endpoint, &[]);
    terminal
        .enter("Echo!")
        .expect("The model wants to run `echo` of `test`, which says nothing of its effects:\n");
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
    let told = last_message(&asked[3]);
    let told = told["content"].as_str().unwrap();
    assert!(told.contains("the user does not want it"), "{told}");
    leave(terminal);
}

#[test]
fn what_was_typed_before_a_question_is_no_answer_to_it() {
    let question = "this tool: ";
    let echo = || calling("c1", "echo", &json!({"text": "a"}));
    let endpoint = Endpoint::start([echo(), Reply::text("Fine.")]);
    let mut terminal = talk(&endpoint, &[]);
    terminal.enter("Echo!").enter("y").enter("y").enter("a");
    terminal.expect(question).enter("n");
    terminal.expect("failed: echo  ").expect("\n> ");
    leave(terminal);

    // One answer: nothing has been read from the terminal when the question comes.
    let endpoint = Endpoint::start([echo(), Reply::text("Fine.")]);
    let mut terminal = Terminal::of(chat(&endpoint, &["Echo!"]));
    terminal.enter("y").enter("y").expect(question).enter("n");
    terminal.expect("failed: echo  ").expect("Fine.\n");
    terminal.end(0, "");

    // And a line that was begun before the question.
    let endpoint = Endpoint::start([echo(), Reply::text("Fine.")]);
    let mut terminal = Terminal::of(chat(&endpoint, &["Echo!"]));
    terminal.press("y").expect(question).enter("");
    terminal.expect(question).enter("n");
    terminal.expect("failed: echo  ").expect("Fine.\n");
    terminal.end(0, "");
}

#[test]
fn what_is_said_ahead_is_said_in_its_turn() {
    let endpoint = Endpoint::start([Reply::text("One."), Reply::text("Two.")]);
    let mut terminal = talk(&endpoint, &[]);
    terminal.enter("First").enter("Second");
    terminal.expect("One.\n").expect("Two.\n").expect("\n> ");
    endpoint.asked();
    assert_eq!(last_message(&endpoint.asked())["content"], "Second");
    leave(terminal);
}

#[test]
fn several_calls_are_asked_about_one_by_one() {
    let calls = [
        ("c1", "echo", r#"{"text": "one"}"#),
        ("c2", "add", r#"{"a": 1}"#),
        ("c3", "order", r#"{"id": 1, "express": false}"#),
    ];
    let endpoint = Endpoint::start([Reply::calls(&calls), Reply::text("Done.")]);
    let mut terminal = talk(&endpoint, &["--trust=test"]);
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
    leave(terminal);
}

#[test]
fn questions_of_a_server_are_asked_in_between() {
    let endpoint = Endpoint::start([calling("c1", "erase", &json!({})), Reply::text("Erased.")]);
    let mut terminal = talk(&endpoint, &["--approve", "erase"]);
    terminal
        .enter("Erase!")
        .expect("asks: Erase everything?\n")
        .expect("[c]ancel: ")
        .enter("y");
    terminal
        .expect("done: erase  erased\n")
        .expect("Erased.\n")
        .expect("\n> ");
    leave(terminal);
}

#[test]
fn ctrl_c_ends_an_answer_and_keeps_the_conversation() {
    let endless = Reply::stream([content("One, "), content("two")]).held_before("data: [DONE]");
    let endpoint = Endpoint::start([Reply::text("Hello Ada."), endless, Reply::text("Ada.")]);
    let mut terminal = talk(&endpoint, &[]);
    terminal
        .enter("I am Ada.")
        .expect("Hello Ada.\n")
        .expect("\n> ");
    terminal.enter("Count!").expect("One, two");
    terminal.interrupt();
    terminal
        .expect("\ncancelled; the conversation goes on\n")
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
        .expect("\nCtrl-C once more leaves.\n")
        .expect("\n> ");
    terminal.interrupt();
    terminal.end(130, "");
}

#[test]
fn ctrl_c_ends_a_call_and_keeps_the_conversation() {
    let endpoint = Endpoint::start([calling("c1", "wait", &json!({})), Reply::text("I see.")]);
    let mut terminal = talk(&endpoint, &["--approve", "wait", "-v"]);
    terminal.enter("Wait!").expect("call: wait  {}\n");
    terminal.interrupt();
    terminal.expect("cancelled; the conversation goes on\n");
    terminal.expect("server: the call was dropped\n");
    terminal.enter("Well?").expect("I see.\n").expect("\n> ");
    endpoint.asked();
    let messages = endpoint.asked().json()["messages"].take();
    assert_eq!(messages[1]["tool_calls"][0]["id"], "c1");
    assert_eq!(messages[2]["tool_call_id"], "c1", "ALL-SAM-03");
    let told = messages[2]["content"].as_str().unwrap();
    assert!(told.contains("the user cancelled the run"), "{told}");
    assert_eq!(messages[3]["content"], "Well?");
    leave(terminal);
}

#[test]
fn ctrl_c_at_a_question_ends_the_answer() {
    let endpoint = Endpoint::start([
        calling("c1", "echo", &json!({"text": "a"})),
        Reply::text("Fine."),
    ]);
    let mut terminal = talk(&endpoint, &[]);
    terminal.enter("Echo!").expect("this tool: ");
    terminal.interrupt();
    terminal
        .expect("cancelled; the conversation goes on\n")
        .expect("\n> ");
    terminal.enter("Leave it.").expect("Fine.\n").expect("\n> ");
    leave(terminal);
}

#[test]
fn ctrl_c_leaves_while_a_server_asks_out_of_the_blue() {
    let endpoint = Endpoint::start([]);
    let mut command = chat(&endpoint, &["-v", "--approve=test:add"]);
    command.arg(format!("--server=evil='{}' rogue", test_server().display()));
    let mut terminal = Terminal::of(command);
    terminal
        .expect("asks: Out of the blue?\n")
        .expect("[c]ancel: ")
        .expect("/help tells more.\n");
    terminal.interrupt();
    terminal.expect("\nCtrl-C once more leaves.\n");
    terminal.interrupt();
    terminal.end(130, "");
}

#[test]
fn an_error_does_not_end_the_conversation() {
    let endpoint = Endpoint::start([Reply::error(400, "too long", "x"), Reply::text("Better.")]);
    let mut terminal = talk(&endpoint, &[]);
    terminal
        .enter("Hello")
        .expect("error: the model rejected the request: HTTP status 400: too long\n")
        .expect("\n> ");
    terminal
        .enter("Once more")
        .expect("Better.\n")
        .expect("\n> ");
    leave(terminal);
}

#[test]
fn progress_of_a_call_is_drawn() {
    let endpoint = Endpoint::start([calling("c1", "steps", &json!({})), Reply::text("Done.")]);
    let mut terminal = talk(&endpoint, &["--approve", "steps"]);
    terminal
        .enter("Go!")
        .expect("of 6  step␛[1m by step")
        .expect("done: steps  done\n")
        .expect("Done.\n");
    leave(terminal);
}
