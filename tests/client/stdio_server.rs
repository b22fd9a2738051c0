//! A server over standard input and output, whose functions start processes.

use std::future::IntoFuture as _;
use std::process::{Command, Stdio};

use treenail::client::ServerCommand;
use treenail::prelude::*;

/// Returns what a child process reads from the standard input of this process.
#[mcp_tool(blocking)]
fn read_input() -> Result<String, ToolError> {
    let output = Command::new("cat").stdin(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(ToolError::new(String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the number.
#[mcp_tool(read_only)]
async fn echo(number: u32) -> u32 {
    number
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "the next test runs it as a child process"]
async fn serve() {
    let server = treenail::server!().tools(tools![read_input, echo]);
    server.serve_stdio().await.unwrap();
}

#[tokio::test]
async fn child_processes_take_no_messages() {
    let test = std::env::current_exe().unwrap();
    let arguments = ["--exact", "stdio_server::serve", "--ignored", "--nocapture"];
    let command = ServerCommand::new(test).args(arguments);
    let client = McpClient::builder().command(command).build().await.unwrap();
    for _ in 0..3 {
        let read = tokio::spawn(
            client
                .call_tool_as::<String>("read_input", json!({}))
                .into_future(),
        );
        let echoes = (0..20).map(|number| {
            let arguments = json!({"number": number});
            tokio::spawn(client.call_tool_as::<u32>("echo", arguments).into_future())
        });
        for (number, echo) in (0..).zip(echoes.collect::<Vec<_>>()) {
            assert_eq!(echo.await.unwrap().unwrap(), number);
        }
        assert_eq!(read.await.unwrap().unwrap(), "");
    }
    client.close().await.unwrap();
}
