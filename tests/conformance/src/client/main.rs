//! A client with which the official conformance suite tests Treenail's: `conformance-client <url>`, with the name of the
//! scenario in the environment. What a scenario wants to see is in `scenarios.rs`; how it is done is up to the library.

mod scenarios;

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision};

/// The suite waits for clients that do not end by themselves, and gives them half a minute.
const TIME: Duration = Duration::from_secs(25);

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stderr, reason = "the suite keeps what is said here")]
async fn main() -> ExitCode {
    let ended = match tokio::time::timeout(TIME, run()).await {
        Ok(ended) => ended,
        Err(_) => Err("it took too long".into()),
    };
    match ended {
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
    let client = McpClient::builder()
        .url(url)
        .protocol_version(version)
        .client_info("conformance-client", env!("CARGO_PKG_VERSION"))
        // Whoever accepts a form without a value for a field gets its default.
        .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Accept)) })
        .build()
        .await?;
    scenarios::play(&scenario, &client).await?;
    client.close().await?;
    Ok(())
}
