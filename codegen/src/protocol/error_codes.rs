//! Error codes.

use std::collections::BTreeMap;

use crate::protocol::load::Revision;
use crate::protocol::overlay::Overlay;

/// Collects the codes of the error definitions, and those that only the text of the specification contains.
pub(crate) fn collect(revisions: &[Revision], overlay: &Overlay) -> Vec<(String, i64)> {
    let mut codes: BTreeMap<String, i64> = BTreeMap::new();
    for (name, schema) in revisions.iter().flat_map(|revision| &revision.definitions) {
        let properties = &schema["properties"];
        let code = [
            &properties["code"],
            &properties["error"]["properties"]["code"],
        ];
        let code = code.iter().find_map(|code| code.get("const")?.as_i64());
        if let (Some(stem), Some(code)) = (name.strip_suffix("Error"), code) {
            codes.insert(constant_name(stem), code);
        }
    }
    let more = overlay
        .error_codes()
        .map(|(name, code)| (name.to_owned(), code));
    let mut codes: Vec<_> = codes.into_iter().chain(more).collect();
    codes.sort_by_key(|(_, code)| std::cmp::Reverse(*code));
    codes
}

/// `PARSE_ERROR` for `Parse`, but `METHOD_NOT_FOUND`: a single word needs the suffix to be clear.
fn constant_name(stem: &str) -> String {
    let name = screaming(stem);
    if name.contains('_') {
        name
    } else {
        format!("{name}_ERROR")
    }
}

/// `URL_ELICITATION_REQUIRED` for `URLElicitationRequired`.
fn screaming(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (nth, letter) in letters.iter().enumerate() {
        let after_small = nth > 0 && letters[nth - 1].is_lowercase();
        let before_small = letters.get(nth + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && nth > 0 && (after_small || before_small) {
            out.push('_');
        }
        out.extend(letter.to_uppercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_errors_become_names_of_constants() {
        assert_eq!(constant_name("Parse"), "PARSE_ERROR");
        assert_eq!(constant_name("MethodNotFound"), "METHOD_NOT_FOUND");
        assert_eq!(
            constant_name("URLElicitationRequired"),
            "URL_ELICITATION_REQUIRED"
        );
    }
}
