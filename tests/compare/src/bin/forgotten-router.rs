//! A method has `#[tool]` in a block without `#[tool_router]`.

use rmcp::{tool, tool_router};
use serde_json::json;

pub struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(description = "Finds a place.")]
    fn find(&self) -> String {
        "place".to_owned()
    }
}

impl Map {
    #[tool(description = "Counts the places.")]
    pub fn count(&self) -> String {
        "7".to_owned()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::observe(Map, &[("count", json!({}))]).await
}
