//! The agent with this server, in a process of its own.

use travel_api::WeatherApiClient;
use treenail::client::Contract;
use treenail::prelude::*;

#[tokio::test]
async fn the_agent_finds_where_it_is_dry() -> treenail::Result<()> {
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
