//! The client with the mock of the contract.

use api::{Day, MockWeatherApi};

use crate::needs_umbrella;

#[tokio::test]
async fn umbrella_is_for_heavy_rain() -> treenail::Result<()> {
    let mock = MockWeatherApi::new().on_forecast(|city, _days| {
        let rain = if city == "Bergen" { 9 } else { 0 };
        Ok(vec![Day {
            temperature: 10,
            rain,
        }])
    });
    let weather = mock.client().await?;
    assert!(needs_umbrella(&weather, "Bergen").await?);
    assert!(!needs_umbrella(&weather, "Oslo").await?);
    Ok(())
}
