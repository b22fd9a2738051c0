//! Redaction of secrets that this program has passed to a server.

use std::borrow::Cow;
use std::env;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::args::ServerArgs;

/// Replacement of a secret.
const REDACTED: &str = "[redacted]";

/// Minimum length of a secret, in bytes. A shorter one is too common to be found in other text.
const MIN_SECRET_BYTES: usize = 6;

/// Maximum number of secrets. Tokens of a long session are renewed many times, and the oldest have expired.
const MAX_SECRETS: usize = 64;

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

/// Set of secrets to remove from messages, in case that a server repeats them.
#[derive(Default)]
pub(crate) struct Redactor(Mutex<Vec<String>>);

impl Redactor {
    /// Returns a redactor of the secrets on a command line.
    pub(super) fn of_args(args: &ServerArgs) -> Self {
        let redactor = Self::default();
        for header in &args.headers.plain {
            if let Some((_, value)) = header.split_once(':').filter(|it| is_secret_name(it.0)) {
                redactor.add_credentials(value);
            }
        }
        for header in &args.headers.from_env {
            let value = header.split_once('=').and_then(|it| env::var(it.1).ok());
            redactor.add_credentials(&value.unwrap_or_default());
        }
        for variable in &args.environment.set {
            let (name, value) = match variable.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => (variable.as_str(), env::var(variable).unwrap_or_default()),
            };
            if is_secret_name(name) {
                redactor.add_secret(&value);
            }
        }
        redactor
    }

    /// Adds the value of a header: a secret, a scheme and a secret, or cookies.
    pub(crate) fn add_credentials(&self, value: &str) {
        let value = value.trim();
        let scheme = value.split_once(' ').filter(|(word, _)| is_scheme(word));
        if let Some((_, secret)) = scheme {
            return self.add_secret(secret.trim());
        }
        self.add_secret(value);
        // A server may repeat one cookie only.
        let pairs = value.split(';').filter_map(|pair| pair.split_once('='));
        for (_, cookie) in pairs {
            self.add_secret(cookie.trim().trim_matches('"'));
        }
    }

    /// Adds a secret.
    pub(crate) fn add_secret(&self, secret: &str) {
        if secret.len() < MIN_SECRET_BYTES {
            return;
        }
        let json = Value::from(secret).to_string();
        let json = json.trim_matches('"').to_owned();
        let mut secrets = self.secrets();
        if secrets.contains(&json) {
            return;
        }
        if secrets.len() == MAX_SECRETS {
            secrets.remove(0);
        }
        secrets.push(json);
    }

    /// Returns the text of a JSON value without the secrets.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &*self.secrets() {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REDACTED).into();
            }
        }
        text
    }

    fn secrets(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// Returns whether the first word of the value of a header is an authentication scheme, and not a cookie.
fn is_scheme(word: &str) -> bool {
    !word.contains(['=', ';'])
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
        redactor.add_secret("short");
        let text = r#"{"a":"Bearer abc\"defgh","b":["lonely-value","short"]}"#;
        let expected = r#"{"a":"Bearer [redacted]","b":["[redacted]","short"]}"#;
        assert_eq!(redactor.redact(text), expected);
        assert!(!format!("{redactor:?}").contains("lonely"));
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
    }
}
