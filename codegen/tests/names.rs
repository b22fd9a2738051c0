//! Names of members, constants, alternatives and methods after the server has added others.

use serde_json::{Value, json};
use treenail_codegen::Client;

fn code(tools: &Value) -> String {
    let lock = json!({"treenailLock": 1, "server": {"name": "s"}, "tools": tools});
    let written = Client::from_json(lock.to_string()).to_rust();
    let code = written.expect("the lock file is correct");
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(code: &str, expected: &[&str], unexpected: &[&str]) {
    for part in expected {
        assert!(code.contains(part), "{part} in {code}");
    }
    for part in unexpected {
        assert!(!code.contains(part), "{part} in {code}");
    }
}

#[test]
fn a_member_does_not_take_the_name_of_another() {
    let with = |names: &[&str], others: bool| {
        let properties = names.iter();
        let properties = properties.map(|name| ((*name).to_owned(), json!({"type": "string"})));
        let properties = properties.collect::<Value>();
        let schema = json!({"properties": properties, "additionalProperties": others});
        code(&json!([{"name": "get", "inputSchema": schema}]))
    };
    check(
        &with(&["user_id"], false),
        &["pub user_id: Option<String>"],
        &[],
    );
    check(
        &with(&["user_id", "userId"], false),
        &[
            "pub user_underscore_id: Option<String>",
            "pub user_id_camel: Option<String>",
        ],
        &["pub user_id:"],
    );
    check(
        &with(&["additional"], true),
        &[
            "pub additional_lower: Option<String>",
            "pub additional_members: BTreeMap<String, Value>",
            "pub fn with_additional_members(",
        ],
        &["pub additional:"],
    );
}

#[test]
fn a_constant_does_not_take_the_name_of_another() {
    let with = |constants: Value| {
        let schema = json!({"properties": {"order": {"enum": constants}}});
        code(&json!([{"name": "list", "inputSchema": schema}]))
    };
    check(
        &with(json!(["asc", "desc"])),
        &["Self::Asc => \"asc\""],
        &[],
    );
    check(
        &with(json!(["ASC", "asc", "desc"])),
        &["Self::AscUpper => \"ASC\", Self::AscLower => \"asc\", Self::Desc => \"desc\""],
        &["Self::Asc =>"],
    );
}

#[test]
fn an_alternative_does_not_take_the_names_of_another() {
    let with = |kinds: &[&str]| {
        let alternatives = kinds.iter();
        let alternative = |kind| {
            json!({
                "type": "object", "properties": {"kind": {"const": kind}, "path": {"type": "string"}},
                "required": ["kind", "path"],
            })
        };
        let step = json!({"oneOf": alternatives.map(alternative).collect::<Value>()});
        code(&json!([{"name": "run", "inputSchema": {"properties": {"step": step}}}]))
    };
    check(
        &with(&["move_file", "copy"]),
        &["MoveFile(RunStepMoveFile)", "Copy(RunStepCopy)"],
        &[],
    );
    for kinds in [
        ["moveFile", "move_file", "copy"],
        ["move_file", "moveFile", "copy"],
    ] {
        check(
            &with(&kinds),
            &[
                "MoveFileCamel(RunStepMoveFileCamel)",
                "MoveUnderscoreFile(RunStepMoveUnderscoreFile)",
                "Copy(RunStepCopy)",
            ],
            &["MoveFile(", "RunStepMoveFile "],
        );
    }
}

#[test]
fn a_method_does_not_take_the_name_of_another() {
    let with = |names: &[&str]| {
        let tools = names.iter();
        let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
        code(&tools.map(tool).collect::<Value>())
    };
    check(&with(&["getX"]), &["pub fn get_x("], &[]);
    check(
        &with(&["getX", "get-x", "get_x"]),
        &[
            "pub fn get_x_camel(",
            "pub fn get_minus_x(",
            "pub fn get_underscore_x(",
        ],
        &["pub fn get_x("],
    );
}
