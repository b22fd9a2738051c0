//! The environment of a child process: a short list of variables, and those that were set for it.

use std::ffi::{OsStr, OsString};

use tokio::process::Command;

/// Variables that a server inherits: those without which programs do not find their files, and none that has secrets. The
/// list is that of the official SDKs.
#[cfg(not(windows))]
const INHERITED: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// The list of the official SDKs, with the variables that the command interpreter and most runtimes need to start.
#[cfg(windows)]
const INHERITED: [&str; 16] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Environment of a server, in the order in which the builder was called.
#[derive(Clone, Default)]
pub(super) struct Environment {
    /// Whether the environment of this process is inherited as a whole.
    inherits_all: bool,
    /// Variables that are set, or removed where there is no value.
    changes: Vec<(OsString, Option<OsString>)>,
}

impl Environment {
    pub(super) fn inherit_all(&mut self) {
        self.inherits_all = true;
    }

    pub(super) fn change(&mut self, name: &OsStr, value: Option<&OsStr>) {
        let value = value.map(OsStr::to_owned);
        self.changes.push((name.to_owned(), value));
    }

    /// Gives a process this environment.
    pub(super) fn apply(&self, command: &mut Command) {
        if !self.inherits_all {
            command.env_clear();
            command.envs(inherited(|name| std::env::var_os(name)));
        }
        for (name, value) in &self.changes {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }
}

/// Variables of the short list that have a value. Shell functions, which begin with `()`, are code and are left out.
fn inherited(
    value_of: impl Fn(&str) -> Option<OsString>,
) -> impl Iterator<Item = (&'static str, OsString)> {
    INHERITED.into_iter().filter_map(move |name| {
        let value = value_of(name)?;
        (!value.as_encoded_bytes().starts_with(b"()")).then_some((name, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_shell_functions_are_not_inherited() {
        let names = |value: &'static str| -> Vec<_> {
            let value_of = |name: &str| (name != "HOME").then(|| OsString::from(value));
            inherited(value_of).map(|(name, _)| name).collect()
        };
        let expected: Vec<_> = INHERITED
            .into_iter()
            .filter(|name| *name != "HOME")
            .collect();
        assert_eq!(names("value"), expected);
        assert_eq!(names("() { :; }; echo"), [""; 0]);
    }
}
