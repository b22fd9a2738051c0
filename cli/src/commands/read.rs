//! `treenail read`.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;

use super::printed_as_json;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::save::print_or_save;
use crate::screen::Screen;
use crate::server::Connected;
use crate::show::Shown;

/// Read a resource: to a terminal as text, to a pipe or file as it is
#[derive(Debug, Args)]
pub(crate) struct Read {
    /// URI of the resource
    uri: String,

    /// Save it in this file; several parts that are bytes get the next free numbers, as in plot-1.png
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Read {
    pub(super) async fn run(self, screen: &Screen) -> Result<Exit, Failure> {
        Connected::with(&self.server, screen, async |server| self.read(server).await).await
    }

    async fn read(&self, connected: &Connected) -> Result<Exit, Failure> {
        let request = connected.client.session().resources_read(&self.uri);
        let result = connected.finish(request).await?;
        let screen = &connected.screen;
        if printed_as_json(self.server.output, screen, &result)? {
            return Ok(Exit::Success);
        }
        let parts: Vec<_> = result.contents.iter().map(Shown::contents).collect();
        if self.output.is_some() || io::stdout().is_terminal() {
            print_or_save(&parts, self.output.as_deref(), screen)?;
            return Ok(Exit::Success);
        }
        for part in &parts {
            match part {
                Shown::Text(text) => screen.write(text.as_bytes())?,
                Shown::Bytes { bytes, .. } => screen.write(bytes)?,
            }
        }
        Ok(Exit::Success)
    }
}
