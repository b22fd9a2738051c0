//! Environment of a child process: a short list of inherited variables, and explicit changes.

use std::ffi::{OsStr, OsString};

use tokio::process::Command;

/// Variables that a server inherits: those that programs need to find their files, and none with secrets. The official
/// SDKs have the same list.
#[cfg(not(windows))]
const INHERITED: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// The list of the official SDKs, and the variables that the command interpreter and most runtimes need to start.
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

/// Environment of a server.
#[derive(Clone, Default)]
pub(super) struct Environment {
    /// True if the whole environment of this process is inherited.
    inherits_all: bool,
    /// Variables to set, or to remove if there is no value, in the order of the calls.
    changes: Vec<(OsString, Option<OsString>)>,
}

impl Environment {
    pub(super) fn inherit_all(&mut self) {
        self.inherits_all = true;
    }

    pub(super) fn set_variable(&mut self, name: &OsStr, value: Option<&OsStr>) {
        let value = value.map(OsStr::to_owned);
        self.changes.push((name.to_owned(), value));
    }

    /// Applies the environment to a command.
    pub(super) fn apply(&self, command: &mut Command) {
        if !self.inherits_all {
            command.env_clear();
            command.envs(inherited_variables(|name| std::env::var_os(name)));
        }
        for (name, value) in &self.changes {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }
}

/// Returns the variables of the short list that have a value. Shell functions, which start with `()`, are code and omitted.
fn inherited_variables(
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
            inherited_variables(value_of)
                .map(|(name, _)| name)
                .collect()
        };
        let expected: Vec<_> = INHERITED
            .into_iter()
            .filter(|name| *name != "HOME")
            .collect();
        assert_eq!(names("value"), expected);
        assert_eq!(names("() { :; }; echo"), [""; 0]);
    }
}
