//! Reasons of deserializers, and whether they explain a problem alone.

use serde_json::Value;

use crate::wire::shortened;

/// Returns the message of a deserializer, without the position that `serde_json` appends.
pub(crate) fn reason_of(error: &impl std::fmt::Display) -> String {
    let reason = error.to_string();
    shortened(reason.split(" at line ").next().unwrap_or_default())
}

/// Reason in place of one that names a Rust type, or a syntax error, in messages without the expected type.
const OTHER_TYPE: &str = "does not match the schema";

/// Reason of a number that a type of 128 bits cannot hold.
const OUT_OF_RANGE: &str = "number out of range";

/// Returns the reason why `serde_json` cannot read a JSON text. For enums and 128-bit integers, it reports a value of another type as
/// a syntax error. For untagged enums, it names no more than the Rust type.
pub(super) fn json_reason(error: &serde_json::Error) -> String {
    let reason = reason_of(error);
    let is_other_type = error.is_syntax()
        && [
            "expected value",
            "invalid number",
            // After the integer part of a number with a fraction.
            "expected `,` or `]`",
            "expected `,` or `}`",
        ]
        .contains(&&*reason);
    if is_other_type || reason.starts_with("data did not match any variant of ") {
        OTHER_TYPE.to_owned()
    } else {
        reason
    }
}

/// Returns whether a reason is one of those that serde creates from an unexpected value and the expected type, which the message
/// states anyway.
pub(super) fn has_serde_form(reason: &str) -> bool {
    [
        "invalid type: ",
        "invalid value: ",
        "invalid length ",
        OTHER_TYPE,
        OUT_OF_RANGE,
    ]
    .iter()
    .any(|form| reason.starts_with(form))
}

/// Returns whether the description of the expected string completes the reason: that of serde for unknown variants has it.
pub(super) fn adds_to(expected: &str, value: &Value, reason: &str) -> bool {
    value.is_string() && expected != "a string" && !reason.starts_with("unknown ")
}
