//! `treenail new`.

mod name;
mod template;
mod versions;

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;

use self::name::check_name;
use self::template::Template;
use crate::args::Verbosity;
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

/// Create a project: a server, a client or an agent, with tests, CI and a Dockerfile
#[derive(Debug, Args)]
pub(crate) struct New {
    /// Folder to create; its name is the name of the package
    #[arg(value_name = "NAME")]
    folder: PathBuf,

    /// Kind of project
    #[arg(short, long, value_enum, default_value = "stdio")]
    template: Template,

    /// Depend on a checkout of Treenail in this folder, in place of crates.io
    #[arg(long, value_name = "DIR")]
    treenail_path: Option<PathBuf>,

    #[command(flatten)]
    pub(super) verbosity: Verbosity,
}

impl New {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Exit, Failure> {
        let name = self.folder.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            let folder = self.folder.display();
            Failure::usage(format!("`{folder}` has no name that a package can have"))
        })?;
        check_name(name)?;
        let files = self.template.render(name, &self.dependency()?);
        check_empty(&self.folder)?;
        for (file, text) in files {
            write_new(&self.folder.join(file), &text)?;
        }
        let folder = self.folder.display();
        let kind = self.template.description();
        terminal.print_note(&format!("created `{folder}`: {kind}"));
        terminal.print_note(&format!(
            "next: cd {folder} && cargo test; README.md has the other steps"
        ));
        Ok(Exit::Success)
    }

    /// Returns the dependency on Treenail, as members of an inline table.
    fn dependency(&self) -> Result<String, Failure> {
        let Some(path) = &self.treenail_path else {
            return Ok(format!("version = \"{}\"", env!("CARGO_PKG_VERSION")));
        };
        let invalid = |reason: &str| {
            let path = path.display();
            Failure::usage(format!("`{path}` for --treenail-path: {reason}"))
        };
        let full = path
            .canonicalize()
            .map_err(|error| invalid(&error.to_string()))?;
        let manifest = fs::read_to_string(full.join("Cargo.toml"));
        if !manifest.is_ok_and(|text| text.contains("name = \"treenail\"")) {
            return Err(invalid("expected the folder of the package `treenail`"));
        }
        let full = full
            .to_str()
            .ok_or_else(|| invalid("the path is not UTF-8"))?;
        // A string in TOML has the escapes of a string in JSON.
        Ok(format!("path = {}", serde_json::Value::from(full)))
    }
}

/// Checks that a folder is empty or missing.
fn check_empty(folder: &Path) -> Result<(), Failure> {
    let name = folder.display();
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::usage(format!("the folder `{name}` is not empty"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Failure::io(format!("`{name}`"))(error)),
    }
}

/// Writes a file that does not exist yet, and creates its folder.
fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let io = |error| Failure::io(format!("`{}`", file.display()))(error);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(io)?;
    }
    let mut new = File::create_new(file).map_err(io)?;
    new.write_all(text.as_bytes()).map_err(io)
}
