//! The output schema of a tool belongs to another type.

use rmcp::handler::server::tool::schema_for_output;
use rmcp::{Json, schemars, tool, tool_router};
use serde_json::json;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Place {
    name: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub struct Way {
    pub length: f64,
}

struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(description = "Finds a place.", output_schema = schema_for_output::<Way>())]
    fn find(&self) -> Json<Place> {
        Json(Place {
            name: "Oslo".to_owned(),
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    compare::print_schemas(&Map::find_tool_attr());
    compare::observe(Map, &[("find", json!({}))]).await
}
