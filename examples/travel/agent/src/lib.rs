//! Logic of the agent, independent of the source of the weather.

use travel_api::WeatherApiClient;
use treenail::ClientError;

/// Returns the city with the least rain in the next `days` days, or the first one if several are equal. `None` if there is
/// no city.
///
/// # Errors
///
/// Fails if the server returns an error or violates the contract.
pub async fn driest(weather: &WeatherApiClient, days: u8) -> Result<Option<String>, ClientError> {
    let mut driest: Option<(f64, String)> = None;
    let mut cities = weather.cities();
    while let Some(city) = cities.next().await {
        let city = city?;
        let forecast = weather.forecast(city.clone(), days).await?;
        let rain = forecast.iter().map(|day| day.rain).sum();
        if driest.as_ref().is_none_or(|(least, _)| rain < *least) {
            driest = Some((rain, city));
        }
    }
    Ok(driest.map(|(_, city)| city))
}

#[cfg(test)]
mod tests {
    use travel_api::{Day, MockWeatherApi};

    use super::driest;

    #[tokio::test]
    async fn driest_city_is_chosen() -> treenail::Result<()> {
        let mock = MockWeatherApi::new()
            .on_cities(|| ["Bergen", "Oslo"].map(|city| Ok(city.to_owned())))
            .on_forecast(|city, days| {
                let (temperature, rain) = (12.0, if city == "Oslo" { 1.0 } else { 8.0 });
                Ok(vec![Day { temperature, rain }; days.into()])
            });
        let weather = mock.client().await?;
        assert_eq!(driest(&weather, 2).await?.as_deref(), Some("Oslo"));
        assert_eq!(mock.calls().len(), 3);
        Ok(())
    }
}
