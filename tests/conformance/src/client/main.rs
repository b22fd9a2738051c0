//! Client for the official conformance suite: `conformance-client <url>`, with the name of the scenario in the environment.
//! `scenarios.rs` contains the actions of each scenario, and `authorization.rs` the values of those with authorization.

mod authorization;
mod scenarios;

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision};

/// Timeout of the client, below the 30 seconds of the suite.
const TIMEOUT: Duration = Duration::from_secs(25);

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stderr, reason = "the suite records standard error")]
async fn main() -> ExitCode {
    let outcome = match tokio::time::timeout(TIMEOUT, run()).await {
        Ok(outcome) => outcome,
        Err(_) => Err("the scenario timed out".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), scenarios::Failure> {
    let url = env::args()
        .next_back()
        .ok_or("give the URL of the server")?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO")?;
    let version = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")?;
    let version: Revision = version.parse()?;
    let mut builder = McpClient::builder().url(url);
    if let Some(oauth) = authorization::oauth(&scenario)? {
        builder = builder.authorization(oauth);
    }
    let client = builder
        .protocol_version(version)
        .client_info("conformance-client", env!("CARGO_PKG_VERSION"))
        // An accepted form without values receives the defaults.
        .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Accept)) })
        .build()
        .await?;
    scenarios::run(&scenario, &client).await?;
    client.close().await?;
    Ok(())
}
