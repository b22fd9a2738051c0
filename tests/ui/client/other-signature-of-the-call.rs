use treenail::{ToolError, mcp_client};

#[mcp_client]
trait Weather {
    async fn radar(&self, city: String, days: u8) -> Result<u32, ToolError>;
}

async fn agent(weather: WeatherClient) {
    drop(weather.radar("Oslo".to_owned(), "3").await);
}

fn main() {
    drop(agent);
}
