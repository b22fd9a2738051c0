//! `treenail call`.

use std::path::PathBuf;

use clap::Args;

use super::print_if_json;
use crate::args::{ArgumentArgs, ServerArgs};
use crate::arguments::{self, RawArguments};
use crate::exit::{Exit, Failure};
use crate::files::print_or_save;
use crate::render::{Rendered, render_tool_result};
use crate::server::Connection;
use crate::terminal::Terminal;

/// Call a tool and print its result
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// Name of the tool
    tool: String,

    #[command(flatten)]
    arguments: ArgumentArgs,

    /// Save images, audio and other binary content to this file, or the text if there is none; several parts are saved to
    /// numbered files such as plot-1.png
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Call {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let raw = RawArguments::read(&self.arguments)?;
        Connection::with_connection(&self.server, terminal, async |server| {
            self.call(server, &raw).await
        })
        .await
    }

    async fn call(&self, connection: &Connection, raw: &RawArguments) -> Result<Exit, Failure> {
        let client = &connection.client;
        let tools = connection.with_timeout(client.tools()).await?;
        let tool = tools.iter().find(|tool| tool.name == self.tool);
        let names = || tools.iter().map(|tool| tool.name.as_str());
        let tool = tool.ok_or_else(|| arguments::unknown_name("tool", &self.tool, names()))?;
        let arguments = arguments::tool_arguments(raw, tool)?;

        let preparing = client.tool_request(&self.tool, &arguments);
        let request = connection.with_timeout(preparing).await?;
        let result = connection.send(request).await?;
        let failed = result.is_error == Some(true);
        let exit = if failed { Exit::Tool } else { Exit::Success };
        let terminal = &connection.terminal;
        if print_if_json(self.server.output, terminal, &result)? {
            return Ok(exit);
        }
        let parts = render_tool_result(&result);
        if failed {
            let lines: Vec<_> = parts.iter().map(Rendered::to_text).collect();
            let message = format!("the tool failed: {}", lines.join("\n"));
            return Err(Failure::new(exit, message));
        }
        if parts.is_empty() {
            terminal.print_note("the tool returned no content");
        }
        print_or_save(&parts, self.output.as_deref(), terminal)?;
        Ok(exit)
    }
}
