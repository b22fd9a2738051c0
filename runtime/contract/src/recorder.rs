//! Capabilities of the client that recorded a contract. A server may hide features that a client cannot use.

use std::collections::BTreeSet;

use serde_json::Value;
use treenail_schema::ClientCapabilities;
use treenail_schema::internal::quoted;

use crate::Contract;

/// Maximum number of capabilities that a message lists.
const MAX_LISTED_CAPABILITIES: usize = 8;

/// Returns the names of the capabilities, such as `elicitation` and `elicitation.url`, without their settings.
pub(super) fn capability_names(capabilities: &ClientCapabilities) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let value = serde_json::to_value(capabilities).unwrap_or_default();
    for (name, settings) in value.as_object().into_iter().flatten() {
        let inner = settings.as_object().into_iter().flatten();
        let inner = inner.filter(|(_, value)| !matches!(value, Value::Null | Value::Bool(false)));
        names.extend(inner.map(|(inner, _)| format!("{name}.{inner}")));
        names.insert(name.clone());
    }
    names
}

/// Returns the message for an entry of `recorded` that `live` does not have. The cause may be missing client capabilities.
pub(super) fn removal_message(recorded: &Contract, live: &Contract) -> String {
    let names = (&recorded.client_capabilities, &live.client_capabilities);
    let (Some(before), Some(now)) = names else {
        return "removed".to_owned();
    };
    let is_separate = |name: &&String| match name.split_once('.') {
        // A missing capability is reported without its parts.
        Some((parent, _)) => now.contains(parent) || !before.contains(parent),
        None => true,
    };
    let missing: Vec<_> = before.difference(now).filter(is_separate).collect();
    if missing.is_empty() {
        return "removed".to_owned();
    }
    let shown = missing
        .iter()
        .take(MAX_LISTED_CAPABILITIES)
        .map(|name| quoted(name));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = if missing.len() > MAX_LISTED_CAPABILITIES {
        ", …"
    } else {
        ""
    };
    format!(
        "removed; the recording client declares {shown}{more} and this client does not, and servers may hide features that \
         a client cannot use"
    )
}
