use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<u32, ToolError>;
}

async fn agent(weather: WeatherClient) -> Result<String, treenail::ClientError> {
    weather.radar().await
}

fn main() {
    drop(agent);
}
