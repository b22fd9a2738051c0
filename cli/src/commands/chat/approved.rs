//! What `--approve` lets run without asking. Servers choose the names of their tools, so each word is read once, before
//! anything is called, and means one thing from then on.

use std::collections::HashSet;

use super::servers::Servers;
use crate::exit::Failure;
use crate::screen::Screen;

/// A word of `--approve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// All tools of a server.
    Server(String),
    /// One tool of a server, which need not be there yet.
    Tool(String, String),
    /// The name of no server: a tool of the only server, or of those servers that are trusted and have it.
    Name(String),
}

impl Word {
    /// Reads words, given the names of the servers, in which no colon is.
    pub(super) fn all(given: &[String], servers: &[&str]) -> Result<Vec<Self>, Failure> {
        given.iter().map(|word| Self::of(word, servers)).collect()
    }

    fn of(word: &str, servers: &[&str]) -> Result<Self, Failure> {
        match word.split_once(':') {
            Some((server, tool)) if servers.contains(&server) => {
                Ok(Self::Tool(server.to_owned(), tool.to_owned()))
            }
            Some((server, _)) => Err(Failure::usage(format!(
                "--approve `{word}`: there is no server `{server}`; it is SERVER, SERVER:TOOL or TOOL"
            ))),
            None if servers.contains(&word) => Ok(Self::Server(word.to_owned())),
            None => Ok(Self::Name(word.to_owned())),
        }
    }
}

/// What may run without asking, whatever it says of itself.
#[derive(Debug, Default)]
pub(super) struct Approved {
    servers: HashSet<String>,
    /// By server and tool.
    tools: HashSet<(String, String)>,
}

impl Approved {
    /// Finds out what the words mean with these servers.
    pub(super) async fn find(
        words: Vec<Word>,
        servers: &Servers,
        screen: &Screen,
    ) -> Result<Self, Failure> {
        let mut approved = Self::default();
        for word in words {
            match word {
                Word::Server(server) => drop(approved.servers.insert(server)),
                Word::Tool(server, tool) => {
                    if !servers.with_tool(&tool).await?.contains(&&*server) {
                        screen.note(&format!(
                            "--approve `{server}:{tool}`: the server has no such tool now"
                        ));
                    }
                    approved.tools.insert((server, tool));
                }
                Word::Name(tool) => {
                    let mut found = servers.with_tool(&tool).await?;
                    found.retain(|server| servers.is_meant_by_tools(server));
                    if found.is_empty() {
                        return Err(Failure::usage(format!(
                            "--approve `{tool}`: there is no server of this name, and no tool of the only server or of one with --trust; write SERVER:TOOL"
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
    fn a_word_means_one_thing() {
        let servers = ["files", "git"];
        let tool = |server: &str, tool: &str| Word::Tool(server.to_owned(), tool.to_owned());
        let cases = [
            ("git", Word::Server("git".to_owned())),
            ("read", Word::Name("read".to_owned())),
            ("files:read", tool("files", "read")),
            ("files:git", tool("files", "git")),
            ("files:a:b", tool("files", "a:b")),
        ];
        for (word, expected) in cases {
            assert_eq!(Word::of(word, &servers).ok(), Some(expected), "{word}");
        }
        for word in ["web:read", ":read", "read:files"] {
            assert!(Word::of(word, &servers).is_err(), "{word}");
        }
    }
}
