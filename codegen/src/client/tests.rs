//! Lock files that are made to be expensive: what they cost is counted.

use serde_json::{Map, Value, json};

use super::budget::{Budget, PARTS, PARTS_OF_SCHEMA, STEPS, STEPS_OF_SCHEMA};
use super::lock::Lock;
use super::plan::Plan;
use super::{Client, Error, render};

/// A lock file with this schema for each of so many tools.
fn lock(schema: &Value, tools: usize) -> String {
    let tool = |at: usize| json!({"name": format!("tool{at}"), "inputSchema": schema});
    let tools: Vec<_> = (0..tools).map(tool).collect();
    json!({"treenailLock": 1, "tools": tools}).to_string()
}

/// The steps and the parts that a lock file takes.
fn spent(lock: &str) -> (usize, usize) {
    let budget = Budget::default();
    drop(Plan::of(&Lock::parse(lock).unwrap(), &budget));
    budget.spent()
}

/// The module, and the steps and parts that it takes.
fn made(lock: &str) -> (String, usize, usize) {
    let (lock, budget) = (Lock::parse(lock).unwrap(), Budget::default());
    let plan = Plan::of(&lock, &budget);
    let code = render::module(&lock, &plan, "Attacked", &quote::quote! { ::treenail });
    let (steps, parts) = budget.spent();
    (code.unwrap(), steps, parts)
}

fn code(lock: &str) -> String {
    made(lock).0
}

/// Two schemas, the members of each united from both.
fn doubling() -> Value {
    let both = json!([{"$ref": "#/a"}, {"$ref": "#/b"}]);
    let other = json!([{"$ref": "#/b"}, {"$ref": "#/a"}]);
    let member = |parts: &Value| json!({ "allOf": parts });
    json!({
        "allOf": both,
        "a": {"properties": {"x": member(&both), "y": member(&both)}},
        "b": {"properties": {"x": member(&other), "y": member(&both)}},
    })
}

/// A document that is a part of its parts.
fn whole() -> Value {
    let whole = json!({"$ref": "#"});
    json!({"properties": {
        "x": {"allOf": [whole, {"minimum": 1}]},
        "y": {"allOf": [whole, whole, {"minimum": 2}]},
    }})
}

#[test]
fn what_unites_with_itself_ends() {
    for (schema, length) in [(doubling(), 400), (whole(), 250)] {
        let one = lock(&schema, 1);
        assert!(one.len() < length);
        let (code, steps, parts) = made(&one);
        assert!(steps <= STEPS_OF_SCHEMA, "{steps}");
        assert!(parts <= PARTS_OF_SCHEMA, "{parts}");
        let most = format!("because the schema has more than {STEPS_OF_SCHEMA} steps to unite.");
        assert!(code.contains(&most), "{schema}");
    }
    let several = lock(&doubling(), 5);
    let (code, steps, _) = made(&several);
    assert_eq!(steps, STEPS);
    let most = format!("because the schemas of the lock file have more than {STEPS} steps");
    assert!(code.contains(&most));
}

#[test]
fn a_schema_is_not_copied_for_each_type_that_there_is_not() {
    let names: Vec<_> = (0..20_000).map(|at| format!("type {at}")).collect();
    let texts: Vec<_> = (0..10_000).map(|at| format!("text {at}")).collect();
    let schema = json!({"properties": {"x": {"type": names, "examples": texts}}});
    let lock = lock(&schema, 1);
    assert!(lock.len() > 266_000);
    let (steps, _) = spent(&lock);
    assert!(steps < 10, "{steps}");
    let reason = "because it has types that JSON Schema does not know.";
    assert!(code(&lock).contains(reason));
}

#[test]
fn tuples_of_tuples_are_not_written_out() {
    let mut definitions = json!({"d0": {"type": "string"}});
    for at in 1..12 {
        let item = json!({"$ref": format!("#/$defs/d{}", at - 1)});
        let items = vec![item; 12];
        let tuple = json!({"type": "array", "prefixItems": items, "minItems": 12, "maxItems": 12});
        definitions[format!("d{at}")] = tuple;
    }
    let schema = json!({"properties": {"x": {"$ref": "#/$defs/d11"}}, "$defs": definitions});
    let lock = lock(&schema, 1);
    assert!(lock.len() < 4_000);
    assert!(code(&lock).len() < 10_000);
}

#[test]
fn a_schema_is_read_once_however_it_is_referred_to() {
    let ways = (0_u8..64).map(|way| {
        let letters = "abcdef".bytes().zip(0..);
        let letters = letters.map(|(letter, bit)| match way >> bit & 1 {
            1 => format!("%{letter:x}"),
            _ => char::from(letter).to_string(),
        });
        format!("#/$defs/{}", letters.collect::<String>())
    });
    let members: Map<_, _> = ways
        .map(|way| (format!("m{}", way.len()) + &way, json!({"$ref": way})))
        .collect();
    let definition = json!({"enum": vec!["long"; 10_000]});
    let schema = json!({"properties": members, "$defs": {"abcdef": definition}});
    let (code, _, parts) = made(&lock(&schema, 1));
    assert!(parts < 80, "{parts}");
    assert_eq!(code.matches("pub enum ").count(), 1);
}

#[test]
fn lists_that_are_united_are_looked_through_once() {
    let names = |of: &str| -> Value { (0..20_000).map(|at| json!(format!("{of}{at}"))).collect() };
    for keyword in ["required", "enum"] {
        let parts = json!([{keyword: names("a")}, {keyword: names("b")}]);
        let schema = json!({"properties": {"x": {"allOf": parts}}});
        let (steps, _) = spent(&lock(&schema, 1));
        assert!(steps <= STEPS_OF_SCHEMA, "{keyword}: {steps}");
    }
}

#[test]
fn a_lock_file_has_parts_for_all_its_tools_together() {
    let members: Map<_, _> = (0..190)
        .map(|at| {
            (
                format!("member{at}"),
                json!({"type": "object", "properties": {"v": {}}}),
            )
        })
        .collect();
    let (_, parts) = spent(&lock(&json!({"properties": members}), 80));
    assert_eq!(parts, PARTS);
}

#[test]
fn prompts_with_many_arguments_take_a_map() {
    let arguments: Vec<_> = (0..5_000)
        .map(|at| json!({"name": format!("a{at}")}))
        .collect();
    let prompts = json!([{"name": "p", "arguments": arguments}]);
    let code = code(&json!({"treenailLock": 1, "prompts": prompts}).to_string());
    assert!(
        code.contains("BTreeMap<::std::string::String, types::Value>"),
        "{code}"
    );
}

#[test]
fn a_module_has_a_longest_text() {
    let description = "a".repeat(9 << 20);
    let lock = json!({"treenailLock": 1, "tools": [{"name": "a", "description": description}]});
    let error = Client::from_json(lock.to_string()).to_rust().unwrap_err();
    assert!(matches!(
        error,
        Error::TooLarge {
            most: 8_388_608,
            ..
        }
    ));
    let message = "the lock file `lock.json` makes a module of more than 8 MiB; choose the tools that are needed";
    assert_eq!(error.to_string(), message);
}

#[test]
fn nothing_is_in_a_lock_file_twice() {
    for (list, entry, message) in [
        ("tools", json!({"name": "a"}), "has \"a\" twice in `tools`"),
        (
            "prompts",
            json!({"name": "b\n"}),
            "has \"b\\n\" twice in `prompts`",
        ),
        (
            "resources",
            json!({"uri": "c:d", "name": "d"}),
            "has \"c:d\" twice in `resources`",
        ),
        (
            "resourceTemplates",
            json!({"uriTemplate": "e:{f}", "name": "e"}),
            "has \"e:{f}\" twice in `resourceTemplates`",
        ),
    ] {
        let lock = json!({"treenailLock": 1, list: [entry, entry]});
        let error = Client::from_json(lock.to_string()).to_rust().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the lock file `lock.json` {message}")
        );
    }
}
