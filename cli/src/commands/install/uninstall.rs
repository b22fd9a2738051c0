//! `treenail uninstall`.

use clap::Args;

use super::{PlaceArgs, print_diff, write};
use crate::args::Verbosity;
use crate::exit::{Exit, Failure};
use crate::hosts::Change;
use crate::terminal::Terminal;

/// Remove a server from the configuration of a host
#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    /// Name of the server in the host
    name: String,

    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    pub(in crate::commands) verbosity: Verbosity,
}

impl Uninstall {
    pub(in crate::commands) async fn run(&self, terminal: &Terminal) -> Result<Exit, Failure> {
        let name = &self.name;
        let _lock = self.place.lock(terminal);
        let mut changes = Vec::new();
        for (_, file) in self.place.files()? {
            let change = file.uninstall(name)?;
            changes.push((file, change));
        }
        for (file, change) in changes {
            let path = file.path().display();
            match change {
                Change::None => {
                    terminal.print_note(&format!("`{path}` has no server `{name}`"));
                }
                Change::Edited(edited) if self.place.dry_run => {
                    print_diff(terminal, &file, &edited).await?;
                }
                Change::Edited(edited) => {
                    write(terminal, &file, &edited, &format!("removed `{name}` from"))?;
                }
            }
        }
        Ok(Exit::Success)
    }
}
