//! Tests of the conversion of results and failures.

mod describe;
mod failure;
mod structured;
mod truncate;

use serde_json::Value;
use treenail_schema::{CallToolResult, ContentBlock};

use super::for_model;
use crate::{ModelCapabilities, ToolLoopLimits};

fn result(result: Value) -> CallToolResult {
    serde_json::from_value(result).unwrap()
}

fn texts(blocks: &[ContentBlock]) -> Vec<&str> {
    blocks
        .iter()
        .map(|block| block.as_text().unwrap())
        .collect()
}

#[track_caller]
fn check(given: &Value, expected: &[&str]) {
    let blocks = for_model(
        &result(given.clone()),
        ModelCapabilities::default(),
        &ToolLoopLimits::default(),
    );
    assert_eq!(texts(&blocks), expected, "{given}");
}
