//! A client that calls one tool through `McpClientSession`.

use std::sync::Arc;

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
    let session = McpClientSession::builder()
        .command(&*arguments.server)
        .protocol_version(revision)
        .build()
        .await?;
    let session = Arc::new(session);
    measure(arguments.calls, move |number| {
        let session = Arc::clone(&session);
        async move {
            let result = session.tools_call("add", Add { a: number, b: 1 }).await?;
            let sum = result.content.first().and_then(|block| block.as_text());
            Ok(sum.ok_or("no sum")?.parse()?)
        }
    })
    .await
}
