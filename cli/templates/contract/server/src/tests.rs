//! Calls through the typed client of the contract.

use api::WeatherApiClient;
use treenail::prelude::*;

use crate::server;

#[tokio::test]
async fn forecast_has_the_requested_days() -> treenail::Result<()> {
    let client = McpClient::builder().server(&server()?).build().await?;
    let weather = WeatherApiClient::new(&client);
    assert_eq!(weather.forecast("Oslo".to_owned(), 2).await?.len(), 2);
    assert!(weather.forecast("Atlantis".to_owned(), 2).await.is_err());
    Ok(())
}
