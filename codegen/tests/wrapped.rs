//! Tools whose results are wrapped as `{"result": …}`.

use serde_json::{Value, json};
use treenail_codegen::Client;

fn code(schema: &Value) -> String {
    let tool = json!({"name": "sum", "inputSchema": {"type": "object"}, "outputSchema": schema});
    let lock = json!({"treenailLock": 1, "server": {"name": "s"}, "tools": [tool]});
    let written = Client::from_json(lock.to_string()).to_rust();
    written.expect("the lock file is correct")
}

fn wrapped(inner: &Value) -> Value {
    json!({
        "type": "object", "properties": {"result": inner}, "required": ["result"],
        "$defs": {"Level": {"type": "string", "enum": ["low", "high"]}},
        "x-fastmcp-wrap-result": true,
    })
}

#[test]
fn a_method_returns_the_content_of_a_wrapped_result() {
    let of_number = code(&wrapped(&json!({"type": "integer"})));
    assert!(of_number.contains("TypedCall<i64>"), "{of_number}");
    let of_definition = code(&wrapped(&json!({"$ref": "#/$defs/Level"})));
    assert!(of_definition.contains("High"), "{of_definition}");
    assert!(!of_definition.contains("pub result"), "{of_definition}");
}

#[test]
fn an_object_without_the_mark_is_not_unwrapped() {
    let mut schema = wrapped(&json!({"type": "integer"}));
    schema["x-fastmcp-wrap-result"] = json!(false);
    assert!(code(&schema).contains("pub result: i64"));
}
