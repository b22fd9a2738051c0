//! Scenarios that are not covered, with their reasons.

use std::path::Path;
use std::{fs, io};

/// Lines of `name: reason` of a file. A trailing `*` in a name matches any suffix.
pub(crate) struct NotCovered {
    file: String,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    reason: String,
    is_used: bool,
}

impl NotCovered {
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(file)?;
        let lines = text.lines();
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let entries = lines.map(|line| {
            let invalid = || io::Error::other(format!("{}: no reason in `{line}`", file.display()));
            Entry::parse(line).ok_or_else(invalid)
        });
        Ok(Self {
            entries: entries.collect::<io::Result<_>>()?,
            file: file.display().to_string(),
        })
    }

    /// Returns the reason for a scenario, whose entry is used then.
    pub(crate) fn reason(&mut self, scenario: &str) -> Option<&str> {
        let mut entries = self.entries.iter_mut();
        let entry = entries.find(|entry| entry.matches(scenario))?;
        entry.is_used = true;
        Some(&entry.reason)
    }

    /// Describes the entries for which no scenario has run.
    pub(crate) fn unused(&self) -> impl Iterator<Item = String> + '_ {
        let unused = self.entries.iter().filter(|entry| !entry.is_used);
        unused.map(|entry| format!("{}: no scenario is `{}`; remove it", self.file, entry.name))
    }
}

impl Entry {
    fn parse(line: &str) -> Option<Self> {
        // The name of a run may precede that of the scenario, also with `: `.
        let run = line.split_once(": ").map_or(0, |(run, _)| run.len() + 2);
        let start = if line.starts_with("proxy-") { run } else { 0 };
        let end = start + line[start..].find(": ")?;
        Some(Self {
            name: line[..end].to_owned(),
            reason: line[end + 2..].to_owned(),
            is_used: false,
        })
    }

    fn matches(&self, scenario: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(prefix) => scenario.starts_with(prefix),
            None => scenario == self.name,
        }
    }
}
