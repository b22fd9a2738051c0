//! Tickets of tasks that run on servers: a file for each server, in the state directory of the user.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use treenail::tasks::TaskTicket;

use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::file_lock::FileLock;
use crate::files::{FileMode, read_file, replace_file_with};
use crate::server::{describe_url, target_words};
use crate::state::state_folder;
use crate::terminal::Terminal;

/// Maximum number of tickets of one server; further ones replace the oldest.
const MAX_TICKETS: usize = 1_000;

/// Tickets of one server.
#[derive(Debug)]
pub(crate) struct TicketFile {
    path: PathBuf,
    server: String,
}

/// Content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredTickets {
    /// Address of the server, without secrets.
    pub(crate) server: String,
    /// The tickets, oldest first.
    pub(crate) tasks: Vec<TaskTicket>,
}

impl TicketFile {
    /// Returns the file of the server on a command line.
    pub(crate) fn of_server(args: &ServerArgs) -> Result<Self, Failure> {
        let words = target_words(args)?;
        let hash = digest(&SHA256, words.join("\0").as_bytes());
        let name = hash.as_ref()[..16]
            .iter()
            .fold(String::new(), |name, byte| format!("{name}{byte:02x}"));
        Ok(Self {
            path: folder()?.join(format!("{name}.json")),
            server: describe_target(&words),
        })
    }

    /// Stores a ticket.
    pub(crate) fn add(&self, ticket: &TaskTicket) -> Result<(), Failure> {
        self.change(|tasks| {
            tasks.retain(|stored| stored.id() != ticket.id());
            tasks.push(ticket.clone());
            let excess = tasks.len().saturating_sub(MAX_TICKETS);
            tasks.drain(..excess);
        })
    }

    /// Removes the ticket of a task that has ended.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Failure> {
        self.change(|tasks| tasks.retain(|stored| stored.id() != id))
    }

    /// Removes the ticket of a task that has ended. A failure is only a note: the outcome of the task matters more.
    pub(crate) fn forget(&self, id: &str, terminal: &Terminal) {
        if let Err(failure) = self.remove(id) {
            let why = failure.message();
            terminal.print_note(&format!("the ticket of the task was not removed: {why}"));
        }
    }

    /// Checks that tickets can be stored.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        let _lock = self.lock()?;
        read_tickets(&self.path).map(drop)
    }

    /// Returns the ticket of a task, by its id or the start of it.
    pub(crate) fn find(&self, id: &str) -> Result<TaskTicket, Failure> {
        if id.is_empty() {
            // Every id starts with it.
            return Err(Failure::usage("the id of the task is empty"));
        }
        let stored = read_tickets(&self.path)?.tasks;
        if let Some(ticket) = stored.iter().find(|ticket| ticket.id() == id) {
            return Ok(ticket.clone());
        }
        let mut matching = stored
            .into_iter()
            .filter(|ticket| ticket.id().starts_with(id));
        match (matching.next(), matching.next()) {
            (Some(ticket), None) => Ok(ticket),
            (Some(_), Some(_)) => Err(Failure::usage(format!(
                "several tasks start with `{id}`; write more of the id"
            ))),
            (None, _) => Err(Failure::usage(format!(
                "no task `{id}` of this server is stored; run `treenail task list` to see all tasks"
            ))),
        }
    }

    /// Waits for the lock of all tickets, which processes hold while they change a file.
    fn lock(&self) -> Result<FileLock, Failure> {
        FileLock::in_folder(self.path.parent().unwrap_or(&self.path))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<TaskTicket>)) -> Result<(), Failure> {
        let _lock = self.lock()?;
        let mut stored = read_tickets(&self.path)?;
        stored.server.clone_from(&self.server);
        change(&mut stored.tasks);
        if stored.tasks.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(Failure::io(format!("`{}`", self.path.display()))(error))
                }
                _ => Ok(()),
            };
        }
        let text = serde_json::to_vec_pretty(&stored).map_err(|error| {
            Failure::new(Exit::Io, format!("a ticket cannot be stored: {error}"))
        })?;
        replace_file_with(&self.path, &text, FileMode::Private)
    }
}

/// Returns the tickets of all servers.
pub(crate) fn all_tickets() -> Result<Vec<StoredTickets>, Failure> {
    let folder = folder()?;
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::io(format!("`{}`", folder.display()))(error)),
    };
    let mut all = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            all.push(read_tickets(&path)?);
        }
    }
    all.sort_by(|one, other| one.server.cmp(&other.server));
    Ok(all)
}

fn read_tickets(path: &Path) -> Result<StoredTickets, Failure> {
    if !path.exists() {
        return Ok(StoredTickets::default());
    }
    serde_json::from_str(&read_file(path)?).map_err(|error| {
        let path = path.display();
        let message = format!("`{path}` does not contain tickets of tasks: {error}");
        Failure::new(Exit::Io, message).note("remove the file to forget the tasks of its server")
    })
}

/// Returns the address of a server without secrets: its URL, or its program.
fn describe_target(words: &[String]) -> String {
    let last = words.get(1).map_or("", String::as_str);
    if words.first().is_some_and(|word| word == "--url") {
        return describe_url(last);
    }
    last.to_owned()
}

/// Returns the folder of the tickets.
fn folder() -> Result<PathBuf, Failure> {
    Ok(state_folder()?.join("tasks"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn concurrent_changes_are_all_stored() {
        let folder = tempfile::tempdir().unwrap();
        let file = TicketFile {
            path: folder.path().join("server.json"),
            server: "server".to_owned(),
        };
        let add = &|task: usize| {
            let ticket = json!({"task": task.to_string(), "tool": "build", "revision": "2026-07-28", "created": 1});
            file.add(&serde_json::from_value(ticket).unwrap()).unwrap();
        };
        std::thread::scope(|scope| {
            for task in 0..8 {
                scope.spawn(move || add(task));
            }
        });
        assert_eq!(read_tickets(&file.path).unwrap().tasks.len(), 8);
    }

    #[test]
    fn a_described_target_has_no_secrets() {
        for (words, expected) in [
            (["--url", "https://me:pw@host/mcp"], "https://host/mcp"),
            (["--", "server"], "server"),
        ] {
            assert_eq!(describe_target(&words.map(str::to_owned)), expected);
        }
    }
}
