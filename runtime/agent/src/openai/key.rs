//! API key of an endpoint, which is never disclosed.

use std::{env, fmt};

use http::HeaderValue;

use crate::ModelError;

/// Minimum length of a secret to be redacted: a shorter one occurs in any text by chance.
pub(super) const MIN_SECRET_LEN: usize = 4;

/// API key of an endpoint. It is never disclosed; its `Debug` is `ApiKey(…)`. Texts of the endpoint in errors do not contain it,
/// unless it has less than four characters, as the placeholder for an endpoint without keys.
///
/// ```
/// use treenail::agent::ApiKey;
///
/// assert_eq!(format!("{:?}", ApiKey::new("sk-secret")), "ApiKey(…)");
/// ```
#[derive(Clone)]
#[cfg(feature = "openai")]
pub struct ApiKey(Box<str>);

impl ApiKey {
    /// Creates a key from text. Surrounding white space is ignored.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().into())
    }

    /// Reads a key from an environment variable.
    ///
    /// # Errors
    ///
    /// [`ModelError::Misconfigured`] if the variable is unset, empty, or not Unicode.
    pub fn from_env(variable: &str) -> Result<Self, ModelError> {
        match env_var(variable)? {
            Some(key) => Ok(Self::new(key)),
            None => Err(ModelError::misconfigured(format!(
                "the environment variable `{variable}` contains no key"
            ))),
        }
    }

    /// Value of the `Authorization` header.
    pub(super) fn authorization(&self) -> Result<HeaderValue, ModelError> {
        let value = HeaderValue::try_from(format!("Bearer {}", self.0));
        let mut value = value.map_err(|_| {
            ModelError::misconfigured("the key contains characters that are invalid in a header")
        })?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Redacts the key in a text, unless it is shorter than [`MIN_SECRET_LEN`].
    pub(super) fn redact(&self, text: &str) -> String {
        if self.0.len() < MIN_SECRET_LEN {
            return text.to_owned();
        }
        text.replace(&*self.0, "[key]")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(…)")
    }
}

impl From<&str> for ApiKey {
    fn from(key: &str) -> Self {
        Self::new(key)
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self::new(key)
    }
}

/// Reads an environment variable; `None` if it is unset or empty. Errors do not disclose its value.
pub(super) fn env_var(variable: &str) -> Result<Option<String>, ModelError> {
    match env::var(variable) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(ModelError::misconfigured(format!(
            "the environment variable `{variable}` is not Unicode"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_redacted_unless_it_occurs_in_any_text() {
        let text = "HTTP 401: the key sk-1 is wrong";
        for (key, expected) in [
            ("sk-1", "HTTP 401: the key [key] is wrong"),
            ("1", text),
            ("", text),
        ] {
            assert_eq!(ApiKey::new(key).redact(text), expected, "{key}");
        }
    }
}
