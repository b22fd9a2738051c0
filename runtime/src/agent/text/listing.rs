//! Tools as a list in a text, for a model to read.

use std::fmt::Write;

use serde_json::{Map, Value};
use treenail_schema::Tool;

/// The keywords of a schema that can be said in a line for each argument. One with others is given whole.
const SIMPLE_KEYWORDS: [&str; 4] = ["type", "properties", "required", "additionalProperties"];

/// Keywords of a schema that say nothing about what is allowed.
const ANNOTATIONS: [&str; 4] = ["$schema", "title", "description", "$comment"];

/// How many bytes of the list are kept for saying that some tools are not in it.
const NOTE_BYTES: usize = 64;

/// How much of a tool is told.
#[derive(Clone, Copy)]
enum Detail {
    All,
    /// Everything but the schema of its arguments: only their names.
    Names,
    /// Only its name.
    Name,
}

/// The list of tools, in at most about so many bytes: of long ones less is told.
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

/// The names of as many tools as there is room for.
fn partial_listing(tools: &[Tool], max: usize) -> String {
    let mut list = String::from("Some of the tools:\n");
    for (at, tool) in tools.iter().enumerate() {
        if list.len() + tool.name.len() + NOTE_BYTES > max {
            // Writing to a string cannot fail.
            let _ = writeln!(
                list,
                "\nThere are {} more that have no room here.",
                tools.len() - at
            );
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

/// Whether a line for each argument says all that the schema says.
fn is_simple(schema: &Map<String, Value>) -> bool {
    let is_simple_keyword = |(keyword, value): (&String, &Value)| match keyword.as_str() {
        "additionalProperties" => value.is_boolean(),
        "type" => value == "object",
        known => SIMPLE_KEYWORDS.contains(&known) || ANNOTATIONS.contains(&known),
    };
    let fits_on_line = |(name, _): (&String, &Value)| !name.contains(['\n', ':']);
    schema.iter().all(is_simple_keyword) && properties(schema).all(fits_on_line)
}

/// A line for each argument: its name, whether it is required, what it is for, and its schema.
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
    // What only names the type again.
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
    fn tools_are_told_in_few_words_and_no_schema_loses_anything() {
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
    fn a_list_that_is_too_long_tells_less_of_each_tool() {
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
        assert!(list.ends_with(" more that have no room here.\n"), "{list}");
    }
}
