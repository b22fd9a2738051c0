//! Responses of a server to the lines of its peer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWriteExt, DuplexStream, ReadBuf, duplex, sink};
use tokio::time::timeout;
use treenail::Limits;
use treenail::jsoncall;

use super::peer::{INITIALIZED, Peer, call, hello};
use crate::fixture::server;

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
        r#"{"jsonrpc":"2.0","id":99,"result":{},"error":null}"#,
        r#"{"id":99,"result":{}}"#,
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
        -32600,
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
        "9223372036854775808",
        "99999999999999999999",
        "-0",
        "\"\\ud800\"",
    ] {
        peer.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
            .await;
        let answer = peer.lines.next_line().await.unwrap().unwrap();
        let expected = format!(r#""id":{id},"result":"#);
        assert!(answer.contains(&expected), "ALL-BASE: {answer}");
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
    while let Ok(sent) = timeout(
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

#[tokio::test(start_paused = true)]
async fn questions_that_are_dropped_at_once_leave_nothing_behind() {
    let limits = Limits::default().queued_output_bytes(10_000);
    let mut peer = Peer::with_limits(limits).await;
    for id in 0..500 {
        peer.send(&call(id, "give_up", &json!({}))).await;
        loop {
            let message = timeout(Duration::from_secs(1), peer.receive()).await;
            let message = message.unwrap_or_else(|_| panic!("call {id} is not answered"));
            if message.unwrap()["id"] == id {
                break;
            }
        }
    }
    peer.writer.shutdown().await.unwrap();
    let ended = timeout(Duration::from_secs(1), peer.task).await;
    ended.unwrap().unwrap();
}

/// Stream that fails where its input ends.
struct Broken(DuplexStream);

impl AsyncRead for Broken {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(context, buffer))?;
        if buffer.filled().len() == before {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_error_ends_the_connection_and_its_calls_at_once() {
    for is_used in [false, true] {
        let (server, observer) = server();
        let (mut writer, reader) = duplex(1 << 10);
        let task =
            tokio::spawn(async move { jsoncall::serve(&server, Broken(reader), sink()).await });
        if is_used {
            let lines = [
                hello(),
                INITIALIZED.to_owned(),
                call(1, "wait", &json!({})),
                String::new(),
            ];
            writer.write_all(lines.join("\n").as_bytes()).await.unwrap();
            observer.started.notified().await;
        }
        drop(writer);
        let second = Duration::from_secs(1);
        let ended = timeout(second, task).await.unwrap().unwrap();
        let error = ended.unwrap_err();
        assert!(matches!(error, treenail::Error::Io(_)), "{error}");
        if is_used {
            timeout(second, observer.dropped.notified()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_malformed_or_oversized_response_ends_its_question() {
    let long = "x".repeat(20_000);
    let oversized = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"a":"{long}"}}}}"#);
    let nested = "[".repeat(80) + &"]".repeat(80);
    let deep = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"a":{nested}}}}}"#);
    for line in [
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":null}"#,
        &oversized,
        &deep,
    ] {
        let mut peer = Peer::initialized().await;
        peer.send(&call(1, "ask", &json!({}))).await;
        let question = peer.receive().await.unwrap();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        peer.send(&line.replace("ID", &question["id"].to_string()))
            .await;
        let answer = peer.receive().await.unwrap();
        assert_eq!(answer["id"], 1, "ALL-BASE-05: {answer}");
        let reason = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(reason.contains("its response is not valid"), "{reason}");
    }
}
