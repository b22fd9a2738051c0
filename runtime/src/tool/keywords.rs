//! What the schema of a tool's arguments says beside the arguments.

use serde_json::{Map, Value};

/// The keywords that come from the arguments alone.
const OF_ARGUMENTS: [&str; 4] = ["type", "properties", "required", "additionalProperties"];

/// Adds what the tool says of all its arguments to what each of them says.
pub(super) fn add(
    keywords: Option<Value>,
    mut schema: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let keywords = match keywords {
        None => return Ok(schema),
        Some(Value::Object(keywords)) => keywords,
        Some(_) => return Err("its `schema` is not an object".to_owned()),
    };
    for (keyword, value) in keywords {
        if OF_ARGUMENTS.contains(&&*keyword) || schema.contains_key(&keyword) {
            let problem = "in its `schema` comes from the arguments; remove it";
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

    fn added(keywords: Value) -> Result<Value, String> {
        let schema = json!({"type": "object", "$defs": {}});
        let Value::Object(schema) = schema else {
            panic!("it is an object");
        };
        add(Some(keywords), schema).map(Value::Object)
    }

    #[test]
    fn keywords_stand_beside_those_of_the_arguments() {
        let schema = json!({"type": "object", "$defs": {}, "not": {"required": ["a"]}});
        assert_eq!(added(json!({"not": {"required": ["a"]}})), Ok(schema));
    }

    #[test]
    fn what_comes_from_the_arguments_is_not_replaced() {
        for keyword in [
            "type",
            "properties",
            "required",
            "additionalProperties",
            "$defs",
        ] {
            let error = added(json!({keyword: {}})).unwrap_err();
            let expected = "in its `schema` comes from the arguments; remove it";
            assert_eq!(error, format!("`{keyword}` {expected}"));
        }
    }

    #[test]
    fn keywords_are_an_object() {
        let error = added(json!(["not"])).unwrap_err();
        assert_eq!(error, "its `schema` is not an object");
    }
}
