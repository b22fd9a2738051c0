//! `treenail generate`.

use std::path::{Path, PathBuf};

use clap::Args;
use treenail_codegen::{Client, Error};

use crate::args::Verbosity;
use crate::exit::{Exit, Failure};
use crate::save::{read, replace};
use crate::screen::Screen;

/// Generate a typed client, as a Rust module, from the lock file of a server; it connects to nothing
#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The lock file, e.g. weather.lock.json
    lock: PathBuf,

    /// Write it to this file instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Fail if the file of `--output` is not what would be written, and write nothing
    #[arg(long, requires = "output", help_heading = "Output")]
    check: bool,

    /// Name of the client [default: what the server calls itself, and `Client`]
    #[arg(long, value_name = "TYPE", help_heading = "Client")]
    name: Option<String>,

    /// Only this tool; can be repeated
    #[arg(long = "tool", value_name = "TOOL", help_heading = "Client")]
    tools: Vec<String>,

    /// Where the crate `treenail` is in the program [default: `::treenail`]
    #[arg(long = "crate", value_name = "PATH", help_heading = "Client")]
    krate: Option<String>,

    #[command(flatten)]
    pub(super) verbosity: Verbosity,
}

impl Generate {
    pub(super) fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let text = self.client()?.to_file().map_err(failure)?;
        let Some(file) = &self.output else {
            screen.write(text.as_bytes())?;
            return Ok(Exit::Success);
        };
        let name = file.display();
        if self.check {
            return is_fresh(file, &text);
        }
        replace(file, text.as_bytes())?;
        screen.note(&format!("generated `{name}`"));
        Ok(Exit::Success)
    }

    fn client(&self) -> Result<Client, Failure> {
        let mut client = Client::new(&self.lock).text(read(&self.lock)?);
        if let Some(name) = &self.name {
            client = client.name(name);
        }
        if let Some(krate) = &self.krate {
            client = client.krate(krate);
        }
        if !self.tools.is_empty() {
            client = client.tools(&self.tools);
        }
        Ok(client)
    }
}

/// Compares a file with what would be written to it.
fn is_fresh(file: &Path, text: &str) -> Result<Exit, Failure> {
    let name = file.display();
    if read(file)? == text {
        return Ok(Exit::Success);
    }
    let message = format!("`{name}` is not what the lock file gives");
    Err(Failure::new(Exit::Local, message).note("run it without `--check`"))
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Read { path, source } => Failure::local(format!("`{}`", path.display()))(source),
        Error::InvalidOption(message) => Failure::usage(message),
        error => {
            let is_too_large = matches!(error, Error::TooLarge { .. });
            let failure = Failure::new(Exit::Local, error.to_string());
            if is_too_large {
                failure.note("`--tool` names one; it can be repeated")
            } else {
                failure
            }
        }
    }
}
