//! Parameters of the methods of extensions.

use serde::de::DeserializeOwned;

use super::publication::push_member;
use crate::wire::{Members, RpcError, read_members, shortened};

/// Reads the parameters of a request, without `_meta`, whose text is `meta`.
pub(super) fn read_params<P: DeserializeOwned>(
    method: &str,
    text: Option<&str>,
    meta: Option<&str>,
) -> Result<P, RpcError> {
    let text = text.unwrap_or("{}");
    if let Ok(params) = read_members(text, "_meta", meta.unwrap_or_default()) {
        return Ok(params);
    }
    // Types that are not made from members, and errors, which need the path to their place.
    let text = without_meta(text);
    let mut reader = serde_json::Deserializer::from_str(&text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let member = match error.path().to_string().as_str() {
            "." => String::new(),
            path => format!("`{}`: ", shortened(path)),
        };
        let reason = error.inner().to_string();
        let reason = shortened(reason.split(" at line ").next().unwrap_or_default());
        RpcError::invalid_params(format!("invalid `params` for `{method}`: {member}{reason}"))
    })
}

/// Returns the text of an object without its member `_meta`. Its JSON has been checked.
#[inline]
fn without_meta(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut members = Members::new(text);
    while let Ok(Some((key, value))) = members.as_mut().map_or(Ok(None), Members::next) {
        if key != "_meta" {
            push_member(&mut out, &key, value);
        }
    }
    out.insert(0, '{');
    out.push('}');
    out
}
