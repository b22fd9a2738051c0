//! The server is correct, but its caller misspells an optional argument.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{schemars, tool, tool_router};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Find {
    name: String,
    limit: Option<u32>,
}

struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(description = "Finds places.")]
    fn find(&self, Parameters(Find { name, limit }): Parameters<Find>) -> String {
        format!("{name}, limit {limit:?}")
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::observe(Map, &[("find", json!({"name": "Oslo", "limt": 3}))]).await
}
