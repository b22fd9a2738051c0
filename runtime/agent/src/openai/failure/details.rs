//! Details of an error from an endpoint.

use serde_json::Value;

/// Error details from an endpoint.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ErrorDetails {
    pub(super) message: String,
    code: Option<String>,
    /// `type` member, which may be more or less specific than the code.
    kind: Option<String>,
}

impl ErrorDetails {
    /// Returns the codes that identify the error.
    pub(super) fn codes(&self) -> impl Iterator<Item = &str> {
        self.code.as_deref().into_iter().chain(self.kind.as_deref())
    }

    pub(super) fn read(body: &[u8]) -> Self {
        let Ok(Value::Object(mut body)) = serde_json::from_slice(body) else {
            let text = String::from_utf8_lossy(body);
            let text = text.trim();
            // HTML pages are for browsers.
            let message = if text.starts_with('<') { "" } else { text };
            return Self {
                message: message.to_owned(),
                ..Self::default()
            };
        };
        match body.remove("error") {
            Some(error) if !error.is_null() => Self::from_value(error),
            _ => Self::from_value(Value::Object(body)),
        }
    }

    /// Endpoints use different members for the message.
    pub(super) fn from_value(error: Value) -> Self {
        let member = |name: &str| match error.get(name) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let message = member("message").or_else(|| member("detail"));
        Self {
            code: member("code"),
            kind: member("type"),
            message: message.unwrap_or_else(|| match error {
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorDetails;

    #[test]
    fn error_bodies_of_many_formats_are_parsed() {
        let cases: [(&str, &str, &[&str]); 11] = [
            (
                r#"{"error": {"message": "no", "type": "t", "code": "c"}}"#,
                "no",
                &["c", "t"],
            ),
            (
                r#"{"error": {"message": "no", "type": "t", "code": null}}"#,
                "no",
                &["t"],
            ),
            (
                r#"{"error": {"message": "no", "code": 502}}"#,
                "no",
                &["502"],
            ),
            (r#"{"error": "no"}"#, "no", &[]),
            (r#"{"message": "no", "error": null}"#, "no", &[]),
            (r#"{"detail": "no"}"#, "no", &[]),
            (r#"{"detail": [1]}"#, r#"{"detail":[1]}"#, &[]),
            (" no\n", "no", &[]),
            ("[1]", "[1]", &[]),
            ("<html>no</html>", "", &[]),
            ("", "", &[]),
        ];
        for (body, message, expected_codes) in cases {
            let details = ErrorDetails::read(body.as_bytes());
            let codes: Vec<_> = details.codes().collect();
            assert_eq!(
                (&*details.message, &*codes),
                (message, expected_codes),
                "{body}"
            );
        }
    }
}
