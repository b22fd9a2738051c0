//! A tool is annotated as both read-only and destructive.

use rmcp::{tool, tool_router};
use serde_json::json;

struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(
        description = "Finds a place.",
        annotations(read_only_hint = true, destructive_hint = true)
    )]
    fn find(&self) -> String {
        "place".to_owned()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::observe(Map, &[("find", json!({}))]).await
}
