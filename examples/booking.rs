//! Tool that asks the user while it runs: first for the values of a form, then to open a page. The code is the same for
//! clients of every revision. Clients without elicitation receive an error that names the missing capability. `booking`
//! serves standard input and output, `booking --http 127.0.0.1:8080` serves HTTP.

use std::env;

use treenail::prelude::*;

/// Guest and length of the stay.
#[mcp_form]
struct Guest {
    /// Name as in the passport
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
async fn guests_are_asked_in_every_revision_with_elicitation()
-> Result<(), Box<dyn std::error::Error>> {
    use serde_json::json;
    use treenail::schema::{ElicitAction, ElicitResult, Revision};

    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        // The same answer accepts the payment page, which ignores the content.
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
