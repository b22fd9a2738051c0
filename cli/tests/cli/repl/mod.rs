//! Interactive `treenail chat` at a pseudo-terminal: conversation, elicitation and progress.

mod approval;
mod interrupt;

use serde_json::{Value, json};

use crate::chat::{chat, last_message};
use crate::fake::{Endpoint, Reply};
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
