//! Agent with the tools of two servers: `agent <folder>` starts the reference servers for files and memory with `npx` and
//! lets a model remember the contents of the folder. The model is scripted; any other model can replace it.

use std::env;

use serde_json::json;
use treenail::agent::{Model, RunEvent, RunReport, ScriptedModel, ScriptedReply, ToolSource};
use treenail::client::ServerCommand;
use treenail::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let folder = env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let npx = |name: &str| {
        let package = format!("@modelcontextprotocol/server-{name}");
        ServerCommand::new("npx").args(["--yes", &package])
    };
    let entity = json!({"name": "folder", "entityType": "place", "observations": [folder]});
    let model = ScriptedModel::new([
        ScriptedReply::call("files__list_directory", json!({"path": folder})),
        ScriptedReply::call("memory__create_entities", json!({"entities": [entity]})),
        ScriptedReply::text("I have looked at the folder, and will remember it."),
    ]);
    let question = "What is in the folder? Remember it.";
    let servers = [npx("filesystem").arg(&folder), npx("memory")];
    run(model, servers, question).await?;
    Ok(())
}

/// Asks a question and prints the events of the run.
#[allow(
    clippy::print_stdout,
    reason = "standard output is the output of the program"
)]
pub(crate) async fn run(
    model: impl Model + 'static,
    [files, memory]: [ServerCommand; 2],
    question: &str,
) -> treenail::Result<RunReport> {
    let files = McpClient::builder().command(files).build().await?;
    let memory = McpClient::builder().command(memory).build().await?;
    let agent = ToolLoop::new(model)
        .source("files", &files)
        .source("memory", ToolSource::from(&memory).auto_approve());
    let mut run = agent.run(question);
    while let Some(event) = run.next().await {
        match event {
            RunEvent::Text(text) => println!("{text}"),
            RunEvent::CallStarted { id, .. } => println!("… {id}"),
            RunEvent::ApprovalRequested(request) => {
                run.deny(&request.call.id, "files stay as they are");
            }
            _ => {}
        }
    }
    let report = run.await;
    files.close().await?; // otherwise its process is killed with the runtime
    memory.close().await?;
    Ok(report?)
}
