//! Clients and servers over `jsoncall`: hostile input, and the same features as over other sessions.

#[path = "faults.rs"]
#[allow(
    clippy::duplicate_mod,
    reason = "the same is asked of each kind of session"
)]
mod faults;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex,
    split,
};
use treenail::Limits;
use treenail::client::{ClientLimits, LineSession};
use treenail::jsoncall::{self, JsoncallHandler, JsoncallSession};
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision};

use crate::fixture::server;
use crate::script::{Reply, scripted_over_jsoncall as scripted};

/// Connects a client to a server, both over `jsoncall`.
fn connect(server: &Server) -> Arc<JsoncallSession> {
    let (ours, theirs) = duplex(1 << 16);
    let server = server.clone();
    tokio::spawn(async move {
        let (reader, writer) = split(theirs);
        jsoncall::serve(&server, reader, writer).await.unwrap();
    });
    let (reader, writer) = split(ours);
    Arc::new(JsoncallSession::new(reader, writer))
}

#[tokio::test]
async fn every_client_operation_works_in_every_revision() {
    let (server, observer) = server();
    for revision in Revision::ALL {
        let client = McpClient::builder()
            .session(connect(&server))
            .protocol_version(revision)
            .on_elicit(|_| async {
                let content = json!({"name": "Ada", "nights": 3});
                let result = json!({"action": "accept", "content": content});
                Ok(serde_json::from_value(result).unwrap())
            })
            .build()
            .await
            .unwrap();
        assert_eq!(client.tools().await.unwrap().len(), 7, "{revision}");
        let sum: i64 = client
            .call_tool_as("add", json!({"a": 2, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum, 4, "{revision}");
        let error = client.call_tool("nothing", ()).await.unwrap_err();
        assert!(error.as_refused().is_some(), "{revision}: {error}");
        let read = client.read_resource("note://today").await.unwrap();
        assert_eq!(read.contents.len(), 1, "{revision}");
        if revision >= Revision::V2025_06_18 {
            let booked: String = client.call_tool_as("book", ()).await.unwrap();
            assert_eq!(booked, "Ada stays 3 nights", "{revision}");
        }

        let waiting = client.call_tool("wait", ());
        let dropped = async {
            observer.started.notified().await;
        };
        tokio::select! {
            _ = waiting => panic!("it never ends"),
            () = dropped => {}
        }
        observer.dropped.notified().await;
        client
            .call_tool("echo", json!({"text": "x"}))
            .await
            .unwrap();
        client.close().await.unwrap();
        client.call_tool("echo", ()).await.unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn progress_arrives_before_the_result() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let builder = McpClientSession::builder().session(connect(&server));
        let session = builder.protocol_version(revision).build().await.unwrap();
        let steps = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = Arc::clone(&steps);
        session
            .tools_call("steps", json!({"count": 3}))
            .on_progress(move |progress| sink.lock().unwrap().push(progress.progress.to_string()))
            .await
            .unwrap();
        assert_eq!(*steps.lock().unwrap(), ["1.0", "2.0", "3.0"], "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_a_request_sends_its_own_id() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => crate::script::discovered(message),
        Some("tools/call") => Reply::nothing(),
        _ => Reply::result(message, &json!({"tools": []})),
    });
    let session = McpClientSession::builder()
        .session(session)
        .build()
        .await
        .unwrap();
    let call = tokio::time::timeout(Duration::from_millis(50), session.tools_call("t", ()));
    call.await.unwrap_err();
    session.tools_list(None).await.unwrap();
    let received = received.all();
    assert_eq!(received[1]["method"], "tools/call");
    assert_eq!(received[2]["method"], "notifications/cancelled");
    assert_eq!(
        received[2]["params"]["requestId"], received[1]["id"],
        "CLI-CANC-01"
    );
}

struct Fragile;

#[mcp_tool]
impl Fragile {
    #[tool]
    #[allow(clippy::unused_self, reason = "a tool of a type takes it")]
    fn panic(&self) -> String {
        panic!("as planned")
    }

    #[tool]
    async fn slow(&self, number: u32) -> u32 {
        tokio::time::sleep(Duration::from_millis(u64::from(number) % 7)).await;
        number
    }
}

/// Peer that exchanges lines with a server.
struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    task: tokio::task::JoinHandle<()>,
}

impl Peer {
    async fn initialized() -> Self {
        let server = Server::builder("fragile", "1")
            .mount(Fragile)
            .limits(Limits::default().message_bytes(10_000))
            .build()
            .unwrap();
        let (ours, theirs) = duplex(1 << 16);
        let task = tokio::spawn(async move {
            let (reader, writer) = split(theirs);
            jsoncall::serve(&server, reader, writer).await.unwrap();
        });
        let (reader, writer) = split(ours);
        let mut peer = Self {
            lines: BufReader::new(reader).lines(),
            writer,
            task,
        };
        let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "peer", "version": "1"},
        }});
        peer.send(&hello.to_string()).await;
        assert_eq!(peer.receive().await.unwrap()["id"], "hello");
        peer.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        peer
    }

    async fn send(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    async fn receive(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Checks that the server still responds.
    async fn ping(&mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":"alive?","method":"ping"}"#)
            .await;
        while self.receive().await.unwrap()["id"] != "alive?" {}
    }
}

fn call(id: u32, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[tokio::test]
async fn broken_lines_get_an_error_and_keep_the_connection() {
    let mut peer = Peer::initialized().await;
    let cases = [
        ("{", -32700),
        ("nonsense", -32700),
        ("[]", -32600),
        ("7", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such/method"}"#,
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#,
            -32600,
        ),
    ];
    for (line, code) in cases {
        peer.send(line).await;
        let answer = peer.receive().await.unwrap();
        assert_eq!(answer["error"]["code"], code, "ALL-BASE: {line}: {answer}");
    }
    for silent in [
        "",
        "   ",
        "\r",
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"$/treenail/end"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}"#,
    ] {
        peer.send(silent).await;
    }
    peer.writer.write_all(b"\xff\xfe\n").await.unwrap();
    assert_eq!(
        peer.receive().await.unwrap()["error"]["code"],
        -32700,
        "not UTF-8"
    );
    peer.send(&"x".repeat(1 << 20)).await;
    assert_eq!(
        peer.receive().await.unwrap()["error"]["code"],
        -32700,
        "a line that is too long"
    );
    peer.ping().await;
}

#[tokio::test]
async fn a_panic_becomes_an_error_result() {
    let mut peer = Peer::initialized().await;
    for id in 0..3 {
        peer.send(&call(id, "panic", &json!({}))).await;
        let answer = peer.receive().await.unwrap();
        assert_eq!(
            (&answer["id"], &answer["result"]["isError"]),
            (&json!(id), &json!(true))
        );
    }
    peer.ping().await;
}

#[tokio::test]
async fn pending_calls_are_answered_after_the_end_of_input() {
    let mut peer = Peer::initialized().await;
    for id in 0..100 {
        peer.send(&call(id, "slow", &json!({"number": id}))).await;
    }
    peer.writer.shutdown().await.unwrap();
    let mut answered = Vec::new();
    while let Some(answer) = peer.receive().await {
        assert_eq!(answer["result"]["isError"], Value::Null, "{answer}");
        answered.push(answer["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..100).collect::<Vec<_>>(), "all 100 come back");
    peer.task.await.unwrap();
}

#[tokio::test]
async fn ids_are_returned_unchanged() {
    let mut peer = Peer::initialized().await;
    for id in [
        "\"a \\u00e9\"",
        "\"\"",
        "-7",
        "0",
        "9007199254740993",
        "\"7\"",
        "7",
        "7",
    ] {
        peer.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
            .await;
        let expected: Value = serde_json::from_str(id).unwrap();
        assert_eq!(peer.receive().await.unwrap()["id"], expected, "ALL-BASE");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_gets_back_pressure() {
    let mut peer = Peer::initialized().await;
    let line = format!(
        "{}\n",
        call(1, "slow", &json!({"number": "x".repeat(9_000)}))
    );
    let mut written = 0_u64;
    // Each gets an error response that quotes a part of it, and the responses are not read.
    while let Ok(sent) = tokio::time::timeout(
        Duration::from_secs(1),
        peer.writer.write_all(line.as_bytes()),
    )
    .await
    {
        sent.unwrap();
        written += 1;
        assert!(
            written < 20_000,
            "it takes all that comes, and keeps the answers"
        );
    }
    let rest = tokio::spawn(async move {
        let mut answers = peer.lines;
        let mut count = 0_u64;
        while count < written {
            let line = answers.next_line().await.unwrap().unwrap();
            count += u64::from(line.contains("\"id\":1,"));
        }
    });
    rest.await.unwrap();
}

/// Lines that are almost valid messages.
fn broken_lines(count: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(11);
    let whole = [
        call(5, "slow", &json!({"number": 0})),
        r#"{"jsonrpc":"2.0","id":"\u00e9\ud83d\ude00","method":"tools/list","params":{}}"#
            .to_owned(),
        r#"{"jsonrpc":"2.0","id":3,"result":{"a":[1e3,"\u0000"]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"x","data":[[]]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#
            .to_owned(),
        r#"[{"jsonrpc":"2.0","id":9,"method":"ping"}]"#.to_owned(),
    ];
    let mut lines = Vec::new();
    for _ in 0..count {
        let mut line = whole[random.usize(..whole.len())].clone().into_bytes();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..line.len());
            match random.u8(..4) {
                0 => drop(line.remove(at)),
                1 => line.insert(at, random.u8(..)),
                2 => line[at] = *random.choice(b"{}[]\",:0e-\\u\x00\xff").unwrap(),
                _ => {
                    let piece = line[at..].to_vec();
                    line.splice(at..at, piece);
                }
            }
        }
        line.retain(|byte| *byte != b'\n');
        line.push(b'\n');
        lines.extend(line);
    }
    lines
}

#[tokio::test]
async fn ten_thousand_broken_lines_do_not_end_a_server() {
    let Peer {
        lines: mut answers,
        mut writer,
        task,
    } = Peer::initialized().await;
    let writing = tokio::spawn(async move {
        writer.write_all(&broken_lines(10_000)).await.unwrap();
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":\"alive?\",\"method\":\"ping\"}\n";
        writer.write_all(ping).await.unwrap();
        writer
    });
    while !answers
        .next_line()
        .await
        .unwrap()
        .unwrap()
        .contains("alive?")
    {}
    drop(writing.await.unwrap());
    drop(answers);
    task.await.unwrap();
}

#[tokio::test]
async fn ten_thousand_broken_lines_do_not_end_a_client() {
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(ours);
    let session = JsoncallSession::new(reader, writer);
    let (their_reader, mut their_writer) = split(theirs);
    let request = treenail::client::SessionRequest::new(77, "ping", "{}".to_owned());
    tokio::spawn(async move {
        let mut requests = BufReader::new(their_reader).lines();
        requests.next_line().await.unwrap().unwrap();
        let mut rest = requests.into_inner();
        let reading = tokio::spawn(async move {
            drop(tokio::io::copy(&mut rest, &mut tokio::io::sink()).await);
        });
        their_writer.write_all(&broken_lines(10_000)).await.unwrap();
        let answer = b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{\"alive\":true}}\n";
        their_writer.write_all(answer).await.unwrap();
        reading.await.unwrap();
    });
    let answer = treenail::client::Session::request(&session, request).await;
    assert_eq!(answer.unwrap(), "{\"alive\":true}");
}

#[tokio::test]
async fn a_custom_session_can_use_a_server_as_its_handler() {
    let (server, _) = server();
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(theirs);
    let handler = JsoncallHandler::new(&server);
    let options = ::jsoncall::SessionOptions::default();
    let _session = ::jsoncall::Session::new(handler, BufReader::new(reader), writer, &options);
    let (reader, writer) = split(ours);
    let session = LineSession::with_limits(reader, writer, &ClientLimits::default());
    let client = McpClient::builder()
        .session(Arc::new(session))
        .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Decline)) })
        .protocol_version(Revision::V2025_11_25)
        .build()
        .await
        .unwrap();
    let sum: i64 = client
        .call_tool_as("add", json!({"a": 2, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum, 4);
    client.call_tool("book", ()).await.unwrap();
}

#[tokio::test]
async fn a_child_is_served_and_reaped() {
    let command = treenail::client::ServerCommand::new("sh").args([
        "-c",
        r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; cat > /dev/null; exit 3"#,
    ]);
    let session = JsoncallSession::command(&command, &ClientLimits::default()).unwrap();
    let request = treenail::client::SessionRequest::new(1, "ping", "{}".to_owned());
    treenail::client::Session::request(&session, request.clone())
        .await
        .unwrap();
    treenail::client::Session::close(&session).await.unwrap();
    let error = treenail::client::Session::request(&session, request)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("exited with status 3"),
        "{error}"
    );
}
