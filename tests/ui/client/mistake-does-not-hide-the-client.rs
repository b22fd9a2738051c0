use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    #[tool(readonly)]
    async fn radar(&self) -> Result<u32, ToolError>;
}

fn main() {
    let _ = (MockWeather::new(), WeatherClient::new);
}
