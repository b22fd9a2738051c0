//! Contracts, lock files and drifts.

mod added_members;
mod applicators;
mod entries;
mod enumerations;
mod equivalent;
mod hostile;
mod lock_file;
mod members;
mod random;
mod schemas;
mod shared_definitions;
mod texts;
mod tools;

use serde_json::Value;
use treenail_schema::{SchemaObject, Tool};

use crate::{Contract, Drift};

fn object(value: Value) -> SchemaObject {
    serde_json::from_value(value).unwrap()
}

fn tool(name: &str, input: Value) -> Tool {
    Tool::new(name, object(input))
}

/// Returns the sorted severities and paths of the changes.
fn summaries(drift: &Drift) -> Vec<String> {
    let changes = drift.changes().iter();
    let mut found: Vec<_> = changes
        .map(|change| format!("{} {}", change.severity, change.path))
        .collect();
    found.sort();
    found
}

fn tool_drift(recorded: Tool, live: Tool) -> Drift {
    Contract::new()
        .with_tools([recorded])
        .drift(&Contract::new().with_tools([live]))
}
