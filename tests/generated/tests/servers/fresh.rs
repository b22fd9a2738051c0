//! The committed lock files are what the servers offer.

use std::path::Path;
use std::{env, fs};

use treenail::McpClient;
use treenail::client::Contract;

use crate::installed::{command, connect};

/// What a server offers now, as a lock file.
async fn lock(client: &McpClient) -> String {
    let tools = client.tools().await.unwrap();
    let prompts = client.prompts().await.unwrap();
    let templates = client.url_templates().await.unwrap();
    let session = client.session();
    let mut contract = Contract::new()
        .with_protocol_version(session.protocol_version().to_string())
        .with_tools(tools.iter().map(|tool| (**tool).clone()))
        .with_prompts(prompts.iter().map(|prompt| (**prompt).clone()))
        .with_resource_templates(templates.iter().map(|template| template.listed().clone()));
    if let Some(server) = session.server_info() {
        contract = contract.with_server(server);
    }
    contract.to_json()
}

async fn is_fresh(name: &str, arguments: &[&Path]) {
    let arguments = arguments
        .iter()
        .map(|argument| argument.as_os_str().to_owned());
    let command = arguments.fold(command(name), treenail::client::ServerCommand::arg);
    let now = lock(&connect(command).await).await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("servers/{name}.lock.json"));
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, now).unwrap();
        return;
    }
    let committed = fs::read_to_string(&file).unwrap();
    assert!(
        committed == now,
        "{} is not what the server offers; run `UPDATE=1 cargo test -p generated fresh`",
        file.display()
    );
}

#[tokio::test]
async fn the_lock_file_of_everything_is_fresh() {
    is_fresh("everything", &[]).await;
}

#[tokio::test]
async fn the_lock_file_of_filesystem_is_fresh() {
    let folder = tempfile::tempdir().unwrap();
    is_fresh("filesystem", &[folder.path()]).await;
}

#[tokio::test]
async fn the_lock_file_of_memory_is_fresh() {
    is_fresh("memory", &[]).await;
}
