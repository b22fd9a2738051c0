//! Redaction of secrets that this program has passed to a server.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::env;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::unescape::Unescaped;
use crate::args::ServerArgs;

/// Replacement of a secret.
const REDACTED: &str = "[redacted]";

/// Minimum length of a secret, in bytes. A shorter one is too common to be found in other text.
const MIN_SECRET_BYTES: usize = 6;

/// Maximum number of tokens. Those of a long session are renewed many times, and the oldest have expired.
const MAX_TOKENS: usize = 64;

/// Parts of names of variables and headers whose values are secrets.
const SECRET_NAMES: [&str; 9] = [
    "auth",
    "cookie",
    "credential",
    "key",
    "pass",
    "private",
    "pwd",
    "secret",
    "token",
];

/// Variables of a shell or a desktop that are no secrets, although a part of the name is one of [`SECRET_NAMES`]. Their values are
/// directories, files and persons, which occur in many messages.
const PUBLIC_NAMES: [&str; 4] = ["PWD", "OLDPWD", "XAUTHORITY", "SSH_AUTH_SOCK"];

/// Set of secrets to remove from messages, in case that a server repeats them.
#[derive(Default)]
pub(crate) struct Redactor {
    /// Secrets of the command line and of the environment.
    passed: Vec<String>,
    /// Latest tokens, oldest first.
    tokens: Mutex<VecDeque<String>>,
}

impl Redactor {
    /// Returns a redactor of the secrets on a command line, and in the environment if the server inherits it.
    pub(super) fn of_args(args: &ServerArgs) -> Self {
        let mut redactor = Self::default();
        for header in &args.headers.plain {
            if let Some((_, value)) = header.split_once(':').filter(|it| is_secret_name(it.0)) {
                redactor.pass(secrets_of_header(value));
            }
        }
        for header in &args.headers.from_env {
            let value = header.split_once('=').and_then(|it| env::var(it.1).ok());
            redactor.pass(secrets_of_header(&value.unwrap_or_default()));
        }
        for variable in &args.environment.set {
            let (name, value) = match variable.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => (variable.as_str(), env::var(variable).unwrap_or_default()),
            };
            if is_secret_name(name) {
                redactor.pass([&*value]);
            }
        }
        if args.environment.inherit {
            redactor.pass_environment(&args.environment.secrets);
        }
        redactor
    }

    /// Returns a redactor of the secrets in the environment, for a server that inherits it.
    pub(super) fn of_environment() -> Self {
        let mut redactor = Self::default();
        redactor.pass_environment(&[]);
        redactor
    }

    /// Adds the secrets of the environment, except for variables that are not passed to the server, and for those of
    /// [`PUBLIC_NAMES`].
    fn pass_environment(&mut self, removed: &[String]) {
        for (name, value) in env::vars_os() {
            // JSON has no text that is not Unicode.
            let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
                continue;
            };
            let is_passed = !removed.iter().any(|it| it == name);
            if is_passed && is_secret_variable(name) {
                self.pass([value]);
            }
        }
    }

    fn pass<'a>(&mut self, secrets: impl IntoIterator<Item = &'a str>) {
        let secrets = secrets.into_iter().filter(|it| is_long(it));
        self.passed.extend(secrets.map(str::to_owned));
    }

    /// Adds the token in the value of a header.
    pub(crate) fn add_credentials(&self, value: &str) {
        let mut tokens = self.tokens();
        for secret in secrets_of_header(value) {
            if !is_long(secret) || tokens.iter().any(|token| token == secret) {
                continue;
            }
            if tokens.len() == MAX_TOKENS {
                tokens.pop_front();
            }
            tokens.push_back(secret.to_owned());
        }
    }

    /// Returns a text without the secrets: JSON, in which they may be escaped in any way, or plain text.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut redacted, mut end) = (String::with_capacity(text.len()), 0);
        for place in found {
            if place.start >= end {
                redacted.push_str(&text[end..place.start]);
                redacted.push_str(REDACTED);
            }
            end = end.max(place.end);
        }
        redacted.push_str(&text[end..]);
        redacted.into()
    }

    /// Returns the places of all secrets in order. They may overlap.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let tokens = self.tokens();
        let mut found = Vec::new();
        if self.passed.is_empty() && tokens.is_empty() {
            return found;
        }
        for level in Unescaped::levels(text) {
            for secret in self.passed.iter().chain(&*tokens) {
                let places = level.text().match_indices(secret.as_str());
                found.extend(places.map(|(start, _)| level.source(start..start + secret.len())));
            }
        }
        found.sort_unstable_by_key(|place| place.start);
        found
    }

    fn tokens(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// Returns the secrets in the value of a header: one after a scheme, or the value and each of its cookies.
fn secrets_of_header(value: &str) -> Vec<&str> {
    let value = value.trim();
    let scheme = value.split_once(' ').filter(|(word, _)| is_scheme(word));
    if let Some((_, secret)) = scheme {
        return vec![secret.trim()];
    }
    // A server may repeat one cookie only.
    let pairs = value.split(';').filter_map(|pair| pair.split_once('='));
    let cookies = pairs.map(|(_, cookie)| cookie.trim().trim_matches('"'));
    std::iter::once(value).chain(cookies).collect()
}

fn is_long(secret: &str) -> bool {
    secret.len() >= MIN_SECRET_BYTES
}

/// Returns whether the first word of the value of a header is an authentication scheme, and not a cookie.
fn is_scheme(word: &str) -> bool {
    !word.contains(['=', ';'])
}

/// Returns whether a variable of the environment is a secret, which the user has not named.
fn is_secret_variable(name: &str) -> bool {
    is_secret_name(name) && !PUBLIC_NAMES.contains(&name) && !name.starts_with("GIT_AUTHOR_")
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_removed_in_their_json_form() {
        let redactor = Redactor::default();
        redactor.add_credentials("Bearer abc\"defgh");
        redactor.add_credentials(" lonely-value ");
        redactor.add_credentials("short");
        let text = r#"{"a":"Bearer abc\"defgh","b":["lonely-value","short"]}"#;
        let expected = r#"{"a":"Bearer [redacted]","b":["[redacted]","short"]}"#;
        assert_eq!(redactor.redact(text), expected);
        assert!(!format!("{redactor:?}").contains("lonely"));
    }

    #[test]
    fn secrets_are_removed_however_they_are_escaped() {
        let redactor = Redactor::default();
        redactor.add_credentials("abcdef/ghij&klm");
        redactor.add_credentials("back\\slash");
        redactor.add_credentials("snow☃and🦀crab");
        let cases = [
            (r#"{"a":"abcdef\/ghij\u0026klm"}"#, r#"{"a":"[redacted]"}"#),
            (
                r#"["\u0061bcdef\u002Fghij\u0026kl\u006d"]"#,
                r#"["[redacted]"]"#,
            ),
            (
                r#"["snow\u2603and\uD83e\udd80crab\n"]"#,
                r#"["[redacted]\n"]"#,
            ),
            (
                r#"["back\\slash","back\u005Cslash"]"#,
                r#"["[redacted]","[redacted]"]"#,
            ),
            // Text of a tool that is JSON itself.
            (
                r#"["{\"a\":\"abcdef\\\/ghij\\u0026klm\"}"]"#,
                r#"["{\"a\":\"[redacted]\"}"]"#,
            ),
            // Description of an error, which is no JSON.
            (r"no file back\slash", "no file [redacted]"),
        ];
        for (text, expected) in cases {
            assert_eq!(redactor.redact(text), expected);
        }
    }

    #[test]
    fn overlapping_secrets_are_removed() {
        let redactor = Redactor::default();
        for secret in ["abcdefgh", "efghijkl", "fghijk"] {
            redactor.add_credentials(secret);
        }
        assert_eq!(redactor.redact("<abcdefghijkl>"), "<[redacted]>");
        assert_eq!(redactor.redact("abcdefghfghijk"), "[redacted][redacted]");
    }

    #[test]
    fn tokens_are_bounded_and_secrets_of_the_command_line_remain() {
        let mut redactor = Redactor::default();
        redactor.pass(["of the command line"]);
        for number in 0..=MAX_TOKENS {
            redactor.add_credentials(&format!("Bearer token-{number:04}"));
        }
        let text = "of the command line token-0000 token-0001";
        let expected = "[redacted] token-0000 [redacted]";
        assert_eq!(redactor.redact(text), expected);
    }

    #[test]
    fn each_cookie_is_removed() {
        let redactor = Redactor::default();
        redactor.add_credentials("session=abcdefgh; theme=\"darkmode\"; a=b");
        let text = "x session=abcdefgh y darkmode z session=abcdefgh; theme";
        let expected = "x session=[redacted] y [redacted] z session=[redacted]; theme";
        assert_eq!(redactor.redact(text), expected);
    }

    #[test]
    fn names_reveal_secrets() {
        for name in ["API_KEY", "GITHUB_TOKEN", "X-Auth", "dbPassword"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["LOG_LEVEL", "HOME", "X-Team"] {
            assert!(!is_secret_name(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "XAUTHORITY", "GIT_AUTHOR_NAME", "HOME"] {
            assert!(!is_secret_variable(name), "{name}");
        }
        assert!(is_secret_variable("DB_PWD") && is_secret_variable("API_KEY"));
    }
}
