//! Members of headers and claims, with exact JSON types.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use super::JoseError;

/// 9999-12-31T23:59:59Z. Later times are errors of the issuer, and would overflow in places.
const LATEST: f64 = 253_402_300_799.0;

/// Returns the text of a member. A value of another type, also `null`, is an error.
pub(crate) fn string<'a>(
    members: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, JoseError> {
    match members.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(JoseError("a member that must be a string is not one")),
    }
}

/// Returns the time of a member: seconds since 1970, with fractions (RFC 7519, section 2). A value of another type, also
/// `null`, or a time before 1970 or after 9999, is an error.
pub(crate) fn numeric_date(
    members: &Map<String, Value>,
    name: &str,
) -> Result<Option<SystemTime>, JoseError> {
    let error = JoseError("a member that must be a time is not a number of seconds since 1970");
    let Some(value) = members.get(name) else {
        return Ok(None);
    };
    let seconds = match value {
        Value::Number(number) => number.as_f64().ok_or(error)?,
        _ => return Err(error),
    };
    if !(0.0..=LATEST).contains(&seconds) {
        return Err(error);
    }
    Ok(Some(
        SystemTime::UNIX_EPOCH + Duration::from_secs_f64(seconds),
    ))
}
