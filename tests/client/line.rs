//! Hostile servers over byte streams.

#[path = "faults.rs"]
mod faults;

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader, duplex, split};
use tokio::sync::{Notify, mpsc};
use treenail::client::{
    ClientError, ClientLimits, HttpClientLimits, LineSession, McpClientSession, Session,
    SessionRequest,
};
use treenail::jsoncall::JsoncallSession;

use crate::script::{Reply, answer, discovered, scripted};

#[tokio::test]
async fn an_unlimited_timeout_does_not_overflow() {
    let limits = ClientLimits::default()
        .request_timeout(Duration::MAX)
        .probe_timeout(Duration::MAX)
        .http(HttpClientLimits::default().connect_timeout(Duration::MAX))
        .shutdown_timeout(Duration::MAX);
    let (ours, theirs) = duplex(1 << 16);
    let (called, mut calls) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (reader, mut writer) = split(theirs);
        let mut lines = BufReader::new(reader).lines();
        let mut last = String::new();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            if let (Some("server/discover"), Reply::Lines(lines)) =
                (message["method"].as_str(), discovered(&message))
            {
                let line = lines.join("\n") + "\n";
                writer.write_all(line.as_bytes()).await.unwrap();
            } else {
                last = answer(&message, &json!({"content": [], "resultType": "complete"})) + "\n";
                called.send(()).unwrap();
            }
        }
        // It finishes its work while the session is closing.
        writer.write_all(last.as_bytes()).await.unwrap();
    });
    let (reader, writer) = split(ours);
    let session = Arc::new(LineSession::with_limits(reader, writer, &limits));
    let session = McpClientSession::builder()
        .session(session)
        .build()
        .await
        .unwrap();
    let closing = async {
        calls.recv().await.unwrap();
        session.close().await
    };
    let (called, closed) = tokio::join!(session.tools_call("t", ()), closing);
    called.unwrap();
    closed.unwrap();
}

/// Writer that breaks after the first line.
#[derive(Clone, Default)]
struct BreakingWriter {
    has_line: Arc<AtomicBool>,
    /// Notified of the first line, and of the failure.
    changed: Arc<Notify>,
}

impl AsyncWrite for BreakingWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.has_line.load(Ordering::Relaxed) {
            self.changed.notify_one();
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        if bytes.ends_with(b"\n") {
            self.has_line.store(true, Ordering::Relaxed);
            self.changed.notify_one();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn answers_count_if_they_arrive_after_a_failed_write() {
    for over_jsoncall in [false, true] {
        let (mut server, reader) = duplex(1024);
        let writer = BreakingWriter::default();
        let changed = Arc::clone(&writer.changed);
        let session: Arc<dyn Session> = if over_jsoncall {
            Arc::new(JsoncallSession::new(reader, writer))
        } else {
            Arc::new(LineSession::new(reader, writer))
        };
        let request = |id| session.request(SessionRequest::new(id, "ping", "{}".into()));
        let answers = async {
            changed.notified().await;
            let failing = request(2);
            let answer = async {
                changed.notified().await;
                let answer = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
                server.write_all(answer).await.unwrap();
                drop(server);
            };
            tokio::join!(failing, answer).0
        };
        let (answered, failed) = tokio::join!(request(1), answers);
        assert_eq!(answered.unwrap(), "{}", "{over_jsoncall}");
        let error = failed.unwrap_err();
        assert!(matches!(error, ClientError::Closed(_)), "{error}");
    }
}
