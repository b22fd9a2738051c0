//! Capabilities of the client that recorded a contract: servers may offer more to a client that can do more.

use std::collections::BTreeSet;

use serde_json::Value;
use treenail_schema::ClientCapabilities;
use treenail_schema::internal::quoted;

use crate::Contract;

/// Names that a message shows.
const SHOWN: usize = 8;

/// Names of capabilities, such as `elicitation` and `elicitation.url`. Their settings are left out.
pub(super) fn names(capabilities: &ClientCapabilities) -> BTreeSet<String> {
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

/// Message about an entry of `recorded` that `live` does not have: the reason may be the client and not the server.
pub(super) fn gone(recorded: &Contract, live: &Contract) -> String {
    let names = (&recorded.client_capabilities, &live.client_capabilities);
    let (Some(before), Some(now)) = names else {
        return "it is gone".to_owned();
    };
    let is_known = |name: &&String| match name.split_once('.') {
        // A whole capability stands for its parts.
        Some((whole, _)) => now.contains(whole) || !before.contains(whole),
        None => true,
    };
    let missing: Vec<_> = before.difference(now).filter(is_known).collect();
    if missing.is_empty() {
        return "it is gone".to_owned();
    }
    let shown = missing.iter().take(SHOWN).map(|name| quoted(name));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = if missing.len() > SHOWN { ", …" } else { "" };
    format!(
        "it is gone; it was recorded by a client that declares {shown}{more}, and this client does not: servers may hide \
         what a client cannot use"
    )
}
