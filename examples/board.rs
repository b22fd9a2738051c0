//! A board of notes: clients hear when it changes, and one can wait for a note that another pins. `board` serves standard
//! input and output, `board --http 127.0.0.1:8080` serves HTTP.

use std::env;

use tokio::sync::watch;
use treenail::Component;
use treenail::prelude::*;

/// There is room for so many notes; the oldest one goes first.
const ROOM: usize = 100;

#[derive(Default)]
struct Board {
    notes: watch::Sender<Vec<String>>,
}

/// Tells that the number of those who wait is another one, when a call ends in whatever way.
struct Leaving(Server);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.resource_updated("board://waiting");
    }
}

#[mcp_tool(namespace = "board")]
impl Board {
    /// Pin a note; tells how many there are.
    #[tool]
    fn pin(&self, cx: &Context, note: String) -> usize {
        self.notes.send_modify(|notes| {
            notes.push(note);
            notes.drain(..notes.len().saturating_sub(ROOM));
        });
        cx.server().resource_updated("board://notes");
        self.notes.borrow().len()
    }

    /// Wait for a note with a word in it.
    #[tool(read_only)]
    async fn wait(&self, cx: &Context, word: String) -> Result<String, watch::error::RecvError> {
        let _leaving = Leaving(cx.server().clone()); // dropped after `notes`, which is counted
        let mut notes = self.notes.subscribe();
        cx.server().resource_updated("board://waiting");
        let mut looks = 0;
        loop {
            let found = find(&notes.borrow_and_update(), &word);
            if let Some(note) = found {
                return Ok(note);
            }
            looks += 1;
            cx.progress(looks).await;
            notes.changed().await?;
        }
    }

    /// Allow or forbid to pin notes.
    #[tool(idempotent)]
    fn allow(cx: &Context, pinning: bool) -> treenail::Result<()> {
        let pin = Component::tool("board.pin");
        cx.server().edit(|offer| {
            if pinning {
                offer.enable(pin)
            } else {
                offer.disable(pin)
            }
        })
    }

    /// All notes, the oldest first.
    #[resource("board://notes", subscribable)]
    fn notes(&self) -> Vec<String> {
        self.notes.borrow().clone()
    }

    /// How many wait for a note.
    #[resource("board://waiting", subscribable)]
    fn waiting(&self) -> usize {
        self.notes.receiver_count()
    }
}

fn find(notes: &[String], word: &str) -> Option<String> {
    notes.iter().find(|note| note.contains(word)).cloned()
}

fn server() -> treenail::Result<Server> {
    let server = Server::builder("board", env!("CARGO_PKG_VERSION")).dynamic();
    server.mount(Board::default()).build()
}

#[tokio::main(flavor = "current_thread")]
#[expect(
    clippy::print_stderr,
    reason = "who starts it wants to know where it is"
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
async fn nobody_pins_what_is_forbidden() -> Result<(), Box<dyn std::error::Error>> {
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
