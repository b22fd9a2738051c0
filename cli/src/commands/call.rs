//! `treenail call`.

use std::path::PathBuf;

use clap::Args;

use super::printed_as_json;
use crate::args::{ArgumentArgs, ServerArgs};
use crate::arguments::{self, Typed};
use crate::exit::{Exit, Failure};
use crate::save::print_or_save;
use crate::screen::Screen;
use crate::server::Connected;
use crate::show::tool_result;

/// Call a tool and show its result
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// Name of the tool
    tool: String,

    #[command(flatten)]
    arguments: ArgumentArgs,

    /// Save images, audio and other bytes in this file, several with the next free numbers, as in plot-1.png; the text if
    /// there are none
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Call {
    pub(super) async fn run(self, screen: &Screen) -> Result<Exit, Failure> {
        let typed = Typed::read(&self.arguments)?;
        Connected::with(&self.server, screen, async |server| {
            self.call(server, &typed).await
        })
        .await
    }

    async fn call(&self, connected: &Connected, typed: &Typed) -> Result<Exit, Failure> {
        let client = &connected.client;
        let tools = connected.bounded(client.tools()).await?;
        let tool = tools.iter().find(|tool| tool.name == self.tool);
        let names = || tools.iter().map(|tool| tool.name.as_str());
        let tool = tool.ok_or_else(|| arguments::unknown("tool", &self.tool, names()))?;
        let arguments = arguments::of_tool(typed, tool)?;

        let preparing = client.tool_request(&self.tool, &arguments);
        let request = connected.bounded(preparing).await?;
        let result = connected.finish(request).await?;
        let failed = result.is_error == Some(true);
        let exit = if failed { Exit::Tool } else { Exit::Success };
        let screen = &connected.screen;
        if printed_as_json(self.server.output, screen, &result)? {
            return Ok(exit);
        }
        let parts = tool_result(&result);
        if failed {
            let lines: Vec<_> = parts.iter().map(crate::show::Shown::line).collect();
            let message = format!("the tool failed: {}", lines.join("\n"));
            return Err(Failure::new(exit, message));
        }
        if parts.is_empty() {
            screen.note("the tool returned nothing");
        }
        print_or_save(&parts, self.output.as_deref(), screen)?;
        Ok(exit)
    }
}
