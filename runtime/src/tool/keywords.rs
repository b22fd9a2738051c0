//! Additional keywords in the input schema of a tool.

use serde_json::{Map, Value};

/// Keywords that are generated from the arguments.
const GENERATED: [&str; 4] = ["type", "properties", "required", "additionalProperties"];

/// Adds the keywords of the tool to the schema that is generated from the arguments.
pub(super) fn merge(
    keywords: Option<Value>,
    mut schema: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let keywords = match keywords {
        None => return Ok(schema),
        Some(Value::Object(keywords)) => keywords,
        Some(_) => return Err("its `schema` is not an object".to_owned()),
    };
    for (keyword, value) in keywords {
        if GENERATED.contains(&&*keyword) || schema.contains_key(&keyword) {
            let problem = "in its `schema` is generated from the arguments; remove it";
            return Err(format!("`{keyword}` {problem}"));
        }
        schema.insert(keyword, value);
    }
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(keywords: Value) -> Result<Value, String> {
        let schema = json!({"type": "object", "$defs": {}});
        let Value::Object(schema) = schema else {
            panic!("it is an object");
        };
        merge(Some(keywords), schema).map(Value::Object)
    }

    #[test]
    fn keywords_are_added_to_those_of_the_arguments() {
        let schema = json!({"type": "object", "$defs": {}, "not": {"required": ["a"]}});
        assert_eq!(merged(json!({"not": {"required": ["a"]}})), Ok(schema));
    }

    #[test]
    fn generated_keywords_are_not_replaced() {
        for keyword in [
            "type",
            "properties",
            "required",
            "additionalProperties",
            "$defs",
        ] {
            let error = merged(json!({keyword: {}})).unwrap_err();
            let expected = "in its `schema` is generated from the arguments; remove it";
            assert_eq!(error, format!("`{keyword}` {expected}"));
        }
    }

    #[test]
    fn keywords_must_be_an_object() {
        let error = merged(json!(["not"])).unwrap_err();
        assert_eq!(error, "its `schema` is not an object");
    }
}
