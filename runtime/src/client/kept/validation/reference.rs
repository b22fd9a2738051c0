//! Where a reference leads to: nowhere out of its own schema.

use serde_json::Value;
use treenail_schema::internal::percent_decode;

use crate::wire::quoted;

/// What a reference leads to.
pub(super) enum Target<'a> {
    /// A value in the schema.
    Schema(&'a Value),
    /// The subschema that has this name.
    Anchor(&'a str),
}

/// Where a reference leads to; the error tells why it is not followed.
pub(super) fn target<'a>(schema: &'a Value, reference: &'a str) -> Result<Target<'a>, String> {
    let id = ["$id", "id"].iter().find_map(|id| schema.get(id)?.as_str());
    let own = id.and_then(|id| reference.strip_prefix(id.trim_end_matches('#')));
    let Some(fragment) = fragment(own.unwrap_or(reference)) else {
        return Err(format!(
            "it refers to {}, which is not in it, and references are not followed elsewhere",
            quoted(reference)
        ));
    };
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return Ok(Target::Anchor(fragment));
    }
    let found = percent_decode(fragment).and_then(|pointer| schema.pointer(&pointer));
    found
        .filter(|found| found.is_object() || found.is_boolean())
        .map(Target::Schema)
        .ok_or_else(|| format!("nothing is at {}", quoted(reference)))
}

fn fragment(reference: &str) -> Option<&str> {
    match reference {
        "" => Some(""),
        other => other.strip_prefix('#'),
    }
}
