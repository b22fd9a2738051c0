//! Tools in the format of the endpoint: functions with a parameter schema.

use serde::Serialize;
use serde_json::{Value, json};
use treenail_schema::{CreateMessageRequestParams, JsonObject, Tool};

use super::ToolNames;

/// A tool.
#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
pub(super) struct Function<'a> {
    function: Definition<'a>,
}

#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parameters: Parameters<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Parameters<'a> {
    Unchanged(&'a JsonObject),
    Completed(JsonObject),
}

impl<'a> Function<'a> {
    pub(super) fn all(request: &'a CreateMessageRequestParams, names: &'a ToolNames) -> Vec<Self> {
        let tools = request.tools.iter().flatten();
        tools.map(|tool| Self::new(tool, names)).collect()
    }

    fn new(tool: &'a Tool, names: &'a ToolNames) -> Self {
        let description = tool.description.as_deref().or(tool.title.as_deref());
        Self {
            function: Definition {
                name: names.sent(&tool.name),
                description: description.filter(|text| !text.is_empty()),
                parameters: parameters(&tool.input_schema),
            },
        }
    }
}

/// Adds the `type` and `properties` keywords, which `OpenAI` requires.
fn parameters(schema: &JsonObject) -> Parameters<'_> {
    if schema.contains_key("type") && schema.contains_key("properties") {
        return Parameters::Unchanged(schema);
    }
    let mut completed = schema.clone();
    completed.entry("type").or_insert_with(|| json!("object"));
    let properties = completed.entry("properties");
    properties.or_insert_with(|| Value::Object(JsonObject::new()));
    Parameters::Completed(completed)
}
