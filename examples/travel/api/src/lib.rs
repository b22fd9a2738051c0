//! Contract that the server and the agent share: one trait and its types.

use treenail::prelude::*;

/// The weather of one day.
#[mcp_type]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Day {
    /// Degrees Celsius
    pub temperature: f64,
    /// Millimetres
    pub rain: f64,
}

/// Weather for travellers.
#[mcp_client(namespace = "weather")]
pub trait WeatherApi {
    /// Daily forecast for one city.
    #[tool(read_only)]
    async fn forecast(
        &self,
        /// City name, e.g. "Oslo"
        city: String,
        #[arg(default = 3, range = 1..=7)] days: u8,
    ) -> Result<Vec<Day>, ToolError>;

    /// Cities with forecasts, sorted by name.
    #[tool(read_only)]
    fn cities(&self) -> impl Stream<Item = Result<String, ToolError>>;
}
