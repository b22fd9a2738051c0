//! Calls that a model writes as text: the pieces in which its text arrives change nothing.

use std::sync::LazyLock;

use treenail::ToolLoop;
use treenail::agent::{ModelCapabilities, RunReport, ScriptedModel, ScriptedReply, TextToolFormat};
use treenail::prelude::*;

use crate::in_memory::run as run_future;

/// Repeats a text.
#[mcp_tool(read_only)]
fn echo(text: String) -> String {
    text
}

/// Returns the time.
#[mcp_tool(read_only)]
fn clock() -> String {
    "12:00".to_owned()
}

/// Lists files.
#[mcp_tool(read_only)]
fn list_files(path: Option<String>) -> String {
    path.unwrap_or_default()
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let builder = Server::builder("desk", "1.0.0").tools(tools![echo, clock, list_files]);
    builder.build().expect("the server is valid")
});

/// The first byte has options, and the second one is the size of the pieces. The rest is the message of a model.
pub(crate) fn run(data: &[u8]) {
    let [options, piece, message @ ..] = data else {
        return;
    };
    let Ok(message) = std::str::from_utf8(message) else {
        return;
    };
    let whole = reported(*options, message, None);
    let pieces = reported(*options, message, Some(usize::from(*piece) + 1));
    assert_eq!(whole.transcript, pieces.transcript);
    assert_eq!(whole.stop_reason, pieces.stop_reason);
}

fn reported(options: u8, message: &str, piece: Option<usize>) -> RunReport {
    let mut reply = ScriptedReply::text(message);
    if let Some(piece) = piece {
        reply = reply.chunks(piece);
    }
    if options & 1 != 0 {
        reply = reply.stop_reason("maxTokens");
    }
    let model = ScriptedModel::new([
        reply,
        ScriptedReply::text("Good."),
        ScriptedReply::text("Good."),
    ]);
    let model = model.with_capabilities(ModelCapabilities::default().tools(false));
    let format = TextToolFormat::default()
        .mentions(options & 2 != 0)
        .arguments_bytes(if options & 4 != 0 { 32 } else { 256 << 10 })
        .arguments_depth(if options & 8 != 0 { 2 } else { 64 });
    let agent = ToolLoop::new(model)
        .source("desk", &*SERVER)
        .text_tool_format(format);
    match run_future(async { agent.run("Go").await }) {
        Ok(report) => report,
        Err(error) => error.report().clone(),
    }
}
