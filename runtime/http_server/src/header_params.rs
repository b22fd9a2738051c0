//! Headers that repeat tool arguments: `Mcp-Param-…`.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};
use treenail_runtime::RpcError;
use treenail_runtime::internal::{Ambiguity, HeaderParam, as_string, find_arguments};

use crate::headers::{decode_header, header_mismatch, single_header};

/// Compares the parameter headers of a call with its arguments, the JSON text of an object.
pub(super) fn check_header_params(
    headers: &HeaderMap,
    params: &[HeaderParam],
    arguments: Option<&str>,
) -> Result<(), RpcError> {
    let found = arguments.map(|arguments| find_arguments(arguments, params));
    let found = found.unwrap_or_else(|| vec![Ok(None); params.len()]);
    params.iter().zip(found).try_for_each(|(param, argument)| {
        let Ok(name) = HeaderName::from_bytes(param.header.as_bytes()) else {
            return Ok(());
        };
        let argument = argument.map_err(|ambiguity| {
            header_mismatch(match ambiguity {
                Ambiguity::Repeated => {
                    format!("the argument for the header `{name}` is given twice")
                }
                Ambiguity::NotInObject => {
                    format!(
                        "the argument that contains that of the header `{name}` is not an object"
                    )
                }
            })
        })?;
        let header = single_header(headers, &name)?;
        let header = header
            .map(|header| decode_header(&name, header))
            .transpose()?;
        match (header, argument) {
            (None, None) => Ok(()),
            (Some(header), Some(argument)) if matches_argument(&header, argument) => Ok(()),
            (None, Some(_)) => Err(header_mismatch(format!("the header `{name}` is missing"))),
            (Some(_), _) => Err(header_mismatch(format!(
                "the header `{name}` does not match the argument"
            ))),
        }
    })
}

/// Returns true if a header has the value of an argument, the JSON text of a value.
fn matches_argument(header: &str, argument: &str) -> bool {
    match argument.as_bytes().first() {
        Some(b'"') => as_string(argument) == Some(Cow::Borrowed(header)),
        Some(b'-' | b'0'..=b'9') => header == argument || is_same_number(header, argument),
        _ => header == argument,
    }
}

/// Returns true if two texts denote the same integer, in any notation.
fn is_same_number(one: &str, other: &str) -> bool {
    // A double represents all integers up to here exactly, and clients send no larger ones.
    const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;
    let number = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let number: f64 = text.bytes().all(plain).then(|| text.parse().ok())??;
        (number.abs() <= MAX_SAFE_INTEGER).then_some(number)
    };
    matches!((number(one), number(other)), (Some(one), Some(other)) if one.total_cmp(&other).is_eq())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_are_compared_by_meaning() {
        let cases = [
            ("Oslo", r#""Oslo""#, true),
            ("oslo", r#""Oslo""#, false),
            ("a\"b", r#""a\"b""#, true),
            ("", r#""""#, true),
            ("42", "42", true),
            ("42.0", "42", true),
            ("42", "4.2e1", true),
            ("43", "42", false),
            ("0x2a", "42", false),
            ("NaN", "42", false),
            ("9007199254740993", "9007199254740992", false),
            ("true", "true", true),
            ("True", "true", false),
            ("1", "true", false),
            ("42", r#""42""#, true),
        ];
        for (header, argument, same) in cases {
            assert_eq!(
                matches_argument(header, argument),
                same,
                "SRV-HDR-12: {header} {argument}"
            );
        }
    }
}
