//! Agent: a language model with tools of its own, and with those of a server.
//!
//! The first argument is the question. The others are the command of a server, and may be missing.

use std::env;

use treenail::agent::{Model, OpenAiModel, RunEvent};
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
/// Tools that only read run without approval. All others are refused: decide here which of them may run.
async fn ask(agent: &ToolLoop, question: &str) -> treenail::Result<String> {
    let mut run = agent.run(question);
    while let Some(event) = run.next().await {
        match event {
            RunEvent::CallRequested(call) => eprintln!("… {}", call.name),
            RunEvent::ApprovalRequested(request) => {
                eprintln!("refused: {}", request.tool.name);
                run.deny(&request.call.id, "the user has not allowed this tool");
            }
            _ => {}
        }
    }
    Ok(run.await?.text())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let mut arguments = env::args().skip(1);
    let question = arguments.next();
    let question = question.ok_or_else(|| treenail::Error::Other("expected a question".into()))?;
    let model = env::var("MODEL").unwrap_or_else(|_| "gpt-5-mini".to_owned());
    // The key is in `OPENAI_API_KEY`, and the URL of another endpoint in `OPENAI_BASE_URL`.
    let mut agent = agent(OpenAiModel::from_env(model)?.build()?);
    if let Some(program) = arguments.next() {
        let command = ServerCommand::new(program).args(arguments);
        let server = McpClient::builder().command(command).build().await?;
        agent = agent.source("server", &server);
    }
    println!("{}", ask(&agent, &question).await?);
    Ok(())
}

#[cfg(test)]
mod tests;
