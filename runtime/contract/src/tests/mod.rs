//! Contracts, and what is found when two are compared.

mod entries;
mod hostile;
mod places;
mod random;
mod same;
mod schemas;
mod text;
mod words;

use serde_json::Value;
use treenail_schema::{SchemaObject, Tool};

use crate::{Contract, Drift};

fn object(value: Value) -> SchemaObject {
    serde_json::from_value(value).unwrap()
}

fn tool(name: &str, input: Value) -> Tool {
    Tool::new(name, object(input))
}

/// What was found, each as its severity and path.
fn told(drift: &Drift) -> Vec<String> {
    let changes = drift.changes().iter();
    let mut told: Vec<_> = changes
        .map(|change| format!("{} {}", change.severity, change.path))
        .collect();
    told.sort();
    told
}

fn between(recorded: Tool, live: Tool) -> Drift {
    Contract::new()
        .with_tools([recorded])
        .drift(&Contract::new().with_tools([live]))
}
