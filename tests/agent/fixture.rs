//! A server with tools of each kind, and helpers to inspect conversations.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use treenail::agent::{Run, RunEvent, RunReport};
use treenail::prelude::*;
use treenail::schema::{Role, SamplingMessage, SamplingMessageContentBlock as Block};

/// Log of tool calls, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Logs its text when dropped: a cancellation, unless the tool has changed it.
struct Ending<'a>(&'a Log, String);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.write(std::mem::take(&mut self.1));
    }
}

pub(crate) struct Desk(Log);

#[mcp_tool]
impl Desk {
    /// Says it again.
    #[tool(read_only)]
    fn echo(&self, text: String) -> String {
        self.0.write(format!("echo {text}"));
        text
    }

    #[tool(read_only)]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    /// Waits.
    #[tool(read_only)]
    async fn wait(&self, name: String, millis: u64) -> String {
        self.0.write(format!("begin {name}"));
        let mut ending = Ending(&self.0, format!("cancel {name}"));
        tokio::time::sleep(Duration::from_millis(millis)).await;
        ending.1 = format!("end {name}");
        name
    }

    #[tool(read_only)]
    fn fail(text: String) -> Result<String, ToolError> {
        Err(ToolError::new(text))
    }

    #[tool(read_only)]
    fn big(bytes: usize) -> String {
        "x".repeat(bytes)
    }

    #[tool(destructive)]
    fn delete(&self, name: String) -> String {
        self.0.write(format!("delete {name}"));
        format!("{name} is gone")
    }

    /// Says nothing of its effects.
    #[tool]
    fn unsaid() -> &'static str {
        "done"
    }

    #[tool(read_only, open_world)]
    fn look_up(&self, word: String) -> String {
        self.0.write(format!("look_up {word}"));
        word
    }

    #[tool(read_only)]
    async fn steps(cx: &Context, count: u64) -> &'static str {
        for step in 1..=count {
            cx.progress(step).total(count).await;
        }
        "walked"
    }
}

pub(crate) fn desk() -> (Server, Log) {
    let log = Log::default();
    let server = treenail::server!().mount(Desk(log.clone())).build();
    (server.unwrap(), log)
}

/// Collects all events of a run.
pub(crate) async fn events(run: &mut Run) -> Vec<RunEvent> {
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    events
}

/// Results that the model received, in order: id of the call, error flag, text.
pub(crate) fn results(report: &RunReport) -> Vec<(String, bool, String)> {
    results_of(&report.transcript)
}

pub(crate) fn results_of(messages: &[SamplingMessage]) -> Vec<(String, bool, String)> {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let results = blocks.filter_map(|block| match block {
        Block::ToolResult(result) => Some(result),
        _ => None,
    });
    results
        .map(|result| {
            let texts = result.content.iter().filter_map(|block| block.as_text());
            let text = texts.collect::<Vec<_>>().join("\n");
            let is_error = result.is_error == Some(true);
            (result.tool_use_id.clone(), is_error, text)
        })
        .collect()
}

/// The only result that the model received, which has to be an error.
pub(crate) fn failure(report: &RunReport) -> String {
    let mut results = results(report);
    assert_eq!(results.len(), 1, "{results:?}");
    let (_, is_error, text) = results.remove(0);
    assert!(is_error, "{text}");
    text
}

/// Independent check of the protocol's rules for conversations with tools.
#[track_caller]
pub(crate) fn assert_well_formed(messages: &[SamplingMessage]) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let results: Vec<&str> = message
            .content
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult(result) => Some(&*result.tool_use_id),
                _ => None,
            })
            .collect();
        assert_eq!(
            results, open,
            "ALL-SAM-03, SRV-SAM-05: in the order of the uses"
        );
        if !results.is_empty() {
            assert_eq!(message.role, Role::User, "ALL-SAM-02");
            assert_eq!(results.len(), message.content.iter().count(), "ALL-SAM-02");
        }
        open = message
            .content
            .iter()
            .filter_map(|block| match block {
                Block::ToolUse(tool_use) => Some(&*tool_use.id),
                _ => None,
            })
            .collect();
        let mut ids = open.clone();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), open.len(), "ids differ");
    }
    assert_eq!(open, [] as [&str; 0], "ALL-SAM-03: all uses have results");
}
