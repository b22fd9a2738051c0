//! `treenail pack`.

mod bundle;
mod listing;
mod manifest;
mod metadata;
mod program;

use std::path::{Path, PathBuf};

use clap::Args;

use self::bundle::write_bundle;
use self::listing::server_json;
use self::manifest::{Offer, manifest};
use self::metadata::Metadata;
use self::program::Binary;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::files::replace_file;
use crate::render::format_size;
use crate::server::Connection;
use crate::terminal::Terminal;

/// Pack a server program into an MCPB bundle that hosts install, and describe it for the MCP registry
#[derive(Debug, Args)]
pub(crate) struct Pack {
    /// Bundle to write [default: NAME-VERSION-PLATFORM.mcpb]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Write a description for the MCP registry [default file: server.json]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "server.json", help_heading = "Output")]
    server_json: Option<PathBuf>,

    #[command(flatten)]
    fields: FieldArgs,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

/// Fields of the bundle. The defaults are those of the package in the current directory, if the program is a part of it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Bundle")]
struct FieldArgs {
    /// Name of the bundle [default: the name of the server]
    #[arg(long)]
    name: Option<String>,

    /// Short description [default: that of the package]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Author [default: that of the package, or of Git]
    #[arg(long, value_name = "NAME")]
    author: Option<String>,

    /// Environment variable that the user sets when installing the bundle; its value is a secret; can be repeated
    #[arg(long = "setting", value_name = "VARIABLE")]
    settings: Vec<String>,

    /// Name in the MCP registry, such as io.github.me/calculator [default: from the repository on GitHub]
    #[arg(long, value_name = "NAME", requires = "server_json")]
    registry_name: Option<String>,

    /// URL from which the bundle will be downloaded [default: the release on GitHub]
    #[arg(long, value_name = "URL", requires = "server_json")]
    download_url: Option<String>,
}

impl Pack {
    pub(super) async fn run(mut self, terminal: &Terminal) -> Result<Exit, Failure> {
        let binary = Binary::read(&self.server.target)?;
        // The program that starts is the one that was read: a bare name would be searched in `PATH`.
        if let Some(program) = self.server.target.program.first_mut() {
            *program = binary.path.clone().into();
        }
        let offer = Connection::with_connection(&self.server, terminal, Offer::of).await?;
        let metadata = Metadata::collect(&self.fields, &offer, &binary)?;
        let output = self.output.clone().unwrap_or_else(|| {
            let Metadata { name, version, .. } = &metadata;
            format!("{name}-{version}-{}.mcpb", binary.target()).into()
        });
        // Everything is known before anything is written.
        let listing = |sha256: &str| {
            let file = output.file_name().unwrap_or_default().to_string_lossy();
            server_json(&metadata, &self.fields, (&file, sha256))
        };
        if self.server_json.is_some() {
            listing("")?;
        }
        let manifest = manifest(&metadata, &offer, &binary);
        let bundle = write_bundle(&manifest, &binary)?;
        replace_file(&output, &bundle)?;
        report(&output, bundle.len(), terminal);
        if let Some(file) = &self.server_json {
            let text = listing(&bundle::sha256(&bundle))?;
            replace_file(file, text.as_bytes())?;
            report(file, text.len(), terminal);
        }
        if binary.is_debug() {
            terminal.print_note("this is a debug build; pack the one of `cargo build --release`");
        }
        Ok(Exit::Success)
    }
}

fn report(file: &Path, length: usize, terminal: &Terminal) {
    let size = format_size(i64::try_from(length).unwrap_or(i64::MAX));
    terminal.print_note(&format!("wrote {size} to `{}`", file.display()));
}
