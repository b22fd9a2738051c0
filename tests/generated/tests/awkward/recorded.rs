//! Recording of servers with awkward schemas. The recorded lock file gives the same client as the listed items.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proc_macro2::{TokenStream, TokenTree};
use serde_json::{Map, Value, json};
use treenail::client::{Contract, McpClient, MockSession};
use treenail::schema::Implementation;

/// Lists of a lock file, and the methods that return them.
const LISTS: [(&str, &str); 3] = [
    ("tools", "tools/list"),
    ("prompts", "prompts/list"),
    ("resourceTemplates", "resources/templates/list"),
];

/// Returns whether an entry is valid: schemas of tools are objects, and arguments of prompts have names.
fn is_valid_entry(list: &str, entry: &Value) -> bool {
    let arguments = entry.get("arguments").and_then(Value::as_array);
    let mut arguments = arguments.into_iter().flatten();
    match list {
        "tools" => {
            entry["inputSchema"].is_object()
                && entry.get("outputSchema").is_none_or(Value::is_object)
        }
        "prompts" => arguments.all(|argument| argument["name"].is_string()),
        _ => true,
    }
}

/// Connects to a mock server that lists the items of the file.
async fn client_of(file: &Value) -> McpClient {
    let mut session = MockSession::new();
    for (list, method) in LISTS {
        let result = json!({ list: file.get(list).unwrap_or(&json!([])), "ttlMs": 0 });
        session = session.answer(method, move |_| Ok(result.clone()));
    }
    let client = McpClient::builder().session(Arc::new(session));
    client.build().await.unwrap()
}

/// Returns the JSON in the order of lock files.
fn sorted(value: &Value, is_set: bool) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let member = |(name, value): (&String, &Value)| {
                let is_set = ["required", "type"].contains(&&**name);
                (name.clone(), sorted(value, is_set))
            };
            Value::Object(members.into_iter().map(member).collect::<Map<_, _>>())
        }
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(|item| sorted(item, false)).collect();
            if is_set && items.iter().all(Value::is_string) {
                items.sort_by_key(|item| item.as_str().map(str::to_owned));
                items.dedup();
            }
            Value::Array(items)
        }
        // Lock files contain whole numbers without a fraction.
        Value::Number(number) => match number.as_f64().filter(|number| number.fract() == 0.0) {
            Some(whole) if number.is_f64() && whole.abs() < 1e15 => {
                serde_json::from_str(&format!("{whole}")).unwrap()
            }
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

/// Returns the tokens of the generated code without the text of the lock file.
fn generated_tokens(lock: String) -> String {
    let code = treenail_codegen::Client::from_json(lock)
        .name("AwkwardClient")
        .to_rust();
    let code: TokenStream = code.unwrap().parse().unwrap();
    without_lock(code).to_string()
}

fn without_lock(tokens: TokenStream) -> TokenStream {
    let mut in_lock = false;
    let remaining = tokens.into_iter().filter_map(|token| match token {
        TokenTree::Group(mut group) => {
            let span = group.span();
            group = proc_macro2::Group::new(group.delimiter(), without_lock(group.stream()));
            group.set_span(span);
            Some(TokenTree::Group(group))
        }
        TokenTree::Ident(name) => {
            in_lock |= name == "LOCK";
            Some(TokenTree::Ident(name))
        }
        TokenTree::Literal(_) if std::mem::take(&mut in_lock) => None,
        other => Some(other),
    });
    remaining.collect()
}

/// Returns the surroundings of the first difference between two texts.
fn difference(one: &str, other: &str) -> String {
    let same = one.chars().zip(other.chars());
    let same = same.take_while(|(one, other)| one == other).count();
    let part = |text: &str| {
        text.chars()
            .skip(same.saturating_sub(200))
            .take(300)
            .collect::<String>()
    };
    format!("{}\n-- and --\n{}", part(one), part(other))
}

#[tokio::test]
async fn awkward_servers_can_be_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("awkward");
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let at = path.display();
        let mut file: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for (list, _) in LISTS {
            if let Some(entries) = file.get_mut(list).and_then(Value::as_array_mut) {
                entries.retain(|entry| is_valid_entry(list, entry));
            }
        }
        let client = client_of(&file).await;
        let recorded = client
            .contract()
            .await
            .unwrap_or_else(|error| panic!("{at}: {error}"));
        let listed = file["tools"].as_array().unwrap().len();
        assert_eq!(recorded.tools().len(), listed, "{at}");
        // The lists do not contain the name of the server.
        let text = |key: &str| file["server"][key].as_str().unwrap_or_default().to_owned();
        let server = Implementation::new(text("name"), text("version"));
        file["server"] = json!({"name": text("name"), "version": text("version")});
        let recorded = recorded.with_server(server).to_json();
        let lock = generated_tokens(recorded.clone());
        let listed = generated_tokens(sorted(&file, false).to_string());
        assert!(lock == listed, "{at}: {}", difference(&lock, &listed));
        let read = Contract::from_json(&recorded).unwrap();
        let drift = client.check(&read).await.unwrap();
        assert!(drift.is_empty(), "{at}: {drift}");
        count += 1;
    }
    assert!(count >= 12, "{count}");
}
