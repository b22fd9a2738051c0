//! Contract of the server and its clients. A changed method is a compile error on both sides.

use treenail::prelude::*;

/// Weather of one day.
#[mcp_type]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Day {
    /// Degrees Celsius
    pub temperature: i8,
    /// Millimetres
    pub rain: u16,
}

/// Weather for travellers.
#[mcp_client(namespace = "weather")]
pub trait WeatherApi {
    /// Daily forecast for one city.
    #[tool(read_only)]
    async fn forecast(
        &self,
        /// Name of the city, e.g. "Oslo"
        city: String,
        #[arg(default = 3, range = 1..=7)] days: u8,
    ) -> Result<Vec<Day>, ToolError>;
}
