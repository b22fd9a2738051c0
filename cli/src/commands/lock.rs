//! `treenail lock`.

use std::path::{Path, PathBuf};

use clap::Args;
use treenail::client::Contract;

use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::save::replace;
use crate::screen::Screen;
use crate::server::Connected;

/// Record what a server offers, in a lock file: to check the server against it, or to make a client of it
#[derive(Debug, Args)]
pub(crate) struct Lock {
    /// Write this file, in one step; without it, or with `-`, print
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Record the resources too; without it, only their templates
    #[arg(long)]
    resources: bool,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Lock {
    pub(super) async fn run(self, screen: &Screen) -> Result<Exit, Failure> {
        Connected::with(&self.server, screen, async |server| self.lock(server).await).await
    }

    async fn lock(&self, connected: &Connected) -> Result<Exit, Failure> {
        let client = &connected.client;
        let contract = if self.resources {
            connected.bounded(client.contract_with_resources()).await?
        } else {
            connected.bounded(client.contract()).await?
        };
        connected.note_missing_lists();
        let (text, recorded) = (contract.to_json(), recorded(&contract));
        let screen = &connected.screen;
        let file = self.output.as_deref();
        let file = file.filter(|file| *file != Path::new("-"));
        if let Some(file) = file {
            replace(file, text.as_bytes())?;
            screen.note(&format!("{recorded} recorded in `{}`", file.display()));
        }
        if file.is_none() || self.server.output.json {
            screen.print(&text)?;
        }
        Ok(Exit::Success)
    }
}

/// What is in a contract, for people.
fn recorded(contract: &Contract) -> String {
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let mut parts = vec![
        counted(contract.tools().len(), "tool"),
        counted(contract.prompts().len(), "prompt"),
        counted(contract.resource_templates().len(), "template"),
    ];
    if let Some(resources) = contract.resources() {
        parts.push(counted(resources.len(), "resource"));
    }
    parts.join(", ")
}
