//! Client of a server that requires authorization: `login <url>` signs in with the browser, and lists the tools.

use std::env;

use treenail::auth::{FileStore, OAuth};
use treenail::prelude::*;

#[tokio::main(flavor = "current_thread")]
#[allow(
    clippy::print_stdout,
    reason = "standard output is the output of the program"
)]
async fn main() -> treenail::Result<()> {
    let url = env::args().nth(1);
    let url = url.ok_or_else(|| treenail::Error::Build("usage: login <url>".to_owned()))?;
    // The tokens survive the end of the program. With the feature `keyring`, `FileStore::open` has the key in the keyring.
    let store = FileStore::builder("treenail-login").key_file().open()?;
    let oauth = OAuth::browser("Treenail login").store(store);
    for name in tool_names(&url, oauth).await? {
        println!("{name}");
    }
    Ok(())
}

/// Connects to a server and lists its tools. The user signs in if the server requires it.
pub(crate) async fn tool_names(url: &str, oauth: OAuth) -> Result<Vec<String>, ClientError> {
    let client = McpClient::builder()
        .url(url)
        .authorization(oauth)
        .build()
        .await?;
    let tools = client.tools().await?;
    let names = tools.iter().map(|tool| tool.name.clone()).collect();
    client.close().await?;
    Ok(names)
}
