//! Home directory of the tests, in which the program runs.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Outcome, outcome_of, test_server};

/// Home directory, and a project in it.
pub(super) struct Home(TempDir);

impl Home {
    pub(super) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        Self(home)
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        let file = self.path(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(super) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    pub(super) fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap()
    }

    /// Returns the program, which runs in the project.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
        command.args(args).current_dir(self.path("project"));
        command
            .env("HOME", self.0.path())
            .env("USERPROFILE", self.0.path());
        for variable in ["APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME"] {
            command.env(variable, self.path("config"));
        }
        command
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("XDG_STATE_HOME");
        command.stdin(Stdio::null());
        command
    }

    /// Runs the program, with the output free of the name of the home directory.
    pub(super) fn run(&self, args: &[&str]) -> Outcome {
        let mut outcome = outcome_of(self.command(args).output().unwrap());
        let home = format!("{}/", self.0.path().display());
        for text in [&mut outcome.stdout, &mut outcome.stderr] {
            *text = text.replace(&home, "~/");
        }
        outcome
    }

    #[track_caller]
    pub(super) fn installed(&self, args: &[&str]) -> Outcome {
        let outcome = self.run(args);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome
    }
}

pub(super) fn server() -> String {
    test_server().to_str().unwrap().to_owned()
}
