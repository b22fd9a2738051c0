//! Board of notes: clients receive notifications when it changes, and a client can wait for a note that another one pins.
//! `board` serves standard input and output, `board --http 127.0.0.1:8080` serves HTTP.

use std::env;

use tokio::sync::watch;
use treenail::prelude::*;
use treenail::server::Component;

/// Maximum number of notes. Beyond it, the oldest note is removed.
const MAX_NOTES: usize = 100;

#[derive(Default)]
struct Board {
    notes: watch::Sender<Vec<String>>,
}

/// Guard that reports a change of the number of waiting calls when a call ends or is cancelled.
struct WaitGuard(Server);

impl Drop for WaitGuard {
    fn drop(&mut self) {
        self.0.resource_updated("board://waiting");
    }
}

#[mcp_tool(namespace = "board")]
impl Board {
    /// Pin a note and return the number of notes.
    #[tool]
    fn pin(&self, cx: &Context, note: String) -> usize {
        self.notes.send_modify(|notes| {
            notes.push(note);
            notes.drain(..notes.len().saturating_sub(MAX_NOTES));
        });
        cx.server().resource_updated("board://notes");
        self.notes.borrow().len()
    }

    /// Wait for a note that contains a word.
    #[tool(read_only)]
    async fn wait(&self, cx: &Context, word: String) -> Result<String, watch::error::RecvError> {
        let _guard = WaitGuard(cx.server().clone()); // dropped after `notes`, which is counted
        let mut notes = self.notes.subscribe();
        cx.server().resource_updated("board://waiting");
        let mut checks = 0;
        loop {
            let found = find_note(&notes.borrow_and_update(), &word);
            if let Some(note) = found {
                return Ok(note);
            }
            checks += 1;
            cx.progress(checks).await;
            notes.changed().await?;
        }
    }

    /// Allow or forbid pinning of notes.
    #[tool(idempotent)]
    fn allow(cx: &Context, pinning: bool) -> treenail::Result<()> {
        let pin = Component::tool("board.pin");
        cx.server().edit(|registry| {
            if pinning {
                registry.enable(pin)
            } else {
                registry.disable(pin)
            }
        })
    }

    /// All notes, oldest first.
    #[resource("board://notes", subscribable)]
    fn notes(&self) -> Vec<String> {
        self.notes.borrow().clone()
    }

    /// Number of calls that wait for a note.
    #[resource("board://waiting", subscribable)]
    fn waiting(&self) -> usize {
        self.notes.receiver_count()
    }
}

fn find_note(notes: &[String], word: &str) -> Option<String> {
    notes.iter().find(|note| note.contains(word)).cloned()
}

fn server() -> treenail::Result<Server> {
    let server = Server::builder("board", env!("CARGO_PKG_VERSION")).dynamic();
    server.mount(Board::default()).build()
}

#[tokio::main(flavor = "current_thread")]
#[expect(
    clippy::print_stderr,
    reason = "the user needs the address of the server"
)]
async fn main() -> treenail::Result<()> {
    let mut arguments = env::args().skip_while(|argument| argument != "--http");
    let Some(address) = arguments.nth(1) else {
        return server()?.serve_stdio().await;
    };
    let http = server()?.bind_http(address).await?;
    eprintln!("http://{}/mcp", http.local_addr());
    http.serve().await
}

#[cfg(test)]
#[tokio::test]
async fn pinning_can_be_forbidden() -> Result<(), Box<dyn std::error::Error>> {
    use serde_json::json;

    let client = McpClient::builder().server(&server()?).build().await?;
    client
        .call_tool("board.pin", json!({"note": "lunch at noon"}))
        .await?;
    let result = client
        .call_tool("board.wait", json!({"word": "lunch"}))
        .await?;
    assert_eq!(
        json!(result.content),
        json!([{"type": "text", "text": "lunch at noon"}])
    );

    client
        .call_tool("board.allow", json!({"pinning": false}))
        .await?;
    assert!(
        client
            .call_tool("board.pin", json!({"note": "tea"}))
            .await
            .is_err()
    );
    Ok(())
}
