//! A type alias hides the output wrapper of a tool.

use rmcp::{Json, schemars, tool, tool_router};
use serde_json::json;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Place {
    name: String,
}

type Found = Json<Place>;

struct Map;

#[tool_router(server_handler)]
impl Map {
    #[tool(description = "Finds a place.")]
    fn find(&self) -> Found {
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
