//! Conversion of arbitrary names of servers to Rust names.
//!
//! The results consist of ASCII letters, digits and underscores. Rustc warns about many other characters, with lints that can
//! only be allowed for a whole crate.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span};

/// Maximum number of characters of a name, without the suffix that makes it unique.
const MAX_LENGTH: usize = 60;

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

/// Names that the generated module uses, or that readers expect to have their usual meaning.
const RESERVED_TYPES: [&str; 54] = [
    "AsMut",
    "AsRef",
    "BTreeMap",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Deserializer",
    "Display",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "Error",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "JsonObject",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Serialize",
    "Serializer",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Value",
    "Vec",
    "Unit",
    "Formatter",
];

/// The letters from U+00C0 to U+00FF in ASCII.
const LATIN: [&str; 64] = [
    "A", "A", "A", "A", "Ae", "A", "Ae", "C", "E", "E", "E", "E", "I", "I", "I", "I", "D", "N",
    "O", "O", "O", "O", "Oe", "", "O", "U", "U", "U", "Ue", "Y", "Th", "ss", "a", "a", "a", "a",
    "ae", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i", "i", "d", "n", "o", "o", "o", "o",
    "oe", "", "o", "u", "u", "u", "ue", "y", "th", "y",
];

/// Names of symbols, used if a name consists of symbols only or would otherwise clash.
const SYMBOL_NAMES: [(char, &str); 30] = [
    ('+', "plus"),
    ('-', "minus"),
    ('*', "star"),
    ('/', "slash"),
    ('%', "percent"),
    ('=', "equal"),
    ('<', "less"),
    ('>', "greater"),
    ('!', "not"),
    ('&', "and"),
    ('|', "or"),
    ('^', "caret"),
    ('~', "tilde"),
    ('.', "dot"),
    (',', "comma"),
    (';', "semicolon"),
    (':', "colon"),
    ('?', "question"),
    ('@', "at"),
    ('#', "hash"),
    ('$', "dollar"),
    ('_', "underscore"),
    (' ', "space"),
    ('(', "open"),
    (')', "close"),
    ('[', "bracket"),
    (']', "unbracket"),
    ('\'', "quote"),
    ('"', "quotes"),
    ('\\', "backslash"),
];

/// Splits a name into lower-case words: `getHTTPStatus`, `get-http-status` and `get http.status` give the same.
fn words(name: &str, spell_symbols: bool) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let text: Vec<char> = name.chars().collect();
    for (index, &c) in text.iter().enumerate() {
        let letters = ascii(c);
        let next_is_small = text.get(index + 1).is_some_and(|next| next.is_lowercase());
        let begins = c.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || before.is_uppercase() && next_is_small);
        if begins || letters.is_none() {
            words.push(std::mem::take(&mut word));
        }
        match letters {
            Some(letters) => word.push_str(&letters.to_ascii_lowercase()),
            None if spell_symbols => words.extend(symbol_name(c)),
            None => {}
        }
        before = c;
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Transliterates a character to ASCII; `None` if it is not part of a word.
fn ascii(c: char) -> Option<String> {
    if c.is_ascii_alphanumeric() {
        return Some(c.to_string());
    }
    let code = u32::from(c);
    if let Some(letters) = code
        .checked_sub(0xC0)
        .and_then(|index| LATIN.get(usize::try_from(index).ok()?))
    {
        return (!letters.is_empty()).then(|| (*letters).to_owned());
    }
    (!c.is_ascii() && c.is_alphanumeric()).then(|| format!("u{code:x}"))
}

/// The name of a character that is not part of a word.
fn symbol_name(c: char) -> Option<String> {
    let sign = SYMBOL_NAMES.iter().find(|sign| sign.0 == c);
    match sign {
        Some((_, name)) => Some((*name).to_owned()),
        None => (!c.is_ascii()).then(|| format!("u{:x}", u32::from(c))),
    }
}

/// Truncates a name between its words.
fn shorten(mut words: Vec<String>) -> Vec<String> {
    let mut length = 0;
    let fitting = words.iter().take_while(|word| {
        length += word.len() + 1;
        length <= MAX_LENGTH
    });
    let fitting = fitting.count().max(1);
    words.truncate(fitting);
    if let Some(word) = words.first_mut() {
        word.truncate(MAX_LENGTH);
    }
    words
}

/// Splits a name into at least one word; the first one starts with a letter.
fn valid_words(name: &str, spell_symbols: bool) -> Vec<String> {
    let mut words = shorten(words(name, spell_symbols));
    if words.is_empty() && !name.is_empty() && !spell_symbols {
        return valid_words(name, true);
    }
    match words.first_mut() {
        None => words.push(if name.is_empty() { "empty" } else { "sign" }.to_owned()),
        Some(first) if first.starts_with(|c: char| c.is_ascii_digit()) => first.insert(0, 'n'),
        Some(_) => {}
    }
    words
}

/// `get_sum` for `get-sum`; the result can be a keyword.
pub(super) fn snake(name: &str) -> String {
    valid_words(name, false).join("_")
}

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

/// Set of unique names.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    /// The next number to append to a name.
    next: BTreeMap<String, u64>,
}

impl Names {
    /// Creates a set with reserved names.
    pub(super) fn without(taken: &[&str]) -> Self {
        let taken = taken.iter().map(|name| (*name).to_owned()).collect();
        Self {
            taken,
            next: BTreeMap::new(),
        }
    }

    /// Creates a set for the types of the generated module.
    pub(super) fn of_types() -> Self {
        Self::without(&RESERVED_TYPES)
    }

    /// Adds a unique name for a member or a variable.
    pub(super) fn snake(&mut self, name: &str) -> String {
        self.take(&[snake(name), valid_words(name, true).join("_")], "_")
    }

    /// Adds a unique name for a variant.
    pub(super) fn variant(&mut self, name: &str) -> String {
        // `Self` is not a valid name.
        let legal = |name: String| {
            if name == "Self" {
                "ItSelf".to_owned()
            } else {
                name
            }
        };
        let spelled = join_pascal(&valid_words(name, true));
        self.take(&[legal(pascal(name)), legal(spelled)], "")
    }

    /// Adds the first of these names that is free, or else the first one with a number appended.
    pub(super) fn take<const N: usize>(
        &mut self,
        wanted: &[String; N],
        before_number: &str,
    ) -> String {
        if let Some(free) = wanted.iter().find(|name| !self.taken.contains(*name)) {
            self.taken.insert(free.clone());
            return free.clone();
        }
        let first = wanted.first().map_or("", String::as_str);
        let next = self.next.entry(format!("{first}{before_number}"));
        let next = next.or_insert(2);
        loop {
            let name = format!("{first}{before_number}{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}
