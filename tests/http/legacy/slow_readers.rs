//! Clients that read slowly, but steadily.

use serde_json::json;
use treenail::http::{HttpService, http_service};
use treenail::limits::HttpLimits;
use treenail::prelude::*;
use treenail::schema::Revision;

use super::Client;
use crate::client::{messages, next};

/// Number of short messages after the long one, more than a stream stores for a reader.
const SHORT: u32 = 40;

/// Reports a long progress message, and then short ones.
#[mcp_tool]
async fn report(cx: &Context) -> String {
    cx.progress(0).message("x".repeat(1 << 20)).await;
    for step in 1..=SHORT {
        cx.progress(step).await;
    }
    "reported".to_owned()
}

fn service() -> HttpService {
    let server = Server::builder("reporter", "1").tools(tools![report]);
    http_service(server.build().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_reader_of_a_long_message_does_not_stall() {
    let client = Client::start(&service(), Revision::V2025_06_18).await;
    let mut body = client.open(client.tool(1, "report", &json!({}))).await;
    let pause = HttpLimits::default().write_timeout * 2 / 3;
    let mut text = Vec::new();
    while let Some(piece) = next(&mut body).await {
        text.extend_from_slice(&piece);
        // On the paused clock.
        tokio::time::sleep(pause).await;
    }
    let messages = messages(std::str::from_utf8(&text).unwrap());
    assert_eq!(messages.len(), 2 + SHORT as usize);
    assert_eq!(messages.last().unwrap()["id"], 1);
}
