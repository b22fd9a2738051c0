//! Client of the contract. The arguments are the command that starts the server.

use std::env;

use api::WeatherApiClient;
use treenail::client::ServerCommand;
use treenail::prelude::*;

/// Returns whether it will rain in a city within three days.
async fn needs_umbrella(weather: &WeatherApiClient, city: &str) -> Result<bool, ClientError> {
    let days = weather.forecast(city.to_owned(), 3).await?;
    Ok(days.iter().any(|day| day.rain > 5))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let mut arguments = env::args_os().skip(1);
    let program = arguments.next();
    let program = program.ok_or_else(|| treenail::Error::Other("expected a command".into()))?;
    let command = ServerCommand::new(program).args(arguments);
    let client = McpClient::builder().command(command).build().await?;
    if needs_umbrella(&WeatherApiClient::new(&client), "Bergen").await? {
        println!("Take an umbrella.");
    }
    client.close().await?;
    Ok(())
}

#[cfg(test)]
mod tests;
