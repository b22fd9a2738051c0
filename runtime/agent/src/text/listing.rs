//! List of tools as text for a model.

use std::fmt::Write;

use serde_json::{Map, Value};
use treenail_schema::Tool;

/// Schema keywords that fit into one line per argument. A schema with others is included as JSON.
const SIMPLE_KEYWORDS: [&str; 4] = ["type", "properties", "required", "additionalProperties"];

/// Schema keywords without effect on validation.
const ANNOTATIONS: [&str; 4] = ["$schema", "title", "description", "$comment"];

/// Bytes reserved for the note about omitted tools.
const NOTE_BYTES: usize = 64;

/// Level of detail for a tool.
#[derive(Clone, Copy)]
enum Detail {
    All,
    /// Description, but only the names of the arguments.
    Names,
    /// Only the name.
    Name,
}

/// Lists the tools in about `max` bytes at most, with less detail if there are many.
pub(super) fn listing(tools: &[Tool], max: usize) -> String {
    for detail in [Detail::All, Detail::Names, Detail::Name] {
        let mut list = String::from("The tools:\n");
        let all = tools.iter().all(|tool| {
            write_tool(&mut list, tool, detail);
            list.len() <= max
        });
        if all {
            return list;
        }
    }
    partial_listing(tools, max)
}

/// Lists the names of as many tools as fit.
fn partial_listing(tools: &[Tool], max: usize) -> String {
    let mut list = String::from("Some of the tools:\n");
    for (at, tool) in tools.iter().enumerate() {
        if list.len() + tool.name.len() + NOTE_BYTES > max {
            // Writing to a string cannot fail.
            let _ = writeln!(list, "\n{} more tools are not listed.", tools.len() - at);
            break;
        }
        write_tool(&mut list, tool, Detail::Name);
    }
    list
}

fn write_tool(list: &mut String, tool: &Tool, detail: Detail) {
    let _ = write!(list, "\n{}", tool.name);
    let description = tool.description.as_deref().map_or("", str::trim);
    if !description.is_empty() && !matches!(detail, Detail::Name) {
        let _ = write!(list, " — {}", description.replace('\n', "\n  "));
    }
    let schema = &*tool.input_schema;
    match detail {
        Detail::All if is_simple(schema) => write_arguments(list, schema),
        Detail::All => {
            let schema = Value::Object(schema.clone());
            let _ = write!(list, "\n  PARAMETERS have this JSON Schema: {schema}");
        }
        Detail::Names => {
            let names: Vec<_> = properties(schema).map(|(name, _)| name.as_str()).collect();
            let _ = write!(list, "\n  arguments: {}", names.join(", "));
        }
        Detail::Name => {}
    }
    list.push('\n');
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

/// Returns true if one line per argument expresses the whole schema.
fn is_simple(schema: &Map<String, Value>) -> bool {
    let is_simple_keyword = |(keyword, value): (&String, &Value)| match keyword.as_str() {
        "additionalProperties" => value.is_boolean(),
        "type" => value == "object",
        known => SIMPLE_KEYWORDS.contains(&known) || ANNOTATIONS.contains(&known),
    };
    let fits_on_line = |(name, _): (&String, &Value)| !name.contains(['\n', ':']);
    schema.iter().all(is_simple_keyword) && properties(schema).all(fits_on_line)
}

/// Writes one line per argument: name, necessity, schema and description.
fn write_arguments(list: &mut String, schema: &Map<String, Value>) {
    if properties(schema).next().is_none() {
        list.push_str("\n  no arguments");
    }
    let required = schema.get("required").and_then(Value::as_array);
    for (name, schema) in properties(schema) {
        let is_required = required.is_some_and(|names| names.iter().any(|it| it == name));
        let requirement = if is_required { "required" } else { "optional" };
        let _ = write!(list, "\n  {name}: {requirement}");
        write_argument(list, schema);
    }
}

fn write_argument(list: &mut String, schema: &Value) {
    let Some(schema) = schema.as_object() else {
        return;
    };
    let mut rest = schema.clone();
    let description = rest.shift_remove("description");
    // The title usually repeats the name.
    rest.shift_remove("title");
    if let Some(Value::String(only)) = rest.get("type").filter(|_| rest.len() == 1) {
        let _ = write!(list, ", {only}");
    } else if !rest.is_empty() {
        let _ = write!(list, ", {}", Value::Object(rest));
    }
    if let Some(Value::String(description)) = description {
        let _ = write!(list, " — {}", description.trim().replace('\n', "\n    "));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str, schema: &Value) -> Tool {
        let tool = json!({"name": name, "description": description, "inputSchema": schema});
        serde_json::from_value(tool).unwrap()
    }

    fn tools() -> Vec<Tool> {
        let forecast = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "Where.\nA town."},
                "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3},
                "any": true,
            },
            "required": ["place"],
            "additionalProperties": false,
        });
        let one_of = json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
        vec![
            tool("weather.forecast", "The forecast.", &forecast),
            tool("choice", "", &one_of),
            tool(
                "clock",
                "Tells the time.\nExactly.",
                &json!({"type": "object"}),
            ),
        ]
    }

    #[test]
    fn the_listing_is_concise_and_lossless() {
        let expected = r#"The tools:

weather.forecast — The forecast.
  place: required, string — Where.
    A town.
  days: optional, {"type":"integer","minimum":1,"maximum":7,"default":3}
  any: optional

choice
  PARAMETERS have this JSON Schema: {"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]}

clock — Tells the time.
  Exactly.
  no arguments
"#;
        assert_eq!(listing(&tools(), 64 << 10), expected);
    }

    #[test]
    fn a_long_listing_has_less_detail() {
        let list = listing(&tools(), 200);
        assert!(list.contains("weather.forecast — The forecast.\n  arguments: place, days, any"));
        let list = listing(&tools(), 60);
        assert_eq!(list, "The tools:\n\nweather.forecast\n\nchoice\n\nclock\n");
        let tool = tool(
            "a_tool_of_them",
            &"long".repeat(1000),
            &json!({"type": "object"}),
        );
        let list = listing(&vec![tool; 1000], 2000);
        assert!(list.len() <= 2000, "{}", list.len());
        assert!(
            list.starts_with("Some of the tools:\n\na_tool_of_them\n"),
            "{list}"
        );
        assert!(list.ends_with(" more tools are not listed.\n"), "{list}");
    }
}
