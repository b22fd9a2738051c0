//! `treenail check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use treenail::client::{Contract, Drift, Severity};

use super::print_if_json;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::files::read_file;
use crate::render::sanitize_text;
use crate::server::Connection;
use crate::terminal::Terminal;

/// Compare a server with its lock file and report breaking changes, additions and changed descriptions
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Lock file written by `treenail lock`
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Fail on changes of this severity or above; each severity has its own exit code
    #[arg(long, value_name = "SEVERITY", value_enum, default_value = "breaking")]
    refuse: Refuse,

    /// Check only this tool; can be repeated
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Refuse {
    Breaking,
    Additive,
    Wording,
}

impl Refuse {
    fn severity(self) -> Severity {
        match self {
            Self::Breaking => Severity::Breaking,
            Self::Additive => Severity::Additive,
            Self::Wording => Severity::Wording,
        }
    }
}

impl Check {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let contract = self.contract()?;
        let work = async |server: &Connection| self.check(&contract, server).await;
        Connection::with_connection(&self.server, terminal, work).await
    }

    fn contract(&self) -> Result<Contract, Failure> {
        let name = self.file.display();
        let text = read_file(&self.file)?;
        let failure = |error| Failure::new(Exit::Io, format!("`{name}`: {error}"));
        let contract = Contract::from_json(&text).map_err(failure)?;
        if self.tools.is_empty() {
            return Ok(contract);
        }
        let only = contract.only_tools(self.tools.iter().map(String::as_str));
        only.map_err(|error| Failure::usage(format!("`{name}` for --tool: {error}")))
    }

    async fn check(&self, contract: &Contract, connection: &Connection) -> Result<Exit, Failure> {
        let drift = connection
            .with_timeout(connection.client.check(contract))
            .await?;
        connection.note_missing_lists();
        let terminal = &connection.terminal;
        if !print_if_json(self.server.output, terminal, &drift).await? {
            terminal.print_text(&render_drift(&drift)).await?;
        }
        let worst = drift
            .worst()
            .filter(|worst| *worst >= self.refuse.severity());
        Ok(match worst {
            None => Exit::Success,
            Some(Severity::Breaking) => Exit::Breaking,
            Some(Severity::Additive) => Exit::Additive,
            Some(Severity::Wording) => Exit::Wording,
        })
    }
}

/// Renders all changes, grouped by severity.
fn render_drift(drift: &Drift) -> String {
    if drift.is_empty() {
        return "no changes".to_owned();
    }
    let mut parts = Vec::new();
    for severity in Severity::ALL {
        let count = drift.count(severity);
        if count > 0 {
            parts.push(format!("{severity} ({count})"));
        }
        let changes = drift.changes().iter();
        for change in changes.filter(|change| change.severity == severity) {
            parts.push(format!("  {}", change.to_string().replace('\n', "\n  ")));
        }
    }
    if drift.omitted() > 0 {
        parts.push(format!("… and {} more", drift.omitted()));
    }
    sanitize_text(&parts.join("\n"))
}
