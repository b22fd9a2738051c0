//! Plan of the method for a tool.

use serde_json::Value;

use super::{Call, Method, Planner, entry_docs};
use crate::client::docs::{Docs, code};
use crate::client::lock::Entry;
use crate::client::name;
use crate::client::schema::{Kind, Reader, Shape, is_without_members};

impl Planner<'_> {
    pub(super) fn tool(&mut self, tool: &Entry, name: String) -> Method {
        let prefix = name::pascal(&name);
        let empty = Value::Object(serde_json::Map::new());
        let input = tool.get("inputSchema").unwrap_or(&empty);
        let names = (&*prefix, &*prefix);
        let read = Reader::read_root(input, &mut self.types, self.budget, names, self.keeps_null);
        let arguments = match read {
            Shape::Nullable(shape) => *shape,
            shape => shape,
        };
        let arguments = if is_without_members(input) {
            None
        } else {
            self.arguments(arguments)
        };
        let output = tool.get("outputSchema").map(|schema| {
            let name = format!("{prefix}Output");
            let bare = unwrap_result(schema);
            let schema = bare.as_ref().unwrap_or(schema);
            Reader::read_root(schema, &mut self.types, self.budget, (&name, &name), false)
        });
        Method {
            docs: tool_docs(tool),
            remote: tool.name.clone(),
            arguments,
            call: Call::Tool(output),
            name,
        }
    }

    /// The arguments of a tool: an object, or a map if its members are not known.
    fn arguments(&self, shape: Shape) -> Option<Shape> {
        let reason = match &shape {
            Shape::Map(_) => return Some(shape),
            Shape::Named(id) => match &self.types.get(*id).kind {
                Kind::Record(record) if record.fields.is_empty() && record.rest.is_none() => {
                    // Without members and closed, or only with members that must be absent.
                    return (!record.is_closed).then(|| Shape::Map(Box::new(Shape::Any(None))));
                }
                _ => return Some(shape),
            },
            Shape::Any(reason) => reason
                .clone()
                .unwrap_or("the schema does not describe them".to_owned()),
            _ => "the schema does not describe an object".to_owned(),
        };
        Some(Shape::Map(Box::new(Shape::any(reason))))
    }
}

/// Returns the inner schema if an output schema is marked as wrapped in `{"result": …}`, since clients unwrap such results.
/// Contracts record the inner schemas, but a lock file may have another origin.
fn unwrap_result(schema: &Value) -> Option<Value> {
    let marked = schema.get("x-fastmcp-wrap-result") == Some(&Value::Bool(true));
    let mut bare = schema
        .pointer("/properties/result")
        .filter(|_| marked)?
        .as_object()?
        .clone();
    for keyword in ["$defs", "definitions"] {
        if let Some(definitions) = schema.get(keyword) {
            bare.entry(keyword).or_insert_with(|| definitions.clone());
        }
    }
    Some(bare.into())
}

fn tool_docs(tool: &Entry) -> Docs {
    let mut docs = entry_docs(tool);
    docs.add(&format!("The tool {}.", code(&tool.name)));
    let hint = |key: &str| tool.get("annotations")?.get(key)?.as_bool();
    let hints = [
        ("readOnlyHint", true, "read-only"),
        ("destructiveHint", true, "may be destructive"),
        ("idempotentHint", true, "idempotent"),
        ("openWorldHint", false, "closed world"),
    ];
    let hints: Vec<&str> = hints
        .iter()
        .filter(|(key, value, _)| hint(key) == Some(*value))
        .filter(|(key, ..)| *key != "destructiveHint" || hint("readOnlyHint") != Some(true))
        .map(|(_, _, words)| *words)
        .collect();
    if !hints.is_empty() {
        docs.add(&format!("Hints of the server: {}.", hints.join(", ")));
    }
    docs
}
