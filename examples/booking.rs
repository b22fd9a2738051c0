//! A tool that asks the user while it runs: for the values of a form, then to open a page. What is written is the same for
//! clients of every revision; those that cannot be asked are told what they lack.

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

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let server = Server::builder("booking", env!("CARGO_PKG_VERSION")).tools(tools![book]);
    server.build()?.serve_stdio().await
}
