//! Server over standard input and output that implements the contract.

use travel_api::{Day, WeatherApi};
use treenail::prelude::*;

/// City, temperature in degrees Celsius, and rain in millimetres.
const CITIES: [(&str, f64, f64); 3] = [
    ("Bergen", 11.0, 9.5),
    ("Oslo", 14.0, 1.5),
    ("Rome", 24.0, 0.0),
];

struct Almanac;

#[mcp_tool]
impl WeatherApi for Almanac {
    async fn forecast(&self, city: String, days: u8) -> Result<Vec<Day>, ToolError> {
        let found = CITIES.iter().find(|(name, ..)| *name == city);
        let (_, temperature, rain) =
            *found.ok_or_else(|| ToolError::new(format!("no forecast for {city}")))?;
        let day = |day: u8| Day {
            temperature: temperature + f64::from(day),
            rain,
        };
        Ok((0..days).map(day).collect())
    }

    fn cities(&self) -> impl Stream<Item = Result<String, ToolError>> {
        tokio_stream::iter(CITIES.map(|(name, ..)| Ok(name.to_owned())))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let server = treenail::server!().mount(Almanac).build()?;
    server.serve_stdio().await
}
