//! The tools are in a router, but the handler lacks `#[tool_handler]`.

use rmcp::{ServerHandler, tool, tool_router};
use serde_json::json;

pub struct Map;

#[tool_router(vis = "pub")]
impl Map {
    #[tool(description = "Finds a place.")]
    fn find(&self) -> String {
        "place".to_owned()
    }
}

impl ServerHandler for Map {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::observe(Map, &[("find", json!({}))]).await
}
