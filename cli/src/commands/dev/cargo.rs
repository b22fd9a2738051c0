//! Builds with Cargo.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::build::{Program, push_limited};
use super::process::ProcessGroup;
use super::watch::{CARGO_EXTENSIONS, Watched};
use crate::terminal::Terminal;

/// Build of a binary or an example.
#[derive(Debug)]
pub(super) struct CargoBuild {
    /// Options of `cargo build` that select the program.
    pub(super) options: Vec<OsString>,
    /// Arguments of the built program.
    pub(super) arguments: Vec<OsString>,
    /// Other files whose changes start a build.
    pub(super) watched: Vec<PathBuf>,
    /// Sources of the last build.
    sources: Vec<PathBuf>,
}

/// Line of `cargo build --message-format=json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CargoMessage {
    reason: String,
    executable: Option<PathBuf>,
    target: CargoTarget,
    message: Option<Diagnostic>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CargoTarget {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

/// Output of `cargo metadata`.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
    workspace_root: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    manifest_path: PathBuf,
    /// Registry or repository; `None` for packages of this computer.
    source: Option<String>,
}

impl CargoBuild {
    pub(super) fn new(
        options: Vec<OsString>,
        arguments: Vec<OsString>,
        watched: Vec<PathBuf>,
    ) -> Self {
        Self {
            options,
            arguments,
            watched,
            sources: Vec::new(),
        }
    }

    /// Returns the directories of all packages on this computer.
    pub(super) async fn watched(&mut self) -> Watched {
        let metadata = read_metadata().await;
        let (mut directories, mut ignored) = (vec![PathBuf::from(".")], Vec::new());
        // An invalid manifest is reported by the build.
        if let Some(metadata) = metadata {
            let packages = metadata.packages.iter().filter(|it| it.source.is_none());
            let roots = packages.filter_map(|package| package.manifest_path.parent());
            directories = roots.map(Path::to_owned).collect();
            directories.push(metadata.workspace_root);
            ignored.push(metadata.target_directory);
        }
        Watched {
            directories,
            extensions: &CARGO_EXTENSIONS,
            paths: self.watched.clone(),
            ignored,
        }
    }

    /// Returns the files that the last build has read, for example those of `include_str!`.
    pub(super) fn sources(&self) -> &[PathBuf] {
        &self.sources
    }

    /// Builds, and returns the built program or the errors.
    pub(super) async fn build(
        &mut self,
        running: &mut Option<ProcessGroup>,
        terminal: &Terminal,
    ) -> Result<Program, String> {
        let process = ProcessGroup::spawn(&mut self.command())
            .map_err(|error| format!("`cargo` cannot be started: {error}"))?;
        let process = running.insert(process);
        let mut output = CargoOutput::default();
        let (stdout, _) = process.take_output();
        let reading = async {
            let Some(stdout) = stdout else { return };
            let mut lines = BufReader::new(stdout).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                output.push_line(&line, terminal);
            }
        };
        let status = process.wait_with_output(reading).await;
        if let Some(process) = running.take() {
            process.release();
        }
        match status {
            Ok(status) if status.success() => {
                let path = output.executable()?;
                self.sources = read_sources(&path);
                let arguments = self.arguments.clone();
                Ok(Program {
                    path: path.into(),
                    arguments,
                })
            }
            Ok(_) if !output.errors.is_empty() => Err(output.errors),
            Ok(status) => Err(format!(
                "`cargo build` failed: {status}; standard error has the reason"
            )),
            Err(error) => Err(format!("`cargo build`: {error}")),
        }
    }

    /// Returns the command of a build, whose messages have colours if standard error has them.
    fn command(&self) -> Command {
        let format = if console::colors_enabled_stderr() {
            "json-diagnostic-rendered-ansi"
        } else {
            "json"
        };
        let mut command = Command::new(cargo());
        command
            .arg("build")
            .args(&self.options)
            .arg(format!("--message-format={format}"))
            .stdout(Stdio::piped());
        command
    }
}

/// Messages of one build.
#[derive(Debug, Default)]
struct CargoOutput {
    errors: String,
    /// Executables by the names of their targets.
    executables: BTreeMap<String, PathBuf>,
}

impl CargoOutput {
    /// Prints diagnostics, and collects errors and executables.
    fn push_line(&mut self, line: &str, terminal: &Terminal) {
        let Ok(message) = serde_json::from_str::<CargoMessage>(line) else {
            return;
        };
        if let Some(executable) = message.executable {
            self.executables.insert(message.target.name, executable);
        }
        let diagnostic = message
            .message
            .filter(|_| message.reason == "compiler-message");
        let Some(Diagnostic { level, rendered }) = diagnostic else {
            return;
        };
        let rendered = rendered.unwrap_or_default();
        terminal.print_build_output(&rendered);
        if level.starts_with("error") {
            push_limited(&mut self.errors, &console::strip_ansi_codes(&rendered));
        }
    }

    fn executable(&self) -> Result<PathBuf, String> {
        let mut paths = self.executables.values();
        match (paths.next(), paths.next()) {
            (Some(path), None) => Ok(path.clone()),
            (None, _) => Err(
                "the package has no binary; choose a package with -p, or an example with --example"
                    .to_owned(),
            ),
            (Some(_), Some(_)) => {
                let names: Vec<_> = self.executables.keys().map(String::as_str).collect();
                let names = names.join("`, `");
                Err(format!(
                    "there are several binaries: `{names}`; choose one with --bin"
                ))
            }
        }
    }
}

/// Returns the Cargo that has started this program, or that of the search path.
fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

async fn read_metadata() -> Option<Metadata> {
    let mut command = Command::new(cargo());
    command
        .args(["metadata", "--format-version=1", "--quiet"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await.ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

/// Reads the sources of an executable from the file beside it, which has the form of a Makefile.
fn read_sources(executable: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(executable.with_extension("d")).unwrap_or_default();
    parse_sources(&text)
}

fn parse_sources(text: &str) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for line in text.lines() {
        let Some((_, files)) = line.split_once(": ") else {
            continue;
        };
        // Spaces in names are escaped.
        let files = files.replace("\\ ", "\0");
        let files = files.split_whitespace().map(|file| file.replace('\0', " "));
        sources.extend(files.map(PathBuf::from));
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_an_executable_are_read() {
        let text = "/t/debug/server: /a/src/main.rs /a/my\\ text.md\n\n/a/src/main.rs:\n";
        let expected = ["/a/src/main.rs", "/a/my text.md"].map(PathBuf::from);
        assert_eq!(parse_sources(text), expected);
    }

    #[test]
    fn several_binaries_are_listed() {
        let mut output = CargoOutput::default();
        assert!(output.executable().unwrap_err().contains("--example"));
        for name in ["b", "a"] {
            output.executables.insert(name.to_owned(), name.into());
        }
        assert!(output.executable().unwrap_err().contains("`a`, `b`"));
    }
}
