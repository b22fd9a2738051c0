//! Supported dialects of JSON Schema.

use jsonschema::Draft;
use serde_json::Value;
use treenail_schema::internal::quoted;

/// Returns the dialect that `$schema` names, by default 2020-12.
pub(crate) fn dialect(schema: &Value) -> Result<Draft, String> {
    let Some(named) = schema.get("$schema") else {
        return Ok(Draft::Draft202012);
    };
    let Some(name) = named.as_str() else {
        return Err("its `$schema` is not a string".to_owned());
    };
    match Draft::from_schema_uri(name) {
        known @ (Draft::Draft202012
        | Draft::Draft201909
        | Draft::Draft7
        | Draft::Draft6
        | Draft::Draft4) => Ok(known),
        _ => Err(format!(
            "the dialect {} is not supported; 2020-12, 2019-09 and the drafts 7, 6 and 4 are",
            quoted(name)
        )),
    }
}
