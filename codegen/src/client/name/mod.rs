//! Conversion of arbitrary names of servers to Rust names.
//!
//! The results consist of ASCII letters, digits and underscores. Rustc warns about many other characters, with lints that can
//! only be allowed for a whole crate.

mod set;
#[cfg(test)]
mod tests;
mod unique;
mod words;

use proc_macro2::{Ident, Span};

pub(super) use self::set::Names;
pub(super) use self::unique::{Forms, snake_forms, unique, variant_forms};
pub(super) use self::words::code;
use self::words::valid_words;

/// Keywords of all editions.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Keywords that cannot be raw identifiers.
const INVALID_NAMES: [&str; 4] = ["self", "super", "crate", "_"];

/// `GetSum` for `get-sum`.
pub(super) fn pascal(name: &str) -> String {
    join_pascal(&valid_words(name, false))
}

fn join_pascal(words: &[String]) -> String {
    let capital = |word: &String| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    };
    words.iter().map(capital).collect()
}

/// `Entity` for `entities`; `NewsItem` if no singular is found.
pub(super) fn singular(name: &str, otherwise: &str) -> String {
    let name = pascal(name);
    let singular = match name.as_str() {
        _ if name.len() < 4 => None,
        _ if ["ss", "us", "is", "News", "Series"]
            .iter()
            .any(|end| name.ends_with(end)) =>
        {
            None
        }
        _ if name.ends_with("ies") => Some(format!("{}y", &name[..name.len() - 3])),
        _ if ["sses", "xes", "ches", "shes"]
            .iter()
            .any(|end| name.ends_with(end)) =>
        {
            Some(name[..name.len() - 2].to_owned())
        }
        _ => name.strip_suffix('s').map(str::to_owned),
    };
    singular.unwrap_or_else(|| format!("{name}{otherwise}"))
}

/// The name of the client: that of the server, without generic words.
pub(super) fn client(server: &str) -> String {
    let all = valid_words(server, false);
    let mut own = all.clone();
    own.retain(|word| !["mcp", "server", "servers", "client"].contains(&word.as_str()));
    let own = if own.is_empty() { all } else { own };
    let mut name = join_pascal(&own);
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'N');
    }
    name + "Client"
}

/// Converts to an identifier. A keyword becomes a raw identifier, or gets an underscore.
pub(super) fn ident(name: &str) -> Ident {
    if INVALID_NAMES.contains(&name) {
        Ident::new(&format!("{name}_"), Span::call_site())
    } else if KEYWORDS.contains(&name) {
        Ident::new_raw(name, Span::call_site())
    } else {
        Ident::new(name, Span::call_site())
    }
}

/// Returns `true` for a valid type name.
pub(super) fn is_type_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_uppercase())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name != "Self"
}
