//! Tools inside of layers: one that echoes its argument, one that never returns, and one for each kind of result.

/// The same at run time.
pub(crate) mod twin;

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::{CallToolResult, ContentBlock, ResultMetaObject};

use crate::support::offer::Offer;

#[mcp_type]
struct Measured {
    exact: f64,
    large: u64,
    text: String,
}

#[mcp_tool]
fn measure() -> Measured {
    Measured {
        exact: 0.1 + 0.2,
        large: u64::MAX,
        text: "\u{1}\"ä".to_owned(),
    }
}

#[mcp_tool]
fn any_value() -> Value {
    json!({"a": 1.5e300})
}

#[mcp_tool]
fn with_meta() -> CallToolResult {
    let meta = json!({"example.com/x": 1});
    let meta: ResultMetaObject = serde_json::from_value(meta).unwrap();
    CallToolResult::new([ContentBlock::text("m")])
        .with_structured_content(json!({"b": 2, "a": 1}))
        .with_meta(meta)
}

#[mcp_tool(read_only)]
async fn look() -> &'static str {
    "seen"
}

#[mcp_tool]
async fn echo(cx: &Context, text: String) -> String {
    cx.progress(1).await;
    text
}

#[mcp_tool]
async fn hang(cx: &Context) {
    cx.progress(1).await;
    std::future::pending::<()>().await;
}

/// Adds the tools whose calls pass through layers.
pub(crate) fn add_echo<O: Offer>(offer: O) -> O {
    offer.with_tools(tools![look, echo, hang])
}

/// Adds the tools with results of several kinds.
pub(crate) fn add_results<O: Offer>(offer: O) -> O {
    offer.with_tools(tools![measure, any_value, with_meta])
}
