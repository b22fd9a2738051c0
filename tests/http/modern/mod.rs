//! Outcomes of the modern era: the rows of annex C, and event streams.

mod bodies;
mod clients;
mod functions;
mod headers;
mod streams;

use serde_json::json;

use super::fixture;
use crate::client::Post;

fn add() -> Post {
    Post::tool("add", json!({"a": 2, "b": 3}))
}
