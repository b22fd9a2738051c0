//! Callers that read slowly or not at all: messages of a server wait, and a call ends in time all the same. Large messages in
//! both directions do not wait for each other.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::sync::Notify;
use tokio::time::Instant;
use treenail::Limits;
use treenail::prelude::*;
use treenail::proxy::{Proxy, ProxyLimits, Remote};

use crate::script::{Line, legacy_server, text, tools};
use crate::station::{ERAS, client_of, proxied};

/// Number of progress messages of a call: more than the buffers to a client hold, and less than the queue of a call.
const MESSAGES: usize = 40;

/// Client of the legacy era that reads only when the test does.
struct SlowReader {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl SlowReader {
    async fn connect(server: &Server) -> Self {
        let (ours, theirs) = duplex(1 << 10);
        let server = server.clone();
        tokio::spawn(async move {
            let (reader, writer) = split(theirs);
            server.serve(reader, writer).await
        });
        let (reader, writer) = split(ours);
        let lines = BufReader::new(reader).lines();
        let mut client = Self { lines, writer };
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "slow", "version": "1"},
        });
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        client.send(&request).await;
        client.next().await;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        client.send(&initialized).await;
        client
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Calls the tool `ask`, with a progress token.
    async fn call(&mut self) {
        let params = json!({"name": "script.ask", "_meta": {"progressToken": "t"}});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        self.send(&call).await;
    }

    /// Reads until the result of the call. Returns the progress before it, and the result.
    async fn result(&mut self) -> (Vec<Value>, Value) {
        let mut progress = Vec::new();
        loop {
            let message = self.next().await;
            if message["method"] == "notifications/progress" {
                progress.push(message["params"]["progress"].clone());
            } else if message["id"] == 2 {
                return (progress, message["result"].clone());
            }
        }
    }
}

/// Call at the scripted server.
#[derive(Default)]
struct Running {
    call: Mutex<Option<(Value, Line)>>,
    started: Notify,
    cancelled: Notify,
}

impl Running {
    fn send_progress(&self) {
        let call = self.call.lock().unwrap();
        let (call, line) = call.as_ref().unwrap();
        for number in 1..=MESSAGES {
            line.send(&json!({
                "jsonrpc": "2.0", "method": "notifications/progress",
                "params": {
                    "progressToken": call["params"]["_meta"]["progressToken"],
                    "progress": number,
                    "message": "x".repeat(10 << 10),
                },
            }));
        }
    }

    fn cancel_question(&self) {
        let call = self.call.lock().unwrap();
        let (_, line) = call.as_ref().unwrap();
        let cancelled = "notifications/cancelled";
        line.send(&json!({"jsonrpc": "2.0", "method": cancelled, "params": {"requestId": "q"}}));
    }

    fn answer(&self) {
        let call = self.call.lock().unwrap();
        let (call, line) = call.as_ref().unwrap();
        line.answer(call, &text("done"));
    }
}

/// Server with a tool that asks a question and waits for the test.
fn waiting() -> (Remote, Arc<Running>) {
    let running: Arc<Running> = Arc::default();
    let noted = Arc::clone(&running);
    let server = legacy_server(&tools(&["ask"]), move |message, line| {
        match message["method"].as_str() {
            Some("tools/call") => {
                line.send(&json!({
                    "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                    "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
                }));
                *noted.call.lock().unwrap() = Some((message.clone(), line.clone()));
                noted.started.notify_one();
            }
            Some("notifications/cancelled") => noted.cancelled.notify_one(),
            _ => {}
        }
        true
    });
    (server, running)
}

/// A gateway whose connections hold few messages of running calls, and a client that has been asked.
async fn asked_by(server: Remote, limits: ProxyLimits) -> (SlowReader, Value, Server) {
    let gateway = Server::builder("gateway", "1.0.0")
        .dynamic()
        .limits(
            Limits::default()
                .queued_messages(1)
                .queued_output_bytes(1 << 10),
        )
        .build()
        .unwrap();
    let proxy = Proxy::new(&gateway).limits(limits);
    proxy.mount(server).unwrap().connected().await;
    let mut client = SlowReader::connect(&gateway).await;
    client.call().await;
    let question = client.next().await;
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}});
    (client, answer, gateway)
}

/// Lets all tasks run until they wait. The clock is paused, and advances only then.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn no_message_is_lost_when_a_question_ends_meanwhile() {
    let (server, running) = waiting();
    let (mut client, _, _gateway) = asked_by(server, ProxyLimits::default()).await;
    running.send_progress();
    settle().await;
    running.cancel_question();
    settle().await;
    running.answer();
    settle().await;
    let (progress, result) = client.result().await;
    let expected: Vec<Value> = (1..=MESSAGES).map(Value::from).collect();
    assert_eq!(progress, expected);
    assert_eq!(result["content"][0]["text"], "done");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_caller_reads_nothing_ends_in_time() {
    let limit = Duration::from_secs(5);
    for limits in [
        ProxyLimits::default().call_timeout(limit),
        ProxyLimits::default().call_duration(limit),
    ] {
        let (server, running) = waiting();
        let (mut client, answer, _gateway) = asked_by(server, limits).await;
        client.send(&answer).await;
        settle().await;
        let start = Instant::now();
        running.send_progress();
        let cancelled = running.cancelled.notified();
        let cancelled = tokio::time::timeout(Duration::from_secs(600), cancelled).await;
        cancelled.expect("the call is cancelled at its server");
        assert!(start.elapsed() <= Duration::from_secs(61));
        let (_, result) = client.result().await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("did not answer: no answer within"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_passes_in_time_although_its_caller_read_nothing() {
    let (server, running) = waiting();
    let limits = ProxyLimits::default().call_timeout(Duration::from_secs(5));
    let (mut client, answer, _gateway) = asked_by(server, limits).await;
    client.send(&answer).await;
    running.send_progress();
    running.answer();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let (progress, result) = client.result().await;
    assert_eq!(progress.len(), MESSAGES);
    assert_eq!(result["content"][0]["text"], "done");
}

struct Warehouse;

#[mcp_tool]
impl Warehouse {
    #[tool]
    fn long(bytes: usize) -> String {
        "x".repeat(bytes)
    }

    #[tool]
    fn length(text: String) -> usize {
        text.len()
    }
}

#[tokio::test(start_paused = true)]
async fn large_arguments_and_large_results_do_not_block_each_other() {
    let warehouse = Server::builder("warehouse", "1.0.0").mount(Warehouse);
    let warehouse = warehouse.build().unwrap();
    for (caller, remote) in ERAS {
        let (gateway, _mounted) = proxied(&warehouse, remote).await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let text = "y".repeat(2 << 20);
        let long = client.call_tool("st.long", json!({"bytes": 3 << 20}));
        let length = client.call_tool("st.length", json!({"text": text}));
        let (long, length) = tokio::join!(long, length);
        for called in [long, length] {
            let error = called.map(|result| result.is_error);
            assert!(
                matches!(error, Ok(None | Some(false))),
                "{caller} {remote}: {error:?}"
            );
        }
    }
}
