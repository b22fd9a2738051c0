use treenail::tool::Structured;
use treenail::{ToolError, mcp_client, mcp_type};

#[mcp_type(output)]
pub struct Forecast {
    pub celsius: f64,
}

#[mcp_client]
pub trait WeatherApi {
    async fn forecast(&self) -> Result<Structured<Forecast>, ToolError>;
}

fn main() {}
