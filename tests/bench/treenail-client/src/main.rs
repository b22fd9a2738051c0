//! A client that calls one tool, as a user of Treenail writes it.

use client_load::{Arguments, Result, measure};
use serde::Serialize;
use treenail::prelude::*;
use treenail::schema::Revision;

#[derive(Serialize)]
struct Add {
    a: i64,
    b: i64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::read()?;
    let revision = match arguments.modern {
        true => Revision::LATEST,
        false => Revision::LATEST_LEGACY,
    };
    let client = McpClient::builder()
        .command(&*arguments.server)
        .protocol_version(revision)
        .build()
        .await?;
    measure(arguments.calls, move |number| {
        let client = client.clone();
        async move {
            let result = client.call_tool("add", Add { a: number, b: 1 }).await?;
            let sum = result.content.first().and_then(|block| block.as_text());
            Ok(sum.ok_or("no sum")?.parse()?)
        }
    })
    .await
}
