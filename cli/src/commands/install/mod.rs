//! `treenail install` and `treenail uninstall`.

mod program;
mod uninstall;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use self::program::{
    absolute_program, name_of_program, name_of_url, notes_on_paths, without_variables,
};
pub(super) use self::uninstall::Uninstall;
use crate::args::Verbosity;
use crate::exit::{Exit, Failure};
use crate::file_lock::FileLock;
use crate::hosts::{Change, ConfigFile, Document, EntryTls, Host, Scope, ServerEntry};
use crate::render::sanitize_text;
use crate::server::check_request;
use crate::terminal::Terminal;

/// Maximum length of the name of a server: hosts join it with the names of tools.
const MAX_NAME_LENGTH: usize = 64;

/// Add a server to the configuration of a host, such as Claude Desktop, VS Code or Cursor
#[derive(Debug, Args)]
pub(crate) struct Install {
    /// URL of a running server
    #[arg(value_name = "URL", conflicts_with = "program")]
    url: Option<String>,

    /// Command that starts the server, after `--`; a program is stored with its absolute path
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    program: Vec<OsString>,

    /// Name of the server in the host [default: the name of the program, or the host of the URL]
    #[arg(long)]
    name: Option<String>,

    /// Environment variable for the server: NAME=VALUE, or NAME for the current value; can be repeated
    #[arg(long = "env", value_name = "NAME[=VALUE]", conflicts_with = "url")]
    env: Vec<String>,

    /// Header of requests to a URL; hosts replace variables such as ${TOKEN}; can be repeated
    #[arg(
        long = "header",
        value_name = "NAME: VALUE",
        conflicts_with = "program"
    )]
    headers: Vec<String>,

    /// Replace another server of this name
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    pub(super) verbosity: Verbosity,
}

/// Configuration files to change.
#[derive(Debug, Args)]
#[command(next_help_heading = "Configuration")]
struct PlaceArgs {
    /// Host to configure; can be repeated [default: the one that is in use on this computer]
    #[arg(long = "host", value_name = "HOST", value_enum)]
    hosts: Vec<Host>,

    /// Users of the configuration
    #[arg(long, value_enum, default_value_t)]
    scope: Scope,

    /// Configuration file, in place of the default of the host
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Print the change, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Install {
    pub(super) async fn run(&self, terminal: &Terminal) -> Result<Exit, Failure> {
        let (name, entry) = self.server()?;
        check_name(&name)?;
        let _lock = self.place.lock(terminal);
        // No file is written unless all of them can be.
        let mut changes = Vec::new();
        for file in self.place.files()? {
            let change = file.1.install(&name, &entry, self.force)?;
            changes.push((file, change));
        }
        if let (ServerEntry::Program { args, .. }, Scope::User) = (&entry, self.place.scope) {
            for note in notes_on_paths(args) {
                terminal.print_note(&note);
            }
        }
        for ((host, file), change) in changes {
            let path = file.path().display();
            match change {
                Change::None => {
                    terminal.print_note(&format!("`{name}` is already installed in `{path}`"));
                }
                Change::Edited(edited) if self.place.dry_run => {
                    print_diff(terminal, &file, &edited).await?;
                }
                Change::Edited(edited) => {
                    write(terminal, &file, &edited, &format!("installed `{name}` in"))?;
                    terminal.print_note(&format!("next: {}", host.reload_hint()));
                }
            }
        }
        Ok(Exit::Success)
    }

    fn server(&self) -> Result<(String, ServerEntry), Failure> {
        if let Some(url) = &self.url {
            let name = name_of_url(url)?;
            let headers = self.headers.iter().map(|header| {
                let (name, value) = header.split_once(':').ok_or_else(|| {
                    Failure::usage(format!(
                        "invalid value `{header}` for --header: expected `Name: value`"
                    ))
                })?;
                Ok((name.trim().to_owned(), value.trim().to_owned()))
            });
            let headers = headers.collect::<Result<Vec<_>, Failure>>()?;
            check_request(&without_variables(url), &headers)?;
            let entry = ServerEntry::Url {
                url: url.clone(),
                headers,
                tls: EntryTls::default(),
            };
            return Ok((self.name.clone().unwrap_or(name), entry));
        }
        let words = self.program.iter().map(|word| {
            word.to_str().map(str::to_owned).ok_or_else(|| {
                let word = word.to_string_lossy();
                Failure::usage(format!("`{word}` is not UTF-8, and cannot be configured"))
            })
        });
        let mut words = words.collect::<Result<Vec<_>, _>>()?.into_iter();
        let program = words.next().unwrap_or_default();
        let args: Vec<_> = words.collect();
        let name = match &self.name {
            Some(name) => name.clone(),
            None => name_of_program(&program)?,
        };
        let entry = ServerEntry::Program {
            command: absolute_program(&program, self.place.scope)?,
            args,
            env: self.variables()?,
            cwd: None,
        };
        Ok((name, entry))
    }

    fn variables(&self) -> Result<Vec<(String, String)>, Failure> {
        let variables = self.env.iter().map(|given| {
            let (name, value) = if let Some((name, value)) = given.split_once('=') {
                (name, value.to_owned())
            } else {
                let value = std::env::var(given).map_err(|error| {
                    Failure::usage(format!("environment variable `{given}` for --env: {error}"))
                })?;
                (given.as_str(), value)
            };
            if name.is_empty() {
                return Err(Failure::usage(format!(
                    "invalid value `{given}` for --env: expected `NAME=VALUE` or `NAME`"
                )));
            }
            Ok((name.to_owned(), value))
        });
        variables.collect()
    }
}

impl PlaceArgs {
    /// Waits for other processes that change configuration files, unless nothing is written. Where no lock can be created, such as in
    /// a read-only home directory, the files are changed without one.
    fn lock(&self, terminal: &Terminal) -> Option<FileLock> {
        if self.dry_run {
            return None;
        }
        let lock = ConfigFile::lock().map_err(|failure| {
            let reason = failure.message();
            terminal.print_note(&format!("other processes are not waited for: {reason}"));
        });
        lock.ok()
    }

    /// Reads the configuration files of the selected hosts.
    fn files(&self) -> Result<Vec<(Host, ConfigFile)>, Failure> {
        let mut hosts = if self.hosts.is_empty() {
            vec![only_present_host()?]
        } else {
            self.hosts.clone()
        };
        let mut seen = HashSet::new();
        hosts.retain(|host| seen.insert(*host));
        if self.file.is_some() && hosts.len() > 1 {
            return Err(Failure::usage("--file is for one --host"));
        }
        let files = hosts.into_iter().map(|host| {
            let file = ConfigFile::read(host, self.scope, self.file.as_deref())?;
            Ok((host, file))
        });
        files.collect()
    }
}

/// Returns the host in use on this computer, if there is exactly one.
fn only_present_host() -> Result<Host, Failure> {
    let present: Vec<_> = Host::ALL
        .into_iter()
        .filter(|host| host.is_present())
        .collect();
    let options = |hosts: &[Host]| {
        let options: Vec<_> = hosts.iter().map(|host| host.option()).collect();
        options.join(", ")
    };
    match *present {
        [host] => Ok(host),
        [] => Err(Failure::usage("no host was found on this computer")
            .note(format!("use --host with one of {}", options(&Host::ALL)))),
        _ => Err(
            Failure::usage("several hosts are in use on this computer").note(format!(
                "use --host with one or more of {}",
                options(&present)
            )),
        ),
    }
}

fn check_name(name: &str) -> Result<(), Failure> {
    let valid = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if (1..=MAX_NAME_LENGTH).contains(&name.len()) && name.chars().all(valid) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`{name}` cannot be the name of a server: hosts accept 1 to {MAX_NAME_LENGTH} of the characters a-z, A-Z, 0-9, `-` and `_`"
    ))
    .note("use --name to give another one"))
}

async fn print_diff(
    terminal: &Terminal,
    file: &ConfigFile,
    edited: &Document,
) -> Result<(), Failure> {
    terminal
        .print_text(&sanitize_text(&file.diff(edited)))
        .await
}

/// Writes a file, and reports it.
fn write(
    terminal: &Terminal,
    file: &ConfigFile,
    edited: &Document,
    done: &str,
) -> Result<(), Failure> {
    let backup = file.write(edited)?;
    terminal.print_note(&format!("{done} `{}`", file.path().display()));
    if let Some(backup) = backup {
        terminal.print_note(&format!("the old file is `{}`", backup.display()));
    }
    Ok(())
}
