//! `treenail generate`.

use std::path::{Path, PathBuf};

use clap::Args;
use treenail_codegen::{Client, Error};

use crate::args::Verbosity;
use crate::exit::{Exit, Failure};
use crate::files::{read_file, replace_file};
use crate::terminal::Terminal;

/// Generate a typed client as a Rust module from a lock file, without connecting to the server
#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// Lock file, e.g. weather.lock.json
    lock: PathBuf,

    /// Write to this file; `-` prints [default: -]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Check that the file of `--output` is up to date, without writing it; exits with 9 if it is not
    #[arg(long, requires = "output", help_heading = "Output")]
    check: bool,

    /// Name of the client type [default: the name of the server followed by `Client`]
    #[arg(long, value_name = "TYPE", help_heading = "Client")]
    name: Option<String>,

    /// Include only this tool; can be repeated
    #[arg(long = "tool", value_name = "TOOL", help_heading = "Client")]
    tools: Vec<String>,

    /// Distinguish null from absence in arguments, for servers where null clears a value
    #[arg(long, help_heading = "Client")]
    keep_null: bool,

    /// Path of the crate `treenail` [default: `::treenail`]
    #[arg(long = "crate", value_name = "PATH", help_heading = "Client")]
    krate: Option<String>,

    #[command(flatten)]
    pub(super) verbosity: Verbosity,
}

impl Generate {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Exit, Failure> {
        let file = self.output.as_deref();
        let file = file.filter(|file| *file != Path::new("-"));
        if self.check && file.is_none() {
            return Err(Failure::usage("`--check` needs the path of a file"));
        }
        let text = self.client()?.to_file().map_err(generate_failure)?;
        let Some(file) = file else {
            terminal.write_bytes(text.as_bytes())?;
            return Ok(Exit::Success);
        };
        let name = file.display();
        if self.check {
            return check_file(file, &text);
        }
        replace_file(file, text.as_bytes())?;
        terminal.print_note(&format!("generated `{name}`"));
        Ok(Exit::Success)
    }

    fn client(&self) -> Result<Client, Failure> {
        let mut client = Client::new(&self.lock).text(read_file(&self.lock)?);
        if let Some(name) = &self.name {
            client = client.name(name);
        }
        if self.keep_null {
            client = client.keep_null();
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

/// Checks that a file is up to date.
fn check_file(file: &Path, text: &str) -> Result<Exit, Failure> {
    let name = file.display();
    // Git can check out files with CRLF.
    if read_file(file)?.replace("\r\n", "\n") == text {
        return Ok(Exit::Success);
    }
    let message = format!("`{name}` is not up to date with the lock file");
    let failure = Failure::new(Exit::Breaking, message);
    Err(failure.note("run the command without `--check` to update it"))
}

fn generate_failure(error: Error) -> Failure {
    match error {
        Error::Read { path, source } => Failure::io(format!("`{}`", path.display()))(source),
        Error::InvalidOption(message) => Failure::usage(message),
        error => {
            let is_too_large = matches!(error, Error::TooLarge { .. });
            let failure = Failure::new(Exit::Io, error.to_string());
            if is_too_large {
                failure.note("use `--tool` to include only some tools")
            } else {
                failure
            }
        }
    }
}
