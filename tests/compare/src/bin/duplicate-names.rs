//! Two tools have the same name.

use rmcp::{tool, tool_router};
use serde_json::json;

struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(name = "find", description = "Finds a place.")]
    fn find_place(&self) -> String {
        "place".to_owned()
    }

    #[tool(name = "find", description = "Finds a way.")]
    fn find_way(&self) -> String {
        "way".to_owned()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::observe(Map, &[("find", json!({}))]).await
}
