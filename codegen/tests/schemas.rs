//! Arguments and documentation that are generated for schemas.

use serde_json::{Value, json};
use treenail_codegen::Client;

/// Returns the client of a tool `tool` with this input schema.
fn code(schema: &Value) -> String {
    let tool = json!({"name": "tool", "inputSchema": schema});
    let lock = json!({"treenailLock": 1, "server": {"name": "s"}, "tools": [tool]});
    let client = Client::from_json(lock.to_string());
    client.to_rust().expect("the lock file is valid")
}

#[test]
fn merged_members_stay_in_order() {
    let first = json!({"properties": {"a": {"type": "string"}, "b": {}, "c": {}}, "required": ["a", "b", "c"]});
    let other = json!({"properties": {"b": {"type": "string"}, "a": {"minLength": 1}}});
    let code = code(&json!({"allOf": [first, other]}));
    let start = "pub fn new(a: impl Into<String>, b: impl Into<String>, c: impl Into<Value>)";
    let text: String = code.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.replace("( a:", "(a:")
            .replace("Value>, )", "Value>)")
            .contains(start),
        "{code}"
    );
}
