//! `treenail lock`.

use std::path::{Path, PathBuf};

use clap::Args;
use treenail::client::Contract;

use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::files::write_result;
use crate::server::Connection;
use crate::terminal::Terminal;

/// Record the tools, prompts and resource templates of a server in a lock file, for `check` and `generate`
#[derive(Debug, Args)]
pub(crate) struct Lock {
    /// Write to this file, which is replaced atomically; `-` prints [default: -]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Record resources, too, and not only their templates
    #[arg(long)]
    resources: bool,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Lock {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        Connection::with_connection(&self.server, terminal, async |server| {
            self.lock(server).await
        })
        .await
    }

    async fn lock(&self, connection: &Connection) -> Result<Exit, Failure> {
        let client = &connection.client;
        let contract = if self.resources {
            connection
                .with_timeout(client.contract_with_resources())
                .await?
        } else {
            connection.with_timeout(client.contract()).await?
        };
        connection.note_missing_lists();
        let (text, recorded) = (contract.to_json(), summarize_contract(&contract));
        let terminal = &connection.terminal;
        let file = self.output.as_deref();
        let file = file.filter(|file| *file != Path::new("-"));
        if let Some(file) = file {
            write_result(file, text.as_bytes()).await?;
            terminal.print_note(&format!("recorded {recorded} in `{}`", file.display()));
        }
        if file.is_none() || self.server.output.json {
            terminal.print_text(&text).await?;
        }
        Ok(Exit::Success)
    }
}

/// Summarizes a contract for people.
fn summarize_contract(contract: &Contract) -> String {
    let counted = |count: usize, kind: &str| match count {
        1 => format!("1 {kind}"),
        count => format!("{count} {kind}s"),
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
