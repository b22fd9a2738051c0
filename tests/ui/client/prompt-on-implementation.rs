use treenail::{ToolError, mcp_client, mcp_tool};

#[mcp_client]
trait Weather {
    async fn radar(&self, city: String) -> Result<u32, ToolError>;
}

struct Station;

#[mcp_tool]
impl Weather for Station {
    #[prompt]
    async fn radar(&self, city: String) -> Result<u32, ToolError> {
        Ok(city.len() as u32)
    }
}

fn main() {
    let _ = (MockWeather::new(), WeatherClient::new);
    let _ = treenail::server!().mount(Station);
}
