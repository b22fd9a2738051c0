//! Prints the driest city: `travel-agent <server> [argument]…`.

use std::env;

use travel_api::WeatherApiClient;
use treenail::client::ServerCommand;
use treenail::prelude::*;

#[tokio::main(flavor = "current_thread")]
#[allow(
    clippy::print_stdout,
    reason = "standard output is the output of the program"
)]
async fn main() -> treenail::Result<()> {
    let mut arguments = env::args_os().skip(1);
    let program = arguments.next().unwrap_or_else(|| "travel-server".into());
    let command = ServerCommand::new(program).args(arguments);
    let client = McpClient::builder().command(command).build().await?;
    match travel_agent::driest(&WeatherApiClient::new(&client), 3).await? {
        Some(city) => println!("Pack for {city}."),
        None => println!("Stay at home."),
    }
    client.close().await?;
    Ok(())
}
