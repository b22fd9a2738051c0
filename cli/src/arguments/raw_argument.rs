//! One argument as given on the command line, before conversion.

use std::str::FromStr;

use serde_json::Value;

/// One argument as given on the command line, before conversion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RawArgument {
    /// `-`: all arguments are one JSON object on standard input.
    Stdin,
    /// `key=value`.
    Text(String, String),
    /// `key:=JSON`.
    Json(String, Value),
}

impl RawArgument {
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Stdin => None,
            Self::Text(name, _) | Self::Json(name, _) => Some(name),
        }
    }
}

impl FromStr for RawArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        if text.starts_with('{') {
            return Err("a JSON object with all arguments is the value of `--args`".to_owned());
        }
        let (name, value) = text.split_once('=').ok_or_else(|| {
            "expected `key=value`, `key:=JSON` or `-`; put the server command after `--`".to_owned()
        })?;
        let (name, is_json) = match name.strip_suffix(':') {
            Some(name) => (name, true),
            None => (name, false),
        };
        if name.is_empty() {
            return Err("missing name before `=`".to_owned());
        }
        if !is_json {
            return Ok(Self::Text(name.to_owned(), value.to_owned()));
        }
        let value = serde_json::from_str(value)
            .map_err(|error| format!("invalid JSON after `{name}:=`: {error}"))?;
        Ok(Self::Json(name.to_owned(), value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_of_arguments_are_recognized() {
        let text = |name: &str, value: &str| RawArgument::Text(name.to_owned(), value.to_owned());
        let cases = [
            ("-", RawArgument::Stdin),
            ("a=1", text("a", "1")),
            ("a==", text("a", "=")),
            ("a=", text("a", "")),
            ("a.b=x:=y", text("a.b", "x:=y")),
            (
                "a:={\"b\": [1]}",
                RawArgument::Json("a".to_owned(), json!({"b": [1]})),
            ),
        ];
        for (word, expected) in cases {
            assert_eq!(word.parse::<RawArgument>().unwrap(), expected, "{word}");
        }
        for wrong in ["a", "=1", ":=1", "a:={", "{\"a\": \"b=c\"}"] {
            assert!(wrong.parse::<RawArgument>().is_err(), "{wrong}");
        }
    }
}
