//! One argument as it is typed.

use std::str::FromStr;

use serde_json::Value;

/// One argument as it is typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    /// `-`: all arguments are an object on standard input.
    Stdin,
    /// `key=value`.
    Text(String, String),
    /// `key:=JSON`.
    Json(String, Value),
}

impl Given {
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Stdin => None,
            Self::Text(name, _) | Self::Json(name, _) => Some(name),
        }
    }
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        let (name, value) = text.split_once('=').ok_or_else(|| {
            "expected `key=value`, `key:=JSON` or `-`; a server to start stands behind `--`"
                .to_owned()
        })?;
        let (name, is_json) = match name.strip_suffix(':') {
            Some(name) => (name, true),
            None => (name, false),
        };
        if name.is_empty() {
            return Err("there is no name before `=`".to_owned());
        }
        if !is_json {
            return Ok(Self::Text(name.to_owned(), value.to_owned()));
        }
        let value = serde_json::from_str(value)
            .map_err(|error| format!("`{name}:=` wants JSON: {error}"))?;
        Ok(Self::Json(name.to_owned(), value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_told_apart() {
        let text = |name: &str, value: &str| Given::Text(name.to_owned(), value.to_owned());
        let cases = [
            ("-", Given::Stdin),
            ("a=1", text("a", "1")),
            ("a==", text("a", "=")),
            ("a=", text("a", "")),
            ("a.b=x:=y", text("a.b", "x:=y")),
            (
                "a:={\"b\": [1]}",
                Given::Json("a".to_owned(), json!({"b": [1]})),
            ),
        ];
        for (typed, expected) in cases {
            assert_eq!(typed.parse::<Given>().unwrap(), expected, "{typed}");
        }
        for wrong in ["a", "=1", ":=1", "a:={"] {
            assert!(wrong.parse::<Given>().is_err(), "{wrong}");
        }
    }
}
