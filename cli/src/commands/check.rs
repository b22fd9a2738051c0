//! `treenail check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use treenail::client::{Contract, Drift, Severity};

use super::printed_as_json;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::save::read;
use crate::screen::Screen;
use crate::server::Connected;
use crate::show::clean;

/// Compare a server with its lock file: what breaks programs, what is new, and which words are others
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Lock file, as `treenail lock` writes it
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Fail if the server has changed by this much or more; each has an exit code of its own
    #[arg(long, value_name = "SEVERITY", value_enum, default_value = "breaking")]
    refuse: Refuse,

    /// Look at this tool and at nothing else; can be repeated
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
    pub(super) async fn run(self, screen: &Screen) -> Result<Exit, Failure> {
        let contract = self.contract()?;
        let work = async |server: &Connected| self.check(&contract, server).await;
        Connected::with(&self.server, screen, work).await
    }

    fn contract(&self) -> Result<Contract, Failure> {
        let name = self.file.display();
        let text = read(&self.file)?;
        let failure = |error| Failure::new(Exit::Local, format!("`{name}`: {error}"));
        let contract = Contract::from_json(&text).map_err(failure)?;
        if self.tools.is_empty() {
            return Ok(contract);
        }
        let only = contract.only_tools(self.tools.iter().map(String::as_str));
        only.map_err(|error| Failure::usage(format!("`{name}` for --tool: {error}")))
    }

    async fn check(&self, contract: &Contract, connected: &Connected) -> Result<Exit, Failure> {
        let drift = connected.bounded(connected.client.check(contract)).await?;
        connected.note_missing_lists();
        let screen = &connected.screen;
        if !printed_as_json(self.server.output, screen, &drift)? {
            screen.print(&shown(&drift))?;
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

/// All changes, under their severities.
fn shown(drift: &Drift) -> String {
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
    clean(&parts.join("\n"))
}
