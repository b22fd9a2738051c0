//! Requests and notifications, with their directions and types.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::protocol::load::{Revision, reference};
use crate::protocol::revisions::RevisionSet;

/// One request or notification over all revisions.
#[derive(Debug)]
pub(crate) struct Method {
    /// Its definition in the schema, as in `CallToolRequest`.
    pub definition: String,
    /// Its name on the wire, as in `tools/call`.
    pub wire_name: String,
    pub from_client: RevisionSet,
    pub from_server: RevisionSet,
    /// Revisions in which it is embedded in an `InputRequiredResult`, and not a message of its own.
    pub embedded: RevisionSet,
    pub params: String,
    /// The result of a request; `None` for a notification.
    pub result: Option<String>,
    /// Set if the response can be a request for input.
    pub input_required: bool,
}

/// Selects the set of revisions that a union adds to.
type RevisionField = fn(&mut Method) -> &mut RevisionSet;

/// The unions that assign the methods to their senders.
const SENDERS: [(&str, RevisionField); 5] = [
    ("ClientRequest", |method| &mut method.from_client),
    ("ClientNotification", |method| &mut method.from_client),
    ("ServerRequest", |method| &mut method.from_server),
    ("ServerNotification", |method| &mut method.from_server),
    ("InputRequest", |method| &mut method.embedded),
];

/// Collects the methods of all revisions, given oldest first, sorted by definition.
pub(crate) fn collect(revisions: &[Revision]) -> Result<Vec<Method>> {
    let mut methods: BTreeMap<String, Method> = BTreeMap::new();
    for (index, revision) in revisions.iter().enumerate() {
        for (definition, schema) in &revision.definitions {
            let Some(wire_name) = constant(schema, "method") else {
                continue;
            };
            if SENDERS.iter().any(|(union, _)| union == definition) {
                continue;
            }
            let method = methods.entry(definition.clone()).or_insert_with(|| Method {
                definition: definition.clone(),
                wire_name: wire_name.to_owned(),
                from_client: RevisionSet::default(),
                from_server: RevisionSet::default(),
                embedded: RevisionSet::default(),
                params: params_name(definition, revisions),
                result: result_name(definition, revisions),
                input_required: may_require_input(definition, revisions),
            });
            if method.wire_name != wire_name {
                bail!(
                    "{definition} is both `{}` and `{wire_name}`",
                    method.wire_name
                );
            }
        }
        record_senders(&mut methods, revision, index)?;
    }
    Ok(methods.into_values().collect())
}

fn record_senders(
    methods: &mut BTreeMap<String, Method>,
    revision: &Revision,
    index: usize,
) -> Result<()> {
    for (union, set) in SENDERS {
        let Some(schema) = revision.definitions.get(union) else {
            continue;
        };
        for definition in members(schema, methods) {
            let method = methods
                .get_mut(&definition)
                .with_context(|| format!("{union} names {definition}, which has no method"))?;
            set(method).insert(index);
        }
    }
    Ok(())
}

/// The definitions in a union. A union of one is written as a copy of its only member.
fn members(union: &Value, methods: &BTreeMap<String, Method>) -> Vec<String> {
    if let Some(only) = constant(union, "method") {
        let same = |method: &&Method| method.wire_name == only;
        return methods
            .values()
            .filter(same)
            .map(|method| method.definition.clone())
            .collect();
    }
    let members = union.get("anyOf").and_then(Value::as_array);
    members
        .into_iter()
        .flatten()
        .filter_map(reference)
        .map(str::to_owned)
        .collect()
}

/// The value of a constant property.
fn constant<'schema>(schema: &'schema Value, property: &str) -> Option<&'schema str> {
    schema
        .get("properties")?
        .get(property)?
        .get("const")?
        .as_str()
}

/// The newest name of the params, or a name of our own if all revisions have them inline.
fn params_name(definition: &str, revisions: &[Revision]) -> String {
    let mut inline = false;
    for revision in revisions.iter().rev() {
        let schema = revision.definitions.get(definition);
        let params = schema.and_then(|schema| schema.get("properties")?.get("params"));
        if let Some(name) = params.and_then(reference) {
            return name.to_owned();
        }
        inline |= params.is_some();
    }
    match (inline, definition.ends_with("Request")) {
        (true, _) => format!("{definition}Params"),
        (false, true) => "RequestParams".to_owned(),
        (false, false) => "NotificationParams".to_owned(),
    }
}

/// `ListToolsResult` for `ListToolsRequest`; `EmptyResult` if there is no such definition.
fn result_name(definition: &str, revisions: &[Revision]) -> Option<String> {
    let name = format!("{}Result", definition.strip_suffix("Request")?);
    let known = revisions
        .iter()
        .any(|revision| revision.definitions.contains_key(&name));
    Some(if known {
        name
    } else {
        "EmptyResult".to_owned()
    })
}

fn may_require_input(definition: &str, revisions: &[Revision]) -> bool {
    let Some(stem) = definition.strip_suffix("Request") else {
        return false;
    };
    let response = format!("{stem}ResultResponse");
    revisions.iter().any(|revision| {
        let result = revision
            .definitions
            .get(&response)
            .and_then(|schema| schema.get("properties")?.get("result")?.get("anyOf"));
        let members = result.and_then(Value::as_array).into_iter().flatten();
        members
            .filter_map(reference)
            .any(|name| name == "InputRequiredResult")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::load;

    fn methods(text: &str) -> Vec<Method> {
        collect(&[load::revision("test", text).unwrap()]).unwrap()
    }

    #[test]
    fn a_union_of_one_written_as_its_member_gives_a_direction() {
        let ping = r#"{"type": "object", "properties": {"method": {"const": "ping"}}}"#;
        let text = format!(r#"{{"$defs": {{"PingRequest": {ping}, "ClientRequest": {ping}}}}}"#);
        let [ping] = methods(&text).try_into().unwrap();
        assert_eq!((ping.from_client.0, ping.from_server.0), (1, 0));
        assert_eq!(
            (ping.params.as_str(), ping.result.as_deref()),
            ("RequestParams", Some("EmptyResult"))
        );
    }
}
