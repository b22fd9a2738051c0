//! A type alias hides the parameter wrapper of a tool.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{schemars, tool, tool_router};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Find {
    name: String,
}

type FindArguments = Parameters<Find>;

struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(description = "Finds a place.")]
    fn find(&self, arguments: FindArguments) -> String {
        arguments.0.name
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::print_schemas(&Map::find_tool_attr());
    compare::observe(
        Map,
        &[("find", json!({})), ("find", json!({"name": "Oslo"}))],
    )
    .await
}
