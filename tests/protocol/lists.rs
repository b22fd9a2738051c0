//! `tools/list`: the descriptors of tools, their order, and pagination.

use std::time::Duration;

use jsonschema::Validator;
use serde_json::{Value, json};
use treenail::Server;
use treenail::schema::{CacheScope, Revision};

use super::weather::{add_weather, server};
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer};

async fn tools(server: &Server, revision: Revision) -> Vec<Value> {
    let mut peer = Peer::connect(server, revision).await;
    peer.request("tools/list", json!({})).await["result"]["tools"]
        .as_array()
        .unwrap()
        .clone()
}

fn named<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    tools
        .iter()
        .find(|tool| tool["name"] == name)
        .unwrap_or_else(|| panic!("no tool {name}"))
}

#[tokio::test]
async fn a_tool_is_described_by_its_function() {
    for revision in covering("SRV-TOOL-05, SRV-TOOL-08, ALL-ICON-01, ALL-ICON-02, SRV-JSCH-02") {
        let tools = tools(&server(), revision).await;
        let forecast = named(&tools, "weather.forecast");
        assert_eq!(forecast["description"], "Daily forecast for one city.");
        let annotations =
            json!({"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false});
        assert_eq!(forecast["annotations"], annotations);
        let keys = |object: &Value| {
            object
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        let properties = &forecast["inputSchema"]["properties"];
        assert_eq!(
            keys(properties),
            ["city", "days", "unit", "near"],
            "in the order of the source"
        );
        assert_eq!(
            keys(&properties["near"]["properties"]),
            ["name", "latitude", "note"]
        );
        assert_eq!(
            forecast["icons"],
            json!([{"src": "https://example.com/icon.png"}])
        );
        assert_eq!(
            forecast["inputSchema"],
            json!({
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "City name, e.g. \"Oslo\""},
                    "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 1},
                    "unit": {"type": "string", "enum": ["metric", "imperial"]},
                    "near": {
                        "type": "object",
                        "description": "A place on a map.",
                        "properties": {
                            "name": {"type": "string"},
                            "latitude": {"type": "number", "description": "North of the equator"},
                            "note": {"type": "string"},
                        },
                        "required": ["name", "latitude"],
                    },
                },
                "required": ["city"],
                "additionalProperties": false,
            })
        );
        let note = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
        let schema = forecast
            .get("outputSchema")
            .map(|schema| &schema["properties"]["note"]);
        let structured = revision >= Revision::V2025_06_18;
        assert_eq!(schema, structured.then_some(&note));
        let add = named(&tools, "add");
        let wrapped = json!({
            "type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"],
            "x-fastmcp-wrap-result": true,
        });
        let sum = match revision {
            MODERN => Some(json!({"type": "integer"})),
            _ => structured.then_some(wrapped),
        };
        assert_eq!(
            (&add["title"], add.get("outputSchema")),
            (&json!("Add"), sum.as_ref())
        );
        assert_eq!(
            named(&tools, "nothing")["inputSchema"],
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            "SRV-TOOL-06"
        );
        for name in ["motto", "nothing", "media", "perhaps", "weather.name"] {
            assert_eq!(named(&tools, name).get("outputSchema"), None, "{name}");
        }
    }
}

#[tokio::test]
async fn schemas_are_valid_and_fit_the_revision() {
    for revision in covering(
        "ALL-JSCH-01, ALL-JSCH-05, SRV-JSCH-01, SRV-JSCH-02, SRV-JSCH-03, SRV-TOOL-06, SRV-TOOL-07",
    ) {
        for tool in tools(&server(), revision).await {
            let name = tool["name"].as_str().unwrap();
            assert!(
                name.len() <= 128
                    && name
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
            );
            assert_eq!(tool["inputSchema"]["type"], "object");
            for schema in [tool.get("inputSchema"), tool.get("outputSchema")]
                .into_iter()
                .flatten()
            {
                assert!(jsonschema::draft202012::meta::is_valid(schema), "{schema}");
                assert!(!schema.to_string().contains("\"$ref\""), "{schema}");
            }
            if let Some(schema) = tool.get("outputSchema") {
                assert!(revision >= Revision::V2025_06_18, "{revision}");
                assert!(
                    revision.is_modern() || schema["type"] == "object",
                    "{revision}: {schema}"
                );
            }
        }
    }
}

#[tokio::test]
async fn lists_are_in_source_order() {
    let server = server();
    let names = |tools: &[Value]| {
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let first = names(&tools(&server, MODERN).await);
    assert_eq!(
        first[..7],
        [
            "weather.forecast",
            "weather.wait",
            "weather.name",
            "weather.trace-id",
            "weather.hold",
            "add",
            "greet"
        ]
    );
    for revision in covering("SRV-TOOL-03") {
        assert_eq!(names(&tools(&server, revision).await), first);
    }
    assert!(
        !first.contains(&"weather.absent".to_owned()),
        "a method under a false `cfg` is no tool"
    );
}

#[tokio::test]
async fn lists_have_cache_hints() {
    let server = add_weather(treenail::server!())
        .cache_lists(Duration::from_secs(60), CacheScope::Public)
        .build()
        .unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    for method in ["tools/list", "server/discover"] {
        let result = peer.request(method, json!({})).await["result"].take();
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(60_000), &json!("public"))
        );
    }
}

#[tokio::test]
async fn names_can_be_shown_without_dots() {
    let build = |separator: &str| {
        add_weather(treenail::server!())
            .name_separator(separator)
            .build()
    };
    let server = build("__").unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    assert_eq!(
        peer.call("weather__name", json!({})).await["content"][0]["text"],
        "weather"
    );
    let (_, message) = peer
        .refused("tools/call", json!({"name": "weather__nam"}))
        .await;
    assert_eq!(
        message,
        "unknown tool `weather__nam`: namespace `weather` has no `nam`; did you mean `weather__name`?"
    );
    for (separator, flaw) in [("/", "characters"), ("..", "dots")] {
        let message = build(separator).unwrap_err().to_string();
        assert!(message.contains(flaw), "{message}");
    }
}

#[tokio::test]
async fn duplicate_tool_names_do_not_build() {
    let twice = add_weather(add_weather(treenail::server!()));
    let error = twice.build().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("two tools have the name `weather.forecast`"),
        "{error}"
    );
}

#[tokio::test]
async fn results_match_the_declared_schemas() {
    let calls = [
        ("weather.forecast", json!({"city": "Oslo"})),
        ("add", json!({"a": 1, "b": 2})),
        ("list_of_numbers", json!({"count": 3})),
        ("fails", json!({})),
    ];
    for revision in covering("SRV-TOOL-12, ALL-JSCH-11") {
        let server = server();
        let tools = tools(&server, revision).await;
        let mut peer = Peer::connect(&server, revision).await;
        for (name, arguments) in &calls {
            let tool = named(&tools, name);
            assert!(validator(&tool["inputSchema"]).is_valid(arguments));
            let result = peer.call(name, arguments.clone()).await;
            if let Some(schema) = tool.get("outputSchema") {
                assert!(
                    validator(schema).is_valid(&result["structuredContent"]),
                    "{schema} {result}"
                );
            }
        }
    }
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap()
}
