//! A server with 1,000 tools, for the benchmark of `tools/list`.

use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::stdio;
use rmcp::{ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct AddParams {
    a: i64,
    b: i64,
}

#[derive(Clone)]
struct Many {
    tool_router: ToolRouter<Self>,
}

#[expect(clippy::unused_self, reason = "rmcp takes methods as tools")]
#[tool_router]
impl Many {
    #[tool(description = "Adds two integers.")]
    fn add(&self, Parameters(AddParams { a, b }): Parameters<AddParams>) -> String {
        (a + b).to_string()
    }

    fn new() -> Self {
        let mut tool_router = ToolRouter::new();
        for number in 0..1_000 {
            let mut tool = Self::add_tool_attr();
            tool.name = format!("add_{number}").into();
            tool_router.add_route(ToolRoute::new(tool, Self::add));
        }
        Self { tool_router }
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Many {}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let service = Many::new().serve(stdio()).await?;
    service.waiting().await?;
    Ok(())
}
