//! The headers that repeat arguments of tools: `Mcp-Param-…`.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};

use crate::tool::header_params::{HeaderParam, find};
use crate::transport::http::headers::{decode, mismatch, single};
use crate::wire::{RpcError, as_string};

/// Compares the headers of a call with its arguments, the text of an object.
pub(super) fn check(
    headers: &HeaderMap,
    mirrors: &[HeaderParam],
    arguments: Option<&str>,
) -> Result<(), RpcError> {
    mirrors.iter().try_for_each(|mirror| {
        let Ok(name) = HeaderName::from_bytes(mirror.header.as_bytes()) else {
            return Ok(());
        };
        let argument = arguments.and_then(|arguments| find(arguments, &mirror.path));
        let header = single(headers, &name)?;
        let header = header.map(|header| decode(&name, header)).transpose()?;
        match (header, argument) {
            (None, None) => Ok(()),
            (Some(header), Some(argument)) if says(&header, argument) => Ok(()),
            (None, Some(_)) => Err(mismatch(format!("the header `{name}` is missing"))),
            (Some(_), _) => Err(mismatch(format!(
                "the header `{name}` does not say what the argument says"
            ))),
        }
    })
}

/// Whether a header says what an argument, the text of a JSON value, says.
fn says(header: &str, argument: &str) -> bool {
    match argument.as_bytes().first() {
        Some(b'"') => as_string(argument) == Some(Cow::Borrowed(header)),
        Some(b'-' | b'0'..=b'9') => header == argument || is_same_number(header, argument),
        _ => header == argument,
    }
}

/// Whether two texts are the same integer, however it is written.
fn is_same_number(one: &str, other: &str) -> bool {
    // All integers up to here are exact, and clients send no others.
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    let number = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let number: f64 = text.bytes().all(plain).then(|| text.parse().ok())??;
        (number.abs() <= LARGEST).then_some(number)
    };
    matches!((number(one), number(other)), (Some(one), Some(other)) if one.total_cmp(&other).is_eq())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_what_they_mean() {
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
                says(header, argument),
                same,
                "SRV-HDR-12: {header} {argument}"
            );
        }
    }
}
