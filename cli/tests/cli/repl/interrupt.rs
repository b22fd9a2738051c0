//! Ctrl-C at each stage of a chat.

use serde_json::json;

use super::{call_reply, quit, start_chat};
use crate::chat::chat;
use crate::fake::{Endpoint, Reply, content};
use crate::process::test_server;
use crate::terminal::Terminal;

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
