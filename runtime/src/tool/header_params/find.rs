//! Search for the arguments that are repeated in headers.

use super::HeaderParam;
use crate::wire::Members;

/// Reason why readers may not agree on the value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguity {
    /// A member of its path occurs twice.
    Repeated,
    /// A value that contains it is neither an object nor `null`. The deserializer of a struct also accepts an array of its fields.
    NotInObject,
}

/// JSON of an argument, or `None` if it is missing or `null`.
pub type FoundArgument<'a> = Result<Option<&'a str>, Ambiguity>;

/// Finds the arguments that are repeated in headers, in the order of `params`, in the JSON of an object. `params` are those of one
/// schema, in the order of `header_params`. Each object that contains such arguments is scanned once.
pub fn find_arguments<'a>(text: &'a str, params: &[HeaderParam]) -> Vec<FoundArgument<'a>> {
    let mut found = vec![Ok(None); params.len()];
    if !params.is_empty() {
        find_members(text, 0, params, &mut found);
    }
    let is_null = |argument: &FoundArgument<'_>| *argument == Ok(Some("null"));
    for null in found.iter_mut().filter(|argument| is_null(argument)) {
        *null = Ok(None);
    }
    found
}

/// Finds the arguments of `params` in an object at `depth`. Their paths are longer than that and lead through the object.
fn find_members<'a>(
    text: &'a str,
    depth: usize,
    params: &[HeaderParam],
    mut found: &mut [FoundArgument<'a>],
) {
    let Ok(mut members) = Members::new(text) else {
        return;
    };
    while let Ok(Some((name, value))) = members.next() {
        for (param, found) in params.iter().zip(&mut *found) {
            if name == param.path[depth].as_str() {
                *found = match found {
                    Ok(None) => Ok(Some(value)),
                    _ => Err(Ambiguity::Repeated),
                };
            }
        }
    }
    // The arguments within one member follow each other, after the member itself.
    for mut params in params.chunk_by(|one, other| one.path[depth] == other.path[depth]) {
        let (mut inner, rest) = std::mem::take(&mut found).split_at_mut(params.len());
        found = rest;
        if params[0].path.len() == depth + 1 {
            (params, inner) = (&params[1..], &mut inner[1..]);
        }
        if let Some(Ok(Some(value))) = inner.first().copied() {
            let has_members = value.starts_with('{') || value == "null";
            inner.fill(if has_members {
                Ok(None)
            } else {
                Err(Ambiguity::NotInObject)
            });
            find_members(value, depth + 1, params, inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_occurs_twice_has_no_value() {
        let params = [param("user/tier")];
        let cases = [
            (r#"{"user": {"tier": 1}, "tier": 2}"#, Some(Some("1"))),
            (r#"{"user": {"tier": null}}"#, Some(None)),
            (r#"{"user": {}, "x": 1, "x": 2}"#, Some(None)),
            (r#"{"user": {"tier": 1, "tier": 1}}"#, None),
            (r#"{"user": {"tier": 1}, "user": {}}"#, None),
            (r#"{"user": ["gold"]}"#, None),
            (r#"{"user": "gold"}"#, None),
            (r#"{"user": null}"#, Some(None)),
            ("[]", Some(None)),
        ];
        for (text, expected) in cases {
            let found = find_arguments(text, &params);
            assert_eq!(found[0].ok(), expected, "SRV-HDR-10: {text}");
        }
    }

    #[test]
    fn all_arguments_are_found_together() {
        // `b` has a header although it is an object, as the schema of a hostile server may say.
        let params = ["a", "b", "b/c", "b/d/e", "b/f", "g/h", "i"].map(param);
        let text =
            r#"{"i": 7, "b": {"f": 5, "d": {"e": 4}, "c": 3, "c": 3, "b": 0}, "a": null, "g": []}"#;
        let object = r#"{"f": 5, "d": {"e": 4}, "c": 3, "c": 3, "b": 0}"#;
        let expected = [
            Ok(None),
            Ok(Some(object)),
            Err(Ambiguity::Repeated),
            Ok(Some("4")),
            Ok(Some("5")),
            Err(Ambiguity::NotInObject),
            Ok(Some("7")),
        ];
        assert_eq!(find_arguments(text, &params), expected, "SRV-HDR-10");
    }

    /// An argument with a path such as `a/b`.
    fn param(path: &str) -> HeaderParam {
        HeaderParam {
            header: String::new(),
            path: path.split('/').map(str::to_owned).collect(),
        }
    }
}
