//! Types that several tools share.

use serde_json::{Value, json};
use treenail_codegen::Client;

fn code(tools: &[Value]) -> String {
    let lock = json!({"treenailLock": 1, "server": {"name": "s"}, "tools": tools});
    let written = Client::from_json(lock.to_string()).to_rust();
    written.expect("the lock file is correct")
}

fn issue(description: &str) -> Value {
    let part = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    json!({
        "type": "object", "description": description, "required": ["id"],
        "properties": {"id": {"type": "integer"}, "part": part},
    })
}

fn tool(name: &str, input: &Value, output: &Value) -> Value {
    json!({"name": name, "inputSchema": input, "outputSchema": output})
}

#[test]
fn tools_with_the_same_output_share_its_type() {
    let (empty, issue) = (json!({"type": "object"}), issue("An issue."));
    let page =
        json!({"type": "object", "properties": {"issues": {"type": "array", "items": issue}}});
    let code = code(&[
        tool(
            "create",
            &json!({"type": "object", "properties": {"issue": issue}}),
            &issue,
        ),
        tool("export", &empty, &json!({"type": "array", "items": issue})),
        tool("find", &empty, &json!({"anyOf": [issue, {"type": "null"}]})),
        tool("get", &empty, &issue),
        tool("search", &empty, &page),
    ]);
    for expected in [
        "pub struct CreateOutput {",
        "pub struct SearchOutput {",
        "pub type ExportOutputItem = CreateOutput;",
        "pub type FindOutput = CreateOutput;",
        "pub type GetOutput = CreateOutput;",
        // The name of a part that several tools have.
        "pub type Issue = CreateOutput;",
        "/// The same type as [`CreateOutput`].",
    ] {
        assert!(code.contains(expected), "{expected} in {code}");
    }
    assert_eq!(code.matches(" = CreateOutput;").count(), 4, "{code}");
}

#[test]
fn different_types_are_not_merged() {
    let (empty, one) = (json!({"type": "object"}), issue("An issue."));
    let with = |part: &Value| json!({"type": "object", "properties": {"part": part}});
    let alternatives = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "integer"}]});
    let mut either = with(&alternatives);
    either["$defs"] = json!({"A": one});
    let code = code(&[
        // The arguments of tools are not shared.
        tool("close", &one, &json!(true)),
        tool("open", &one, &json!(true)),
        // A part with another description.
        tool("note", &with(&issue("A note.")), &json!(true)),
        tool("get", &empty, &one),
        // An alternative of an enum.
        tool("pick", &either, &json!(true)),
    ]);
    assert!(!code.contains("pub type "), "{code}");
}
