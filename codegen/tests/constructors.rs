//! Constructors of structs with required members.

use serde_json::{Value, json};
use treenail_codegen::Client;

fn code(tools: &Value) -> String {
    let lock = json!({"treenailLock": 1, "server": {"name": "s"}, "tools": tools});
    let written = Client::from_json(lock.to_string()).to_rust();
    let code = written.expect("the lock file is correct");
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A tool with these required members and the optional integer `c`, if there is one.
fn tool(name: &str, required: &Value, has_optional: bool) -> Value {
    let names: Vec<_> = required.as_object().into_iter().flatten().collect();
    let names: Vec<_> = names.into_iter().map(|(name, _)| name).collect();
    let mut properties = required.clone();
    if has_optional {
        properties["c"] = json!({"type": "integer"});
    }
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties, "required": names}})
}

#[test]
fn parameters_that_could_be_swapped_are_named() {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": text});
    let (integer, number) = (json!({"type": "integer"}), json!({"type": "number"}));
    let natural = json!({"type": "integer", "minimum": 0});
    let either = json!({"anyOf": [text, texts]});
    for (a, b, can_be_swapped) in [
        (&text, &text, true),
        (&text, &texts, false),
        (&text, &integer, false),
        (&integer, &natural, true),
        (&integer, &number, true),
        (
            &json!({"type": "array", "items": integer}),
            &json!({"type": "array", "items": natural}),
            true,
        ),
        (&text, &json!({}), true),
        (&either, &text, true),
        (&either, &texts, true),
        (&either, &integer, false),
        (&text, &json!({"const": "x"}), false),
        (
            &json!({"enum": ["x", "y"]}),
            &json!({"enum": ["x", "z"]}),
            false,
        ),
    ] {
        let code = code(&json!([tool("t", &json!({"a": a, "b": b}), false)]));
        assert_eq!(
            !code.contains("pub fn new(a:"),
            can_be_swapped,
            "{a}, {b}: {code}"
        );
    }
}

#[test]
fn a_struct_without_other_members_is_written_as_a_literal() {
    let text = json!({"type": "string"});
    let code = code(&json!([tool(
        "move",
        &json!({"to": text, "from": text}),
        false
    )]));
    let start = "#[serde(crate = \"::treenail::__generated::serde\")] pub struct Move {";
    assert!(code.contains(start), "it is not `non_exhaustive`: {code}");
    assert!(
        !code.contains("impl Move") && !code.contains("MoveRequired"),
        "{code}"
    );
}

#[test]
fn required_members_are_one_struct_if_there_are_others() {
    let text = json!({"type": "string"});
    let members = json!({"to": text, "from": text});
    let code = code(&json!([
        tool("move", &members, true),
        tool("move_required", &json!({"a": text}), true),
    ]));
    for expected in [
        "pub fn new(required: MoveRequired2) -> Self { let MoveRequired2 { to, from } = required; Self { to, from, c: None } }",
        "pub struct MoveRequired2 { /// See [`Move::to`]. pub to: String, /// See [`Move::from`]. pub from: String, }",
        "pub struct MoveRequired {",
    ] {
        assert!(code.contains(expected), "{expected} in {code}");
    }
}

#[test]
fn constants_and_additional_members_are_other_members() {
    let text = json!({"type": "string"});
    let constant = json!({"a": text, "b": text, "kind": {"const": "x"}});
    let mut open = tool("open", &json!({"a": text, "b": text}), false);
    open["inputSchema"]["additionalProperties"] = text.clone();
    let code = code(&json!([tool("constant", &constant, false), open]));
    for expected in [
        "Self { a, b, kind: ConstantKind::default(), }",
        "Self { a, b, additional: BTreeMap::new(), }",
    ] {
        assert!(code.contains(expected), "{expected} in {code}");
    }
}
