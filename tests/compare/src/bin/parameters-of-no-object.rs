//! The parameters of a tool are not an object.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{tool, tool_router};
use serde_json::json;

struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(description = "Finds a place.")]
    fn find(&self, Parameters(name): Parameters<String>) -> String {
        name
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::observe(Map, &[("find", json!({"name": "Oslo"}))]).await
}
