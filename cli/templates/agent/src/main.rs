//! Agent: a language model with tools of its own, and with those of a server.
//!
//! The first argument is the question. The others are the command of a server, and may be missing.

use std::{env, io};

use tokio::task::spawn_blocking;
use treenail::agent::{ApprovalRequest, Model, OpenAiModel, RunEvent, ToolSource};
use treenail::client::ServerCommand;
use treenail::prelude::*;

/// Counts the words of a text.
#[mcp_tool(read_only)]
async fn count_words(text: String) -> usize {
    text.split_whitespace().count()
}

/// Returns an agent with the tools of this program.
fn agent(model: impl Model + 'static) -> ToolLoop {
    ToolLoop::new(model).source("text", tools![count_words])
}

/// Asks a question, prints the events, and returns the answer.
///
/// Own tools that only read run without approval. `approve` decides about all other calls.
async fn ask(
    agent: &ToolLoop,
    question: &str,
    approve: impl AsyncFn(ApprovalRequest) -> bool,
) -> treenail::Result<String> {
    let mut run = agent.run(question);
    while let Some(event) = run.next().await {
        match event {
            RunEvent::CallRequested(call) => eprintln!("… {}", call.name),
            RunEvent::ApprovalRequested(request) => {
                let id = request.call.id.clone();
                if approve(*request).await {
                    run.approve(&id);
                } else {
                    run.deny(&id, "the user has not allowed this call");
                }
            }
            _ => {}
        }
    }
    Ok(run.await?.text())
}

/// Asks the user at the terminal. Everything but `y` is a no, also the end of the input.
async fn confirm(request: ApprovalRequest) -> bool {
    let read = move || {
        let arguments = Value::Object(request.call.input);
        eprint!("run {:?} with {arguments}? [y/N] ", request.tool.name);
        io::stdin().lines().next()
    };
    let line = spawn_blocking(read).await;
    matches!(line, Ok(Some(Ok(line))) if line.trim() == "y")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let mut arguments = env::args().skip(1);
    let question = arguments.next();
    let question = question.ok_or_else(|| treenail::Error::Other("expected a question".into()))?;
    let model = env::var("MODEL").unwrap_or_else(|_| "gpt-5-mini".to_owned());
    // The key is in `OPENAI_API_KEY`, and the URL of another endpoint in `OPENAI_BASE_URL`.
    let mut agent = agent(OpenAiModel::from_env(model)?.build()?);
    let mut server = None;
    if let Some(program) = arguments.next() {
        let command = ServerCommand::new(program).args(arguments);
        let client = McpClient::builder().command(command).build().await?;
        // Its annotations do not decide which calls run without approval.
        agent = agent.source("server", ToolSource::from(&client).untrusted());
        server = Some(client);
    }
    let answer = ask(&agent, &question, confirm).await;
    if let Some(server) = server {
        server.close().await?; // otherwise its process is killed
    }
    println!("{}", answer?);
    Ok(())
}

#[cfg(test)]
mod tests;
