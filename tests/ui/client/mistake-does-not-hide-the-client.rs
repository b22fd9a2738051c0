use treenail::{Server, ToolError, mcp_client, mcp_tool};

#[mcp_client]
trait Weather {
    #[tool(readonly)]
    async fn radar(&self) -> Result<u32, ToolError>;
    async fn forecast(&self, city: String) -> Result<String, ToolError>;
}

struct Station;

#[mcp_tool]
impl Weather for Station {
    async fn radar(&self) -> Result<u32, ToolError> {
        Ok(1)
    }
    async fn forecast(&self, city: String) -> Result<String, ToolError> {
        Ok(city)
    }
}

#[mcp_client]
trait Town {
    #[namespace]
    fn weather(&self) -> &impl Weather;
}

async fn uses(client: &treenail::McpClient) -> Result<(), treenail::Error> {
    let mock = MockWeather::new().on_forecast(Ok).on_radar(|| Ok(1));
    let _ = mock.client().await?.forecast("Riga".to_owned()).await;
    let _ = WeatherClient::new(client).radar().await;
    let _ = WeatherClient::contract()?;
    let _ = MockTown::new().on_weather(mock);
    Ok(())
}

fn main() {
    let _ = treenail::server!().mount(Station).build().map(|_: Server| ());
}
