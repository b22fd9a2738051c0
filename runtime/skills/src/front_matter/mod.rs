//! Front matter of a `SKILL.md`: YAML between two lines `---`, as a JSON object.

mod fields;
mod scalar;
mod yaml;

use std::fmt;

use serde_json::{Map, Value};

pub(crate) use self::fields::check;

/// Maximum size of the front matter in bytes.
pub(crate) const MAX_BYTES: usize = 32 * 1024;

/// Error in a front matter, with its line in the file if it has one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    line: Option<usize>,
    message: String,
}

impl Problem {
    fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            line: None,
            message,
        }
    }

    /// Creates an error at a line of the YAML text, which starts in the second line of the file.
    fn at(line: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            line: Some(line + 1),
            message,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "line {line}: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

/// Parses the front matter of a file, and returns it with the text after it.
pub(crate) fn read(bytes: &[u8]) -> Result<(Map<String, Value>, &str), Problem> {
    let text = std::str::from_utf8(bytes).map_err(|_| Problem::new("it is not UTF-8"))?;
    let (yaml, body) = split(text)?;
    Ok((yaml::parse(yaml)?, body))
}

/// Splits a file into the YAML of its front matter and the text after it.
fn split(text: &str) -> Result<(&str, &str), Problem> {
    let no_start = || {
        Problem::new(
            "it does not start with front matter: a line `---`, YAML with `name` and `description`, and another line `---`",
        )
    };
    let (first, rest) = text.split_once('\n').ok_or_else(no_start)?;
    if first.trim_end() != "---" {
        return Err(no_start());
    }
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&rest[..end], &rest[end + line.len()..]));
        }
        end += line.len();
        if end > MAX_BYTES {
            let message = format!("the front matter has more than {MAX_BYTES} bytes");
            return Err(Problem::new(message));
        }
    }
    Err(Problem::new(
        "the front matter has no end; add a line `---`",
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn front_matter_is_between_two_lines_of_hyphens() {
        fn read(text: &str) -> Result<(Map<String, Value>, &str), String> {
            super::read(text.as_bytes()).map_err(|error| error.to_string())
        }
        for (text, body) in [
            ("---\na: 1\n---\nText\n---\n", "Text\n---\n"),
            ("---\r\na: 1\r\n---\r\nText", "Text"),
            ("--- \na: 1\n---\t\n", ""),
            ("---\na: 1\n---", ""),
        ] {
            assert_eq!(read(text), Ok((object(&json!({"a": 1})), body)), "{text:?}");
        }
        for (text, expected) in [
            ("", "does not start with"),
            ("# Title\n", "does not start with"),
            ("\u{feff}---\na: 1\n---\n", "does not start with"),
            ("---\na: 1\n", "has no end"),
            ("---\n---\n", "is not a mapping"),
            ("---\na: [\n---\n", "line "),
            (
                "---\nb: 1\na: 1\na: 2\n---\n",
                "line 4: the key `a` is repeated",
            ),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.contains(expected), "{text:?}: {problem}");
        }
        let long = format!("---\n{}---\n", "# comment\n".repeat(MAX_BYTES / 10 + 1));
        assert!(read(&long).unwrap_err().contains("more than 32768 bytes"));
        assert_eq!(
            super::read(b"---\na: \xff\n---\n").unwrap_err().to_string(),
            "it is not UTF-8"
        );
    }

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }
}
