//! `treenail read`.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;

use super::print_or_save_if_json;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::files::{check_decoded, print_or_save};
use crate::render::Rendered;
use crate::server::Connection;
use crate::terminal::Terminal;

/// Read a resource; control characters are escaped on a terminal, and unchanged in a pipe or file
#[derive(Debug, Args)]
pub(crate) struct Read {
    /// URI of the resource
    uri: String,

    /// Save the resource to this file; several binary parts are saved to numbered files such as plot-1.png;
    /// with --json, save the JSON
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Read {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        Connection::with_connection(&self.server, terminal, async |server| {
            self.read(server).await
        })
        .await
    }

    async fn read(&self, connection: &Connection) -> Result<Exit, Failure> {
        let request = connection.client.session().resources_read(&self.uri);
        let result = connection.send(request).await?;
        let terminal = &connection.terminal;
        let file = self.output.as_deref();
        if print_or_save_if_json(self.server.output, file, terminal, &result).await? {
            return Ok(Exit::Success);
        }
        let parts: Vec<_> = result
            .contents
            .iter()
            .map(Rendered::from_resource)
            .collect();
        if file.is_some() || io::stdout().is_terminal() {
            print_or_save(&parts, file, terminal).await?;
            return Ok(Exit::Success);
        }
        check_decoded(&parts)?;
        for part in parts {
            match part {
                Rendered::Invalid(_) => {}
                Rendered::Text(text) => terminal.print_bytes(text.into_bytes()).await?,
                Rendered::Bytes { bytes, .. } => terminal.print_bytes(bytes).await?,
            }
        }
        Ok(Exit::Success)
    }
}
