//! The name of a tool is not valid in the protocol.

use rmcp::{tool, tool_router};
use serde_json::json;

struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(name = "find places!", description = "Finds a place.")]
    fn find(&self) -> String {
        "place".to_owned()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::observe(Map, &[("find places!", json!({}))]).await
}
