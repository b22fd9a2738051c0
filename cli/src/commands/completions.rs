//! `treenail completions` and `treenail man`.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::args::{Cli, Verbosity};
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

/// Print the completions of a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell that reads the completions
    #[arg(value_enum)]
    shell: Shell,

    #[command(flatten)]
    pub(super) verbosity: Verbosity,
}

/// Write the manual pages, one for each command
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder for the pages, such as ~/.local/share/man/man1; it is created
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    pub(super) verbosity: Verbosity,
}

impl Completions {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "treenail", &mut text);
        terminal.write_bytes(&text)?;
        Ok(Exit::Success)
    }
}

impl Man {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Exit, Failure> {
        let folder = self.folder.display();
        let io = |error| Failure::io(format!("`{folder}`"))(error);
        fs::create_dir_all(&self.folder).map_err(io)?;
        clap_mangen::generate_to(Cli::command(), &self.folder).map_err(io)?;
        terminal.print_note(&format!("wrote the manual pages to `{folder}`"));
        Ok(Exit::Success)
    }
}
