//! Configuration files of hosts, the programs that start servers for a model.
//!
//! `document` reads and edits JSON with comments, `entry` is one server in the format of a host, `file` replaces files
//! with a backup, `location` has their paths, `diff` displays a change, and `servers` reads all entries for use.

mod diff;
mod document;
mod entry;
mod expand;
mod file;
mod location;
mod servers;

use clap::ValueEnum;

pub(crate) use self::document::Document;
pub(crate) use self::entry::{EntryTls, ServerEntry};
pub(crate) use self::file::{Change, ConfigFile};
pub(crate) use self::servers::read_servers;

/// Program that uses servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum Host {
    ClaudeDesktop,
    ClaudeCode,
    Vscode,
    Cursor,
    Zed,
    Windsurf,
}

/// Users of a configuration file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    #[default]
    /// You, in all projects.
    User,
    /// All users of the project in the current directory.
    Project,
}

impl Host {
    pub(crate) const ALL: [Self; 6] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Vscode,
        Self::Cursor,
        Self::Zed,
        Self::Windsurf,
    ];

    /// Returns the name for messages.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Vscode => "VS Code",
            Self::Cursor => "Cursor",
            Self::Zed => "Zed",
            Self::Windsurf => "Windsurf",
        }
    }

    /// Returns the value for `--host`.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Vscode => "vscode",
            Self::Cursor => "cursor",
            Self::Zed => "zed",
            Self::Windsurf => "windsurf",
        }
    }

    /// Returns the member of the file that holds the servers.
    pub(crate) fn servers_key(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Zed => "context_servers",
            _ => "mcpServers",
        }
    }

    /// Returns the step that makes the host read its configuration again.
    pub(crate) fn reload_hint(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "quit Claude Desktop and start it again",
            Self::ClaudeCode => "start a new session of Claude Code; `/mcp` shows the servers",
            Self::Vscode => "start the server with \"MCP: List Servers\"",
            Self::Cursor => "enable the server in the settings of Cursor",
            Self::Zed => "Zed starts the server by itself",
            Self::Windsurf => "refresh the servers in the settings of Cascade",
        }
    }
}
