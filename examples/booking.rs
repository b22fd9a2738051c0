//! A tool that asks the user while it runs: for the values of a form, then to open a page. What is written is the same for
//! clients of every revision; those that cannot be asked are told what they lack. `booking` serves standard input and output,
//! `booking --http 127.0.0.1:8080` serves HTTP.

use std::env;

use treenail::prelude::*;

/// Who stays, and for how long.
#[mcp_form]
struct Guest {
    /// As it stands in the passport
    name: String,
    #[field(range = 1..=30, default = 1)]
    nights: u8,
}

/// Book a hotel room.
#[mcp_tool(open_world)]
async fn book(cx: &Context, city: String) -> Result<String, AskError> {
    let Guest { name, nights } = cx.elicit(format!("Who stays in {city}?")).await?;
    cx.elicit_url("Pay the deposit", "https://example.com/deposit")
        .await?;
    Ok(format!("{name} has a room in {city} for {nights} nights"))
}

fn server() -> treenail::Result<Server> {
    let server = Server::builder("booking", env!("CARGO_PKG_VERSION")).tools(tools![book]);
    server.build()
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
async fn guests_are_asked_in_every_revision_that_can() -> Result<(), Box<dyn std::error::Error>> {
    use serde_json::json;
    use treenail::schema::{ElicitAction, ElicitResult, Revision};

    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        // The page to pay at is agreed to like the form; it has no content to read.
        let accept = |_| async {
            let mut accepted = ElicitResult::new(ElicitAction::Accept);
            accepted.content = Some([("name".to_owned(), "Ada".into())].into());
            Ok(accepted)
        };
        let client = McpClient::builder()
            .server(&server()?)
            .protocol_version(revision)
            .on_elicit(accept)
            .build()
            .await?;
        let result = client.call_tool("book", json!({"city": "Oslo"})).await?;
        let expected = json!([{"type": "text", "text": "Ada has a room in Oslo for 1 nights"}]);
        assert_eq!(json!(result.content), expected);
    }
    Ok(())
}
