//! Locations of configuration files.

use std::env;
use std::path::{Path, PathBuf};

use super::{Host, Scope};
use crate::exit::Failure;

impl Host {
    /// Returns the configuration file, which may not exist. Projects are in the current directory.
    pub(crate) fn config_file(self, scope: Scope) -> Result<PathBuf, Failure> {
        match scope {
            Scope::User => self.user_file(),
            Scope::Project => self.project_file().map(PathBuf::from).ok_or_else(|| {
                let title = self.title();
                Failure::usage(format!(
                    "{title} has no configuration for projects; omit `--scope project`"
                ))
            }),
        }
    }

    fn project_file(self) -> Option<&'static str> {
        match self {
            Self::ClaudeDesktop | Self::Windsurf => None,
            Self::ClaudeCode => Some(".mcp.json"),
            Self::Vscode => Some(".vscode/mcp.json"),
            Self::Cursor => Some(".cursor/mcp.json"),
            Self::Zed => Some(".zed/settings.json"),
        }
    }

    fn user_file(self) -> Result<PathBuf, Failure> {
        let file = match self {
            Self::ClaudeDesktop => config_folder()?.join("Claude/claude_desktop_config.json"),
            Self::ClaudeCode => match variable("CLAUDE_CONFIG_DIR") {
                Some(folder) => folder.join(".claude.json"),
                None => home()?.join(".claude.json"),
            },
            Self::Vscode => config_folder()?.join("Code/User/mcp.json"),
            Self::Cursor => home()?.join(".cursor/mcp.json"),
            Self::Zed => zed_folder()?.join("settings.json"),
            Self::Windsurf => home()?.join(".codeium/windsurf/mcp_config.json"),
        };
        // With the separator of the platform.
        Ok(file.components().collect())
    }

    /// Returns whether the host has been used by this user.
    pub(crate) fn is_present(self) -> bool {
        let Ok(file) = self.user_file() else {
            return false;
        };
        match self {
            // Its folder is the home directory.
            Self::ClaudeCode => file.exists(),
            _ => file.parent().is_some_and(Path::is_dir),
        }
    }
}

/// Returns the folder for configurations of desktop applications.
fn config_folder() -> Result<PathBuf, Failure> {
    if cfg!(windows) {
        return variable("APPDATA").ok_or_else(|| missing_variable("APPDATA"));
    }
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Application Support"));
    }
    xdg_folder()
}

/// Returns the folder of Zed, which follows XDG on macOS too.
fn zed_folder() -> Result<PathBuf, Failure> {
    if cfg!(windows) {
        return Ok(config_folder()?.join("Zed"));
    }
    if cfg!(target_os = "macos") {
        return Ok(home()?.join(".config/zed"));
    }
    Ok(xdg_folder()?.join("zed"))
}

fn xdg_folder() -> Result<PathBuf, Failure> {
    match variable("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute()) {
        Some(folder) => Ok(folder),
        None => Ok(home()?.join(".config")),
    }
}

fn home() -> Result<PathBuf, Failure> {
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    variable(name).ok_or_else(|| missing_variable(name))
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn missing_variable(name: &str) -> Failure {
    Failure::usage(format!(
        "cannot find the configuration: the environment variable `{name}` is not set"
    ))
    .note("give the file with --file")
}
