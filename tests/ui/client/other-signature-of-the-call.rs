use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar(&self, days: u8) -> Result<u32, ToolError>;
}

async fn agent(weather: WeatherClient) {
    drop(weather.radar("3").await);
}

fn main() {
    drop(agent);
}
