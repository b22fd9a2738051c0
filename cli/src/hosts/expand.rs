//! References to environment variables in configuration files.

use std::env;

/// Replaces `${NAME}`, `${NAME:-default}` and `${env:NAME}`. Values are not expanded again.
pub(super) fn expand(text: &str) -> Result<String, String> {
    expand_with(text, |name| env::var(name).ok())
}

fn expand_with(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut output = String::new();
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once("${") {
        output.push_str(before);
        let Some((reference, after)) = reference.split_once('}') else {
            return Err("`${` without `}`".to_owned());
        };
        rest = after;
        let reference = reference.strip_prefix("env:").unwrap_or(reference);
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (reference, None),
        };
        let is_name = |name: &str| {
            let valid = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !name.is_empty() && name.chars().all(valid)
        };
        if !is_name(name) {
            return Err(format!(
                "`${{{reference}}}` is a variable of a host; use an environment variable instead"
            ));
        }
        let found = value(name).or(default);
        let found = found.ok_or_else(|| format!("the environment variable `{name}` is not set"))?;
        output.push_str(&found);
    }
    output.push_str(rest);
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_variables_are_replaced_once() {
        let value = |name: &str| (name == "A").then(|| "${B}".to_owned());
        let expand = |text| expand_with(text, value);
        assert_eq!(
            expand("Bearer ${A}, ${env:A} ${C:-c} $A").unwrap(),
            "Bearer ${B}, ${B} c $A"
        );
        assert_eq!(
            expand("${C}").unwrap_err(),
            "the environment variable `C` is not set"
        );
        assert!(
            expand("${input:token}")
                .unwrap_err()
                .contains("variable of a host")
        );
        assert!(expand("${workspaceFolder").is_err());
    }
}
