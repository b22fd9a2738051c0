//! Names of `--rename`.

use crate::exit::Failure;

/// Old and new names of features. Both names of a pair start with the prefix of its server.
#[derive(Debug)]
pub(super) struct Renames(Vec<(String, String)>);

impl Renames {
    /// Parses names for servers with these prefixes.
    pub(super) fn parse(given: &[String], prefixes: &[String]) -> Result<Self, Failure> {
        let pair = |text: &String| {
            parse_pair(text, prefixes).map_err(|why| {
                Failure::usage(format!("invalid value `{text}` for --rename: {why}"))
            })
        };
        given.iter().map(pair).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the names for the server with this prefix, without it.
    pub(super) fn of(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.filter_map(move |(from, to)| from.strip_prefix(prefix).zip(to.strip_prefix(prefix)))
    }
}

fn parse_pair(text: &str, prefixes: &[String]) -> Result<(String, String), String> {
    let (from, to) = text.split_once('=').ok_or("expected `name=new`")?;
    let matching = || prefixes.iter().filter(|prefix| from.starts_with(*prefix));
    if matching().next().is_none() {
        return Err("no server has a feature of this name".to_owned());
    }
    match matching().find(|prefix| !to.starts_with(*prefix)) {
        Some(prefix) => Err(format!("the new name starts with `{prefix}` too")),
        None => Ok((from.to_owned(), to.to_owned())),
    }
}
