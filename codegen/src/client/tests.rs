//! Costs of lock files that are designed to be expensive.

use serde_json::{Map, Value, json};

use super::budget::{Budget, MAX_PARTS, MAX_PARTS_PER_SCHEMA, MAX_STEPS, MAX_STEPS_PER_SCHEMA};
use super::lock::Lock;
use super::plan::Plan;
use super::{Client, Error, render};

/// A lock file with a number of tools with this schema.
fn lock(schema: &Value, tools: usize) -> String {
    let tool = |at: usize| json!({"name": format!("tool{at}"), "inputSchema": schema});
    let tools: Vec<_> = (0..tools).map(tool).collect();
    json!({"treenailLock": 1, "tools": tools}).to_string()
}

/// The steps and the parts charged for a lock file.
fn spent(lock: &str) -> (usize, usize) {
    let budget = Budget::default();
    drop(Plan::of(&Lock::parse(lock).unwrap(), &budget, false));
    budget.spent()
}

/// The module, and the steps and parts charged for it.
fn made(lock: &str) -> (String, usize, usize) {
    let (lock, budget) = (Lock::parse(lock).unwrap(), Budget::default());
    let plan = Plan::of(&lock, &budget, false);
    let code = render::module(&lock, &plan, "Attacked", &quote::quote! { ::treenail });
    let (steps, parts) = budget.spent();
    (code.unwrap(), steps, parts)
}

fn code(lock: &str) -> String {
    made(lock).0
}

/// Two schemas, the members of each merged from both.
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

/// A document whose members refer to the document.
fn whole() -> Value {
    let whole = json!({"$ref": "#"});
    json!({"properties": {
        "x": {"allOf": [whole, {"minimum": 1}]},
        "y": {"allOf": [whole, whole, {"minimum": 2}]},
    }})
}

#[test]
fn merging_a_recursive_schema_terminates() {
    for (schema, length) in [(doubling(), 400), (whole(), 250)] {
        let one = lock(&schema, 1);
        assert!(one.len() < length);
        let (code, steps, parts) = made(&one);
        assert!(steps <= MAX_STEPS_PER_SCHEMA, "{steps}");
        assert!(parts <= MAX_PARTS_PER_SCHEMA, "{parts}");
        let most = format!("because the schema has more than {MAX_STEPS_PER_SCHEMA} merge steps.");
        assert!(code.contains(&most), "{schema}");
    }
    let several = lock(&doubling(), 5);
    let (code, steps, _) = made(&several);
    assert_eq!(steps, MAX_STEPS);
    let most =
        format!("because the schemas of the lock file have more than {MAX_STEPS} merge steps");
    assert!(code.contains(&most));
}

#[test]
fn a_schema_is_not_copied_for_unknown_types() {
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
fn large_nested_tuples_are_not_expanded() {
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
fn a_long_chain_of_references_is_no_cycle() {
    let mut definitions = json!({"d40": {"type": "object"}});
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        definitions[format!("d{at}")] = json!({"allOf": [next]});
    }
    let schema = json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let code = code(&lock(&schema, 1));
    assert!(code.contains("because its references are nested deeper than 32 levels."));
    assert!(!code.contains("form a cycle"));
}

#[test]
fn merged_lists_are_scanned_once() {
    let names = |of: &str| -> Value { (0..20_000).map(|at| json!(format!("{of}{at}"))).collect() };
    for keyword in ["required", "enum"] {
        let parts = json!([{keyword: names("a")}, {keyword: names("b")}]);
        let schema = json!({"properties": {"x": {"allOf": parts}}});
        let (steps, _) = spent(&lock(&schema, 1));
        assert!(steps <= MAX_STEPS_PER_SCHEMA, "{keyword}: {steps}");
    }
}

#[test]
fn parts_are_limited_for_all_tools_together() {
    let members: Map<_, _> = (0..190)
        .map(|at| {
            (
                format!("member{at}"),
                json!({"type": "object", "properties": {"v": {}}}),
            )
        })
        .collect();
    let (_, parts) = spent(&lock(&json!({"properties": members}), 80));
    assert_eq!(parts, MAX_PARTS);
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
fn the_size_of_a_module_is_limited() {
    let description = "a".repeat(9 << 20);
    let lock = json!({"treenailLock": 1, "tools": [{"name": "a", "description": description}]});
    let error = Client::from_json(lock.to_string()).to_rust().unwrap_err();
    assert!(matches!(
        error,
        Error::TooLarge {
            max_bytes: 8_388_608,
            ..
        }
    ));
    let message = "the module for the lock file `lock.json` would exceed 8 MiB; select fewer tools";
    assert_eq!(error.to_string(), message);
}

#[test]
fn duplicate_names_are_rejected() {
    for (list, entry, message) in [
        (
            "tools",
            json!({"name": "a"}),
            "contains \"a\" twice in `tools`",
        ),
        (
            "prompts",
            json!({"name": "b\n"}),
            "contains \"b\\n\" twice in `prompts`",
        ),
        (
            "resources",
            json!({"uri": "c:d", "name": "d"}),
            "contains \"c:d\" twice in `resources`",
        ),
        (
            "resourceTemplates",
            json!({"uriTemplate": "e:{f}", "name": "e"}),
            "contains \"e:{f}\" twice in `resourceTemplates`",
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
