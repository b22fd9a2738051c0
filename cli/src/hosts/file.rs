//! Configuration file of a host, changed with a backup.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::diff::diff;
use super::{Document, Host, Scope, ServerEntry};
use crate::exit::{Exit, Failure};
use crate::file_lock::FileLock;
use crate::files::{FileMode, read_file, replace_file_with};
use crate::state::state_folder;

/// Fields that determine the server of an entry. Hosts add others, such as `disabled`.
const FIELDS: [&str; 8] = [
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "serverUrl",
    "headers",
];

/// Configuration file, with its content.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    host: Host,
    path: PathBuf,
    mode: FileMode,
    /// `None` if the file does not exist.
    text: Option<String>,
    document: Document,
}

/// Result of a change that is not written yet.
#[derive(Debug)]
pub(crate) enum Change {
    /// The file is already in the desired state.
    None,
    Edited(Document),
}

impl ConfigFile {
    /// Waits for the lock of all configuration files. While a process holds it from the first read to the last write, no other
    /// one changes a file in between.
    pub(crate) fn lock() -> Result<FileLock, Failure> {
        FileLock::in_folder(&state_folder()?.join("hosts"))
    }

    /// Reads a configuration file. A missing file is empty.
    pub(crate) fn read(host: Host, scope: Scope, file: Option<&Path>) -> Result<Self, Failure> {
        let path = match file {
            Some(file) => file.to_owned(),
            None => host.config_file(scope)?,
        };
        let text = read_text(&path)?;
        let failure = |message| file_failure(&path, message);
        let document = Document::parse(text.clone().unwrap_or_default()).map_err(failure)?;
        // User files may hold credentials. Those of projects are shared.
        let mode = match scope {
            Scope::User => FileMode::Private,
            Scope::Project => FileMode::Default,
        };
        Ok(Self {
            host,
            path,
            mode,
            text,
            document,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the entry of a server.
    fn entry(&self, name: &str) -> Option<&Value> {
        self.document
            .value()
            .get(self.host.servers_key())?
            .get(name)
    }

    /// Adds a server. Another server of this name is replaced only with `force`.
    pub(crate) fn install(
        &self,
        name: &str,
        entry: &ServerEntry,
        force: bool,
    ) -> Result<Change, Failure> {
        let value = entry.to_value(self.host).map_err(Failure::usage)?;
        if let Some(existing) = self.entry(name) {
            if FIELDS
                .iter()
                .all(|field| existing.get(field) == value.get(field))
            {
                return Ok(Change::None);
            }
            if !force {
                let path = self.path.display();
                let message = format!("`{path}` has another server `{name}`");
                return Err(Failure::usage(message).note(
                    "use --name to give the new one another name, or --force to replace it",
                ));
            }
        }
        let edited = self.document.set(self.host.servers_key(), name, &value);
        Ok(Change::Edited(
            edited.map_err(|message| self.failure(message))?,
        ))
    }

    /// Removes a server.
    pub(crate) fn uninstall(&self, name: &str) -> Result<Change, Failure> {
        let edited = self.document.remove(self.host.servers_key(), name);
        let edited = edited.map_err(|message| self.failure(message))?;
        Ok(edited.map_or(Change::None, Change::Edited))
    }

    /// Returns the change as a diff, without values of variables and headers.
    pub(crate) fn diff(&self, edited: &Document) -> String {
        let path = self.path.display();
        let hunk = diff(&self.document.masked(), &edited.masked());
        if hunk.is_empty() {
            return format!("{path}: values of `env` or `headers` of a server change");
        }
        let old = if self.text.is_some() {
            path.to_string()
        } else {
            "/dev/null".to_owned()
        };
        format!("--- {old}\n+++ {path}\n{hunk}")
    }

    /// Writes the changed file. Returns the backup of the old one, if there was one.
    pub(crate) fn write(&self, edited: &Document) -> Result<Option<PathBuf>, Failure> {
        // Hosts write their files, too.
        if read_text(&self.path)? != self.text {
            return Err(self.failure("the file has changed meanwhile; run the command again"));
        }
        let backup = if self.text.is_some() {
            Some(self.back_up()?)
        } else {
            if let Some(folder) = self.path.parent().filter(|folder| *folder != Path::new("")) {
                let created = fs::create_dir_all(folder);
                created.map_err(Failure::io(format!("`{}`", self.path.display())))?;
            }
            None
        };
        replace_file_with(&self.path, edited.text().as_bytes(), self.mode)?;
        Ok(backup)
    }

    /// Copies the file beside the target of a link, with the same permissions.
    fn back_up(&self) -> Result<PathBuf, Failure> {
        let target = self.path.canonicalize();
        let target = target.map_err(Failure::io(format!("`{}`", self.path.display())))?;
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".bak");
        let backup = target.with_file_name(name);
        let copied = fs::copy(&target, &backup);
        copied.map_err(Failure::io(format!("backup `{}`", backup.display())))?;
        Ok(backup)
    }

    fn failure(&self, message: impl AsRef<str>) -> Failure {
        file_failure(&self.path, message)
    }
}

/// Reads a file. Returns `None` if it does not exist.
fn read_text(path: &Path) -> Result<Option<String>, Failure> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => read_file(path).map(Some),
    }
}

fn file_failure(path: &Path, message: impl AsRef<str>) -> Failure {
    let path = path.display();
    Failure::new(Exit::Io, format!("`{path}`: {}", message.as_ref()))
}
