//! Words of a name, in ASCII.

/// Maximum number of characters of a name, without the suffix that makes it unique.
pub(super) const MAX_LENGTH: usize = 60;

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

/// Splits a name into at least one word; the first one starts with a letter.
pub(super) fn valid_words(name: &str, spell_symbols: bool) -> Vec<String> {
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

/// The case of the letters of a name, as a word.
pub(super) fn letter_case(name: &str) -> &'static str {
    let mut letters = name.chars().filter(|c| c.is_alphabetic());
    let has = |is: fn(char) -> bool| name.chars().any(is);
    match (has(char::is_uppercase), has(char::is_lowercase)) {
        (false, _) => "lower",
        (true, false) => "upper",
        (true, true) if letters.next().is_some_and(char::is_uppercase) => "pascal",
        (true, true) => "camel",
    }
}

/// A word that depends on all characters of a name, and hardly occurs in other names: its FNV-1a hash.
pub(in crate::client) fn code(name: &str) -> String {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("x{hash:08x}")
}

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
