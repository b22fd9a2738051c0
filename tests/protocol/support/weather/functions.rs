//! Functions of the server of tools, without the methods of its state.

use treenail::prelude::*;
use treenail::schema::{AudioContent, CallToolResult, ContentBlock, ResourceLink};

use super::Failure;

pub(super) fn tools() -> treenail::tool::ToolSet {
    tools![
        add,
        greet,
        motto,
        nothing,
        perhaps,
        fails,
        fails_with_text,
        fails_anyhow,
        fails_with_content,
        panics,
        panics_at_once,
        media,
        whole_result,
        null,
        list_of_numbers,
        works_hard,
        unwritable,
    ]
}

/// Adds two integers.
#[mcp_tool(read_only, title = "Add")]
pub(super) async fn add(
    /// The first one
    a: i64,
    b: i64,
) -> i64 {
    a + b
}

#[mcp_tool]
pub(super) fn greet(#[arg(default = "world", length = 1..=20)] name: String) -> String {
    format!("Hello \"{name}\"")
}

#[mcp_tool]
pub(super) fn motto() -> &'static str {
    "one\ntwo"
}

#[mcp_tool]
pub(super) fn nothing() {}

#[mcp_tool]
pub(super) fn perhaps(text: Option<String>) -> Option<String> {
    text
}

#[mcp_tool]
pub(super) fn fails(with: Option<String>) -> Result<i64, Failure> {
    if with.is_some() { Err(Failure) } else { Ok(1) }
}

#[mcp_tool]
pub(super) fn fails_with_text() -> Result<i64, String> {
    Err("as a text".to_owned())
}

#[mcp_tool]
pub(super) async fn fails_anyhow() -> anyhow::Result<String> {
    Err(anyhow::Error::new(Failure).context("no forecast"))
}

#[mcp_tool]
pub(super) fn fails_with_content() -> Result<(), ToolError> {
    Err(ToolError::with_content(vec![
        ContentBlock::text("one"),
        ContentBlock::text("two"),
    ]))
}

#[mcp_tool]
pub(super) async fn panics(later: bool) -> String {
    if later {
        tokio::task::yield_now().await;
    }
    panic!("a secret");
}

#[mcp_tool]
pub(super) fn panics_at_once() -> String {
    panic!("a secret");
}

#[mcp_tool]
pub(super) fn media() -> Vec<ContentBlock> {
    vec![
        ContentBlock::text("see"),
        AudioContent::new("UklGRg==", "audio/wav").into(),
        ResourceLink::new("file:///report.txt", "report").into(),
    ]
}

#[mcp_tool]
pub(super) fn whole_result() -> CallToolResult {
    CallToolResult::new(vec![ContentBlock::text("3")]).with_structured_content(3)
}

#[mcp_tool]
pub(super) fn null() -> CallToolResult {
    CallToolResult::new([]).with_structured_content(Value::Null)
}

#[mcp_tool]
pub(super) fn list_of_numbers(count: u8) -> Vec<u8> {
    (0..count).collect()
}

#[mcp_tool(blocking)]
pub(super) fn works_hard(cx: &Context) -> String {
    cx.client_info()
        .map_or_else(|| "nobody".to_owned(), |client| client.name.clone())
}

/// A value that cannot be serialized as JSON: a map whose keys are not strings.
#[mcp_tool]
pub(super) fn unwritable() -> Result<Value, serde_json::Error> {
    serde_json::to_value(std::collections::HashMap::from([(vec![1], 2)]))
}
