//! Tools that `--approve` allows without asking. Servers choose the names of their tools, so each value is resolved once,
//! before the first call, and its meaning is fixed from then on.

use std::collections::HashSet;

use super::servers::Servers;
use crate::exit::Failure;
use crate::terminal::Terminal;

/// Value of `--approve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ApproveTarget {
    /// All tools of a server.
    Server(String),
    /// One tool of a server, which may not exist yet.
    Tool(String, String),
    /// Tool of the only server, or of each trusted server that has it. The name is not that of a server.
    Name(String),
}

impl ApproveTarget {
    /// Parses values. The names of servers contain no colon.
    pub(super) fn parse_all(values: &[String], servers: &[&str]) -> Result<Vec<Self>, Failure> {
        values
            .iter()
            .map(|word| Self::parse(word, servers))
            .collect()
    }

    fn parse(word: &str, servers: &[&str]) -> Result<Self, Failure> {
        match word.split_once(':') {
            Some((server, tool)) if servers.contains(&server) => {
                Ok(Self::Tool(server.to_owned(), tool.to_owned()))
            }
            Some((server, _)) => Err(Failure::usage(format!(
                "invalid value `{word}` for --approve: unknown server `{server}`; expected SERVER, SERVER:TOOL or TOOL"
            ))),
            None if servers.contains(&word) => Ok(Self::Server(word.to_owned())),
            None => Ok(Self::Name(word.to_owned())),
        }
    }
}

/// Tools that may run without asking for approval, regardless of their annotations.
#[derive(Debug, Default)]
pub(super) struct ApprovedTools {
    servers: HashSet<String>,
    /// Pairs of server and tool.
    tools: HashSet<(String, String)>,
}

impl ApprovedTools {
    /// Resolves the targets with the tools of the servers.
    pub(super) async fn resolve(
        targets: Vec<ApproveTarget>,
        servers: &Servers,
        terminal: &Terminal,
    ) -> Result<Self, Failure> {
        let mut approved = Self::default();
        for target in targets {
            match target {
                ApproveTarget::Server(server) => drop(approved.servers.insert(server)),
                ApproveTarget::Tool(server, tool) => {
                    if !servers.names_with_tool(&tool).await?.contains(&&*server) {
                        terminal.print_note(&format!(
                            "--approve `{server}:{tool}`: the server currently does not have this tool"
                        ));
                    }
                    approved.tools.insert((server, tool));
                }
                ApproveTarget::Name(tool) => {
                    let mut found = servers.names_with_tool(&tool).await?;
                    found.retain(|server| servers.matches_bare_tool_names(server));
                    if found.is_empty() {
                        return Err(Failure::usage(format!(
                            "invalid value `{tool}` for --approve: no server has this name, and no tool of the only server or of a server with --trust; use SERVER:TOOL"
                        )));
                    }
                    let places = found.into_iter().map(|it| (it.to_owned(), tool.clone()));
                    approved.tools.extend(places);
                }
            }
        }
        Ok(approved)
    }

    pub(super) fn contains(&self, server: &str, tool: &str) -> bool {
        let place = (server.to_owned(), tool.to_owned());
        self.servers.contains(server) || self.tools.contains(&place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_one_meaning() {
        let servers = ["files", "git"];
        let tool =
            |server: &str, tool: &str| ApproveTarget::Tool(server.to_owned(), tool.to_owned());
        let cases = [
            ("git", ApproveTarget::Server("git".to_owned())),
            ("read", ApproveTarget::Name("read".to_owned())),
            ("files:read", tool("files", "read")),
            ("files:git", tool("files", "git")),
            ("files:a:b", tool("files", "a:b")),
        ];
        for (word, expected) in cases {
            assert_eq!(
                ApproveTarget::parse(word, &servers).ok(),
                Some(expected),
                "{word}"
            );
        }
        for word in ["web:read", ":read", "read:files"] {
            assert!(ApproveTarget::parse(word, &servers).is_err(), "{word}");
        }
    }
}
