//! Test of the agent with this server as a child process.

use travel_api::WeatherApiClient;
use treenail::client::Contract;
use treenail::prelude::*;

#[tokio::test]
async fn agent_finds_the_driest_city() -> treenail::Result<()> {
    let command = env!("CARGO_BIN_EXE_travel-server");
    let client = McpClient::builder().command(command).build().await?;
    let weather = WeatherApiClient::new(&client);
    assert_eq!(
        travel_agent::driest(&weather, 3).await?.as_deref(),
        Some("Rome")
    );

    let tools = client.tools().await?;
    let live = Contract::new().with_tools(tools.iter().map(|tool| (**tool).clone()));
    assert_eq!(live, WeatherApiClient::contract()?);
    client.close().await?;
    Ok(())
}
