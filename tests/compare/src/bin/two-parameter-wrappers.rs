//! A tool has two parameter wrappers.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{schemars, tool, tool_router};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct From {
    from: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct To {
    to: String,
}

struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(description = "Finds a way.")]
    fn way(&self, Parameters(from): Parameters<From>, Parameters(to): Parameters<To>) -> String {
        format!("{} to {}", from.from, to.to)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::print_schemas(&Map::way_tool_attr());
    compare::observe(Map, &[("way", json!({"from": "Oslo", "to": "Bergen"}))]).await
}
