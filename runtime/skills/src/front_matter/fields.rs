//! Rules for the fields of a front matter.

use serde_json::{Map, Value};

use super::Problem;

const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;

/// Prefix of keys of `metadata` that belong to the protocol.
const RESERVED: &str = "io.modelcontextprotocol/";

/// Checks the fields, and returns the name and the description. `folder` is the name of the folder of the skill.
pub(crate) fn check<'a>(
    fields: &'a Map<String, Value>,
    folder: &str,
) -> Result<(&'a str, &'a str), Problem> {
    let name = required(fields, "name", MAX_NAME)?;
    if !is_name(name) {
        return Err(Problem::new(format!(
            "the name `{name}` is not valid: expected 1 to {MAX_NAME} of `a-z`, `0-9` and single hyphens between them"
        )));
    }
    if name != folder {
        return Err(Problem::new(format!(
            "the name `{name}` is not that of the folder, `{folder}`; rename one of them"
        )));
    }
    let description = required(fields, "description", MAX_DESCRIPTION)?;
    optional(fields, "license", usize::MAX)?;
    optional(fields, "compatibility", MAX_COMPATIBILITY)?;
    check_metadata(fields)?;
    Ok((name, description))
}

/// Returns true for 1 to 64 letters, digits and hyphens, with no hyphen at an end or beside another one.
pub(crate) fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let mut bytes = part.bytes();
        !part.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= MAX_NAME && name.split('-').all(is_part)
}

fn required<'a>(
    fields: &'a Map<String, Value>,
    field: &str,
    most: usize,
) -> Result<&'a str, Problem> {
    optional(fields, field, most)?.ok_or_else(|| {
        Problem::new(format!(
            "the front matter has no `{field}`; add a line `{field}: …`"
        ))
    })
}

fn optional<'a>(
    fields: &'a Map<String, Value>,
    field: &str,
    most: usize,
) -> Result<Option<&'a str>, Problem> {
    let Some(value) = fields.get(field) else {
        return Ok(None);
    };
    let Some(text) = value.as_str() else {
        return Err(not_text(field, value));
    };
    match text.chars().count() {
        0 => Err(Problem::new(format!("`{field}` is empty"))),
        length if length > most => Err(Problem::new(format!(
            "`{field}` has {length} characters, more than {most}"
        ))),
        _ if text.trim().is_empty() => Err(Problem::new(format!("`{field}` is blank"))),
        _ => Ok(Some(text)),
    }
}

fn check_metadata(fields: &Map<String, Value>) -> Result<(), Problem> {
    let Some(metadata) = fields.get("metadata") else {
        return Ok(());
    };
    let Some(metadata) = metadata.as_object() else {
        return Err(Problem::new(
            "`metadata` is not a mapping of texts to texts",
        ));
    };
    for (key, value) in metadata {
        if key.starts_with(RESERVED) {
            return Err(Problem::new(format!(
                "the key `{key}` of `metadata` is reserved for the protocol; use a prefix of your own"
            )));
        }
        if !value.is_string() {
            return Err(not_text(&format!("metadata.{key}"), value));
        }
    }
    Ok(())
}

fn not_text(field: &str, value: &Value) -> Problem {
    Problem::new(match value {
        Value::Object(_) | Value::Array(_) => format!("`{field}` is not a text"),
        value => format!("`{field}` is not a text; write it in quotes: `\"{value}\"`"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_have_single_hyphens_inside() {
        let long = "a".repeat(64);
        for name in ["a", "plan-trip", "2-b", "7", &*long] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(65);
        for name in [
            "", "-a", "a-", "a--b", "A", "a_b", "a.b", "é", "a b", &*long,
        ] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn fields_are_checked() {
        let check = |fields: Value| {
            let fields = fields.as_object().cloned().unwrap_or_default();
            let checked = check(&fields, "a").map(drop);
            checked.map_err(|problem| problem.to_string())
        };
        let with = |key: &str, value: Value| {
            let mut fields = json!({"name": "a", "description": "b"});
            fields[key] = value;
            fields
        };
        assert_eq!(check(with("x", json!([1]))), Ok(()));
        assert_eq!(check(with("description", json!("é".repeat(1024)))), Ok(()));
        assert_eq!(check(with("compatibility", json!("x".repeat(500)))), Ok(()));
        assert_eq!(check(with("metadata", json!({"version": "1.0"}))), Ok(()));
        assert_eq!(check(with("allowed-tools", json!("Bash Read"))), Ok(()));
        for (fields, expected) in [
            (
                json!({}),
                "the front matter has no `name`; add a line `name: …`",
            ),
            (with("name", json!("B")), "the name `B` is not valid"),
            (
                with("name", json!("b")),
                "the name `b` is not that of the folder, `a`",
            ),
            (
                json!({"name": "a"}),
                "the front matter has no `description`",
            ),
            (with("description", json!("")), "`description` is empty"),
            (with("description", json!(" ")), "`description` is blank"),
            (
                with("description", json!("é".repeat(1025))),
                "has 1025 characters, more than 1024",
            ),
            (
                with("description", json!(1)),
                "`description` is not a text; write it in quotes: `\"1\"`",
            ),
            (with("license", json!(null)), "`license` is not a text"),
            (
                with("compatibility", json!("x".repeat(501))),
                "more than 500",
            ),
            (with("metadata", json!("x")), "`metadata` is not a mapping"),
            (
                with("metadata", json!({"version": 1.5})),
                "`metadata.version` is not a text; write it in quotes: `\"1.5\"`",
            ),
            (
                with("metadata", json!({"io.modelcontextprotocol/x": "1"})),
                "is reserved",
            ),
        ] {
            let problem = check(fields).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
