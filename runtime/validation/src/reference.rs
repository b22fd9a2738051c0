//! Resolution of references, which never leave their own schema.

use serde_json::Value;
use treenail_schema::internal::json_schema::{Fragment, local_fragment};
use treenail_schema::internal::quoted;

/// Target of a reference.
pub(crate) enum Target<'a> {
    /// A value in the schema.
    Schema(&'a Value),
    /// The subschema with this anchor.
    Anchor(&'a str),
}

/// Resolves a reference. The error is the reason for rejecting it.
pub(crate) fn resolve<'a>(schema: &'a Value, reference: &'a str) -> Result<Target<'a>, String> {
    let id = ["$id", "id"].iter().find_map(|id| schema.get(id)?.as_str());
    let own = id.and_then(|id| reference.strip_prefix(id.trim_end_matches('#')));
    match local_fragment(own.unwrap_or(reference)) {
        Some(Fragment::Anchor(name)) => Ok(Target::Anchor(name)),
        Some(Fragment::Pointer(pointer)) => schema
            .pointer(&pointer)
            .filter(|found| found.is_object() || found.is_boolean())
            .map(Target::Schema)
            .ok_or_else(|| format!("the reference {} has no target", quoted(reference))),
        None => Err(format!(
            "it refers to {}, which is outside of the schema; external references are not supported",
            quoted(reference)
        )),
    }
}
