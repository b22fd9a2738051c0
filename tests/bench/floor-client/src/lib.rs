//! A client as one writes it by hand with tokio: a task that writes what a channel brings, many lines at once, a task that
//! reads, and a table of the calls that wait. It keeps to the protocol for this one tool, and has no bound, no timeout, no
//! cancellation and no second request: what a framework costs is counted from here.
//!
//! `floor-client` reads the text of a result and skips the rest; `floor-client-whole` returns all members of it, as the client
//! of a library has to.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use client_load::{Arguments, Result, measure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};

const META: &str = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"floor-client","version":"0.0.0"}}"#;

/// Result of a call.
pub trait CallResult: DeserializeOwned + Send + Sync + 'static {
    /// The text of the first content block.
    fn text(&self) -> Option<&str>;
}

struct Waiting<R>(Arc<Mutex<HashMap<i64, oneshot::Sender<R>>>>);

impl<R> Clone for Waiting<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[derive(Serialize)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Answer<R> {
    id: i64,
    result: R,
}

/// Starts the server, makes the calls and prints their cost.
pub async fn run<R: CallResult>() -> Result<()> {
    let arguments = Arguments::read()?;
    let mut server = Command::new(&arguments.server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (lines, queue) = mpsc::unbounded_channel();
    let waiting = Waiting::<R>(Arc::default());
    if let (Some(stdin), Some(stdout)) = (server.stdin.take(), server.stdout.take()) {
        tokio::spawn(write(stdin, queue));
        tokio::spawn(read(stdout, waiting.clone()));
    }
    if !arguments.modern {
        greet(&lines, &waiting).await?;
    }
    let meta = if arguments.modern { META } else { "" };
    let last = Arc::new(AtomicI64::new(1));
    measure(arguments.calls, move |number| {
        let (lines, waiting, last) = (lines.clone(), waiting.clone(), Arc::clone(&last));
        async move {
            let id = last.fetch_add(1, Ordering::Relaxed);
            let arguments = serde_json::to_string(&Add { a: number, b: 1 })?;
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"add\",\"arguments\":{arguments}{meta}}}}}\n"
            );
            let sum = ask(&lines, &waiting, id, line).await?;
            Ok(sum.text().ok_or("no sum")?.parse()?)
        }
    })
    .await
}

async fn greet<R: CallResult>(
    lines: &mpsc::UnboundedSender<String>,
    waiting: &Waiting<R>,
) -> Result<()> {
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor-client","version":"0.0.0"}}"#;
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{params}}}\n");
    ask(lines, waiting, 0, line).await?;
    lines.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_owned())?;
    Ok(())
}

async fn ask<R>(
    lines: &mpsc::UnboundedSender<String>,
    waiting: &Waiting<R>,
    id: i64,
    line: String,
) -> Result<R> {
    let (sender, receiver) = oneshot::channel();
    let table = || waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
    table().insert(id, sender);
    lines.send(line)?;
    Ok(receiver.await?)
}

async fn write(mut stdin: ChildStdin, mut queue: mpsc::UnboundedReceiver<String>) {
    let mut lines = Vec::new();
    let mut bytes = Vec::new();
    while queue.recv_many(&mut lines, 64).await > 0 {
        for line in lines.drain(..) {
            bytes.extend_from_slice(line.as_bytes());
        }
        if stdin.write_all(&bytes).await.is_err() {
            return;
        }
        bytes.clear();
    }
}

async fn read<R: CallResult>(stdout: ChildStdout, waiting: Waiting<R>) {
    let mut reader = BufReader::with_capacity(64 * 1024, stdout);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).await.unwrap_or(0) > 0 {
        if let Ok(Answer::<R> { id, result }) = serde_json::from_slice(&line) {
            let mut table = waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(sender) = table.remove(&id) {
                drop(sender.send(result));
            }
        }
        line.clear();
    }
}
