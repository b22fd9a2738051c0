//! A type has two blocks with tools, but the handler serves the router of only one.

use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::json;

pub struct Map;

#[tool_router]
impl Map {
    #[tool(description = "Finds a place.")]
    fn find(&self) -> String {
        "place".to_owned()
    }
}

#[tool_router(router = more, vis = "pub")]
impl Map {
    #[tool(description = "Counts the places.")]
    fn count(&self) -> String {
        "7".to_owned()
    }
}

#[tool_handler]
impl ServerHandler for Map {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::observe(Map, &[("count", json!({}))]).await
}
