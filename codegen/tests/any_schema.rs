//! A client is generated for any schemas.

use std::sync::mpsc;
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Map, Value, json};
use treenail_codegen::Client;

const TYPES: &[&str] = &[
    "object", "array", "string", "integer", "number", "boolean", "null", "any", "other",
];
const NAMES: &[&str] = &[
    "a", "b", "type", "self", "A", "a-b", "a b", "", "2", "é", "kind", "Option", "`", "*/",
];
const REFERENCES: &[&str] = &[
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/$defs/kind",
    "#/properties/a",
    "#a",
    "x.json",
    "#/%24defs/a",
    "#/",
];

fn one_of(rng: &mut Rng, words: &[&'static str]) -> &'static str {
    words[rng.usize(..words.len())]
}

/// A random schema, or an invalid value in its place.
fn schema(rng: &mut Rng, depth: usize) -> Value {
    match rng.u8(0..20) {
        0 => return Value::Bool(rng.bool()),
        1 => return json!({}),
        2 => return value(rng, 1),
        3 | 4 => return json!({ "$ref": one_of(rng, REFERENCES) }),
        _ => {}
    }
    let mut schema = Map::new();
    if rng.u8(0..4) > 0 {
        let one = |rng: &mut Rng| json!(one_of(rng, TYPES));
        let ty = if rng.u8(0..5) == 0 {
            json!([one(rng), one(rng)])
        } else {
            one(rng)
        };
        schema.insert("type".to_owned(), ty);
    }
    for _ in 0..rng.usize(0..4) {
        let (keyword, value) = keyword(rng, depth);
        schema.insert(keyword.to_owned(), value);
    }
    Value::Object(schema)
}

fn keyword(rng: &mut Rng, depth: usize) -> (&'static str, Value) {
    let inner = depth.saturating_sub(1);
    if depth == 0 {
        return ("description", value(rng, 0));
    }
    match rng.u8(0..18) {
        0..=4 => ("properties", named(rng, inner)),
        5 => ("required", some(rng, |rng| json!(one_of(rng, NAMES)))),
        6 => ("additionalProperties", schema(rng, inner)),
        7 => ("patternProperties", named(rng, inner)),
        8 => ("items", schema(rng, inner)),
        9 => ("items", some(rng, |rng| schema(rng, inner))),
        10 => ("prefixItems", some(rng, |rng| schema(rng, inner))),
        11 => ("enum", some(rng, |rng| value(rng, 1))),
        12 => ("const", value(rng, 1)),
        13 => ("oneOf", some(rng, |rng| schema(rng, inner))),
        14 => ("anyOf", some(rng, |rng| schema(rng, inner))),
        15 => ("allOf", some(rng, |rng| schema(rng, inner))),
        16 => ("minItems", json!(rng.u8(0..3))),
        _ => ("nullable", value(rng, 0)),
    }
}

fn some(rng: &mut Rng, mut make: impl FnMut(&mut Rng) -> Value) -> Value {
    (0..rng.usize(0..4)).map(|_| make(rng)).collect()
}

fn named(rng: &mut Rng, depth: usize) -> Value {
    let count = rng.usize(0..4);
    let member = |rng: &mut Rng| (one_of(rng, NAMES).to_owned(), schema(rng, depth));
    Value::Object((0..count).map(|_| member(rng)).collect())
}

fn value(rng: &mut Rng, depth: usize) -> Value {
    match rng.u8(0..8) {
        0 => Value::Null,
        1 => json!(rng.bool()),
        2 => json!(rng.i64(..)),
        3 => json!(rng.u64(..)),
        4 => json!(rng.f64() * 1e9 - 5e8),
        5 if depth > 0 => some(rng, |rng| value(rng, depth - 1)),
        6 if depth > 0 => json!({ one_of(rng, NAMES): value(rng, depth - 1) }),
        _ => json!(one_of(rng, NAMES)),
    }
}

/// The smallest stack of the main thread of a build script.
const STACK: usize = 1024 * 1024;

#[test]
fn any_schema_gives_a_client() {
    let test = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(generate);
    test.unwrap().join().unwrap();
}

fn generate() {
    let seeds = match std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
    {
        Some(seed) => seed..seed + 1,
        None => 0..1_000_u64,
    };
    for seed in seeds {
        let rng = &mut Rng::with_seed(seed);
        let mut input = schema(rng, 4);
        if let Some(input) = input.as_object_mut() {
            input.insert("$defs".to_owned(), named(rng, 3));
        }
        let tool = json!({"name": one_of(rng, NAMES), "inputSchema": input, "outputSchema": schema(rng, 4)});
        let lock = json!({"treenailLock": 1, "tools": [tool]}).to_string();
        let client = Client::from_json(&*lock);
        let code = client
            .to_rust()
            .unwrap_or_else(|error| panic!("seed {seed}: {error}: {lock}"));
        assert!(syn::parse_file(&code).is_ok(), "seed {seed}: {lock}");
    }
}

/// Panics if a client is not generated in time; generation normally takes less than a second.
fn ends(case: &str, schema: &Value) -> String {
    let tool = json!({"name": "tool", "inputSchema": schema});
    let lock = json!({"treenailLock": 1, "tools": [tool]}).to_string();
    let (sender, receiver) = mpsc::channel();
    let work = move || sender.send(Client::from_json(lock).to_rust());
    let work = std::thread::Builder::new().stack_size(STACK).spawn(work);
    let code = receiver.recv_timeout(Duration::from_secs(60));
    let code = code.unwrap_or_else(|_| panic!("{case}: it does not end"));
    assert!(work.is_ok(), "{case}");
    let code = code.unwrap_or_else(|error| panic!("{case}: {error}"));
    assert!(syn::parse_file(&code).is_ok(), "{case}");
    code
}

/// Recursive objects and alternatives of them.
fn tangle(rng: &mut Rng) -> Value {
    let count = rng.usize(2..8);
    let reference = |rng: &mut Rng| json!({ "$ref": format!("#/$defs/d{}", rng.usize(..count)) });
    let member = |rng: &mut Rng| match rng.u8(0..4) {
        0 => json!({ "anyOf": some(rng, reference) }),
        1 => json!({ "type": "array", "items": reference(rng) }),
        _ => reference(rng),
    };
    let definition = |rng: &mut Rng, at: usize| {
        let names = ["l", "r", "m", "n"].into_iter().take(rng.usize(1..=4));
        let members: Map<_, _> = names.map(|name| (name.to_owned(), member(rng))).collect();
        let own = format!("only{at}");
        let mut definition = json!({ "type": "object", "properties": members });
        definition["properties"][own] = json!({ "type": "integer" });
        definition
    };
    let all = (0..count).map(|at| (format!("d{at}"), definition(rng, at)));
    let all: Map<_, _> = all.collect();
    let references = all
        .keys()
        .map(|name| json!({ "$ref": format!("#/$defs/{name}") }));
    let any: Vec<_> = references.collect();
    json!({ "type": "object", "properties": { "any": { "anyOf": any } }, "$defs": all })
}

#[test]
fn alternatives_that_refer_to_themselves_are_merged_once() {
    let member = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let a = json!({"type": "object", "properties": {"l": member("a"), "r": member("a")}});
    let x = json!({"type": "integer"});
    let b = json!({"type": "object", "properties": {"l": member("b"), "r": member("b"), "x": x}});
    let either = json!({ "anyOf": [member("a"), member("b")] });
    let schema =
        json!({"type": "object", "properties": {"either": either}, "$defs": {"a": a, "b": b}});
    let code = ends("two trees", &schema);
    assert_eq!(code.matches("pub struct Tool").count(), 2, "{code}");
    for seed in 0..50 {
        let schema = tangle(&mut Rng::with_seed(seed));
        ends(&format!("seed {seed}: {schema}"), &schema);
    }
}

#[test]
fn many_constants_are_counted_in_one_pass() {
    let constants: Vec<_> = (0..100_000).map(|at| format!("constant {at}")).collect();
    let one = json!({ "enum": constants });
    let schema = json!({"type": "object", "properties": {"one": one}});
    let code = ends("constants", &schema);
    assert!(code.contains("pub one: Option<String>"));
    let repeated = json!({ "enum": vec!["same"; 1_000] });
    let code = ends(
        "repeated",
        &json!({"type": "object", "properties": {"one": repeated}}),
    );
    assert!(code.contains("pub one: Option<ToolOne>"));
}

#[test]
fn invalid_lock_files_are_rejected() {
    for (text, reason) in [
        ("", "is not JSON"),
        ("[]", "has no member `treenailLock`"),
        (r#"{"treenailLock": 2}"#, "has version 2"),
        (
            r#"{"treenailLock": 1, "tools": {}}"#,
            "`tools` is not an array",
        ),
        (
            r#"{"treenailLock": 1, "tools": [{}]}"#,
            "`tools[0]` has no name",
        ),
    ] {
        let error = Client::from_json(text).to_rust().unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let lock = r#"{"treenailLock": 1}"#;
    assert!(Client::from_json(lock).name("a b").to_rust().is_err());
    assert!(Client::from_json(lock).krate("a b").to_rust().is_err());
    assert!(Client::from_json(lock).tools(["a"]).to_rust().is_err());
    assert!(Client::from_json(lock).to_rust().is_ok());
}

/// The text of `LOCK`.
fn lock_in(code: &str) -> Value {
    let file = syn::parse_file(code).expect("it is Rust");
    let items = file.items.iter().filter_map(|item| match item {
        syn::Item::Impl(item) => Some(&item.items),
        _ => None,
    });
    let text = items.flatten().find_map(|item| match item {
        syn::ImplItem::Const(item) if item.ident == "LOCK" => match &item.expr {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    serde_json::from_str(&text.expect("there is a lock")).expect("it is JSON")
}

#[test]
fn the_lock_of_some_tools_has_no_others() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let server = json!({"name": "adder", "version": "1"});
    let file = json!({
        "treenailLock": 1, "server": server, "protocolVersion": "2026-07-28", "instructions": "Add.",
        "tools": [tool("subtract"), tool("add"), tool("forget")], "prompts": [{"name": "p"}],
        "resourceTemplates": [], "resources": [],
    });
    let client = Client::from_json(file.to_string());
    assert_eq!(
        lock_in(&client.to_rust().unwrap()),
        file,
        "without a choice, it is the file"
    );
    let some = client.tools(["forget", "add", "forget"]);
    let part = json!({
        "treenailLock": 1, "server": server, "protocolVersion": "2026-07-28", "only": ["add", "forget"],
        "tools": [tool("add"), tool("forget")],
    });
    assert_eq!(lock_in(&some.to_rust().unwrap()), part);
}

#[test]
fn the_lock_of_a_trait_has_no_undeclared_outputs() {
    let tool = json!({"name": "greet", "inputSchema": {"type": "object"}});
    let server = json!({"treenailLock": 1, "tools": [tool], "prompts": []});
    let mut of_trait = server.clone();
    of_trait["undeclaredOutputs"] = json!({"greet": {"type": "string"}});
    let code = Client::from_json(of_trait.to_string()).to_rust().unwrap();
    assert_eq!(lock_in(&code), server);
}
