//! Validation of results against the output schemas of tools.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use treenail::client::{ClientError, ClientLimits, McpClientBuilder, ValidationLimits};
use treenail::prelude::*;
use treenail::schema::Tool;

use crate::script::{Received, Reply, discovered, scripted, scripted_with_limits};

/// A server with a tool `t`, which has an output schema and returns `content`.
fn tool_with(schema: Value, content: Value) -> impl FnMut(&Value) -> Reply + Send + 'static {
    move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("tools/list") => {
            let tool = json!({
                "name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema,
            });
            Reply::result(message, &json!({"resultType": "complete", "tools": [tool]}))
        }
        _ => Reply::result(
            message,
            &json!({"resultType": "complete", "content": [], "structuredContent": content}),
        ),
    }
}

async fn client_of(
    reply: impl FnMut(&Value) -> Reply + Send + 'static,
    limits: ClientLimits,
) -> (McpClient, Received) {
    let (session, received) = scripted_with_limits(&limits, reply);
    let builder = McpClient::builder().session(session).limits(limits);
    let client = builder.build().await.unwrap();
    client.tools().await.unwrap();
    (client, received)
}

/// Returns the outcome of a call whose tool has this schema and returns this value.
async fn outcome(schema: &Value, content: &Value) -> Result<(), String> {
    within(schema, content, ClientLimits::default()).await
}

async fn within(schema: &Value, content: &Value, limits: ClientLimits) -> Result<(), String> {
    let (client, received) = client_of(tool_with(schema.clone(), content.clone()), limits).await;
    match client.call_tool("t", ()).await {
        Ok(_) => Ok(()),
        Err(error @ ClientError::Protocol(_)) => {
            let error = error.to_string();
            let was_called = received.methods().contains(&"tools/call".to_owned());
            let is_unusable = error.contains("was not called");
            assert_eq!(
                was_called, !is_unusable,
                "an unusable schema prevents the call: {error}"
            );
            Err(error)
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn cli_tool_04_results_must_match_the_output_schema() {
    let schema = json!({
        "type": "object", "required": ["days"],
        "properties": {"days": {"type": "array", "items": {
            "type": "object", "properties": {"high": {"type": "number", "maximum": 60}},
        }}},
    });
    let matches = json!({"days": [{"high": 12}, {}], "more": 1});
    outcome(&schema, &matches).await.unwrap();
    let secret = "x".repeat(500);
    let cases = [
        (
            json!({"days": [{"high": 1}, {"high": secret}]}),
            "at `/days/1/high`",
        ),
        (json!({"days": [{"high": 99}]}), "at `/days/0/high`"),
        (json!({"other": 1}), "\"days\" is a required property"),
        (json!([]), "object"),
        (Value::Null, "object"),
    ];
    for (content, words) in cases {
        let error = outcome(&schema, &content).await.unwrap_err();
        assert!(
            error.contains("tool `t`") && error.contains(words),
            "{error}"
        );
        assert!(!error.contains("xxx"), "the value is not repeated: {error}");
    }
}

#[tokio::test]
async fn only_a_failure_may_lack_structured_content() {
    let results = [
        (json!({"content": []}), false),
        (json!({"content": [], "isError": true}), true),
        (
            json!({"content": [], "isError": true, "structuredContent": 7}),
            true,
        ),
        (json!({"content": [], "structuredContent": {}}), true),
    ];
    for (mut result, matches) in results {
        result["resultType"] = json!("complete");
        let returned = result.clone();
        let mut list = tool_with(json!({"type": "object"}), json!({}));
        let reply = move |message: &Value| match message["method"].as_str() {
            Some("tools/call") => Reply::result(message, &returned),
            _ => list(message),
        };
        let (client, _) = client_of(reply, ClientLimits::default()).await;
        let called = client.call_tool("t", ()).await;
        assert_eq!(called.is_ok(), matches, "CLI-TOOL-04: {result}");
    }
}

#[tokio::test]
async fn only_listed_tools_are_validated() {
    let reply = tool_with(json!({"type": "object"}), json!([]));
    let (session, received) = scripted(reply);
    let client = McpClient::builder().session(session).build().await.unwrap();
    client.call_tool("t", ()).await.unwrap();
    assert!(
        !received.methods().contains(&"tools/list".to_owned()),
        "nothing is fetched for it"
    );
    client.tools().await.unwrap();
    client.call_tool("t", ()).await.unwrap_err();
    client.call_tool("other", ()).await.unwrap();
}

#[tokio::test]
async fn validation_can_be_disabled() {
    let (session, _) = scripted(tool_with(json!({"$ref": "https://a.example"}), json!([])));
    let builder: McpClientBuilder = McpClient::builder().session(session);
    let client = builder.validate_results(false).build().await.unwrap();
    client.tools().await.unwrap();
    client.call_tool("t", ()).await.unwrap();
}

#[tokio::test]
async fn the_latest_listed_schema_is_used() {
    let schema = Arc::new(Mutex::new(json!({"type": "array"})));
    let listed = Arc::clone(&schema);
    let reply = move |message: &Value| {
        let schema = listed.lock().unwrap().clone();
        tool_with(schema, json!([]))(message)
    };
    let (client, _) = client_of(reply, ClientLimits::default()).await;
    client.call_tool("t", ()).await.unwrap();
    *schema.lock().unwrap() = json!({"type": "object"});
    client.call_tool("t", ()).await.unwrap();
    client.refresh_tools().await.unwrap();
    client.call_tool("t", ()).await.unwrap_err();
    *schema.lock().unwrap() = json!({"type": "array"});
    client.refresh_tools().await.unwrap();
    client.call_tool("t", ()).await.unwrap();
}

#[tokio::test]
async fn all_jsch_01_to_03_schemas_use_their_declared_dialect() {
    let list_of_two = json!([1, "x"]);
    let cases = [
        // `prefixItems` is from 2020-12, lists in `items` are from earlier dialects.
        (json!({"prefixItems": [{}, {"type": "number"}]}), false),
        (
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema",
            "prefixItems": [{}, {"type": "number"}]}),
            false,
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#",
            "prefixItems": [{}, {"type": "number"}]}),
            true,
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#",
            "items": [{}, {"type": "number"}]}),
            false,
        ),
        (
            json!({"$schema": "https://json-schema.org/draft/2019-09/schema",
            "items": [{}, {"type": "number"}]}),
            false,
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-04/schema#",
            "items": [{}, {"type": "number"}]}),
            false,
        ),
    ];
    for (schema, matches) in cases {
        let called = outcome(&schema, &list_of_two).await;
        assert_eq!(
            called.is_ok(),
            matches,
            "ALL-JSCH-01, ALL-JSCH-02: {schema}: {called:?}"
        );
    }
    for dialect in [json!("https://example.com/my-dialect"), json!(7)] {
        let schema = json!({"$schema": dialect, "type": "array"});
        let error = outcome(&schema, &list_of_two).await.unwrap_err();
        assert!(error.contains("was not called"), "ALL-JSCH-03: {error}");
    }
    let schema = json!({"$schema": "https://example.com/my-dialect"});
    let error = outcome(&schema, &json!({})).await.unwrap_err();
    assert!(
        error.contains("the dialect `https://example.com/my-dialect` is not supported; 2020-12"),
        "ALL-JSCH-03, ALL-JSCH-04: {error}"
    );
}

#[tokio::test]
async fn references_within_a_schema_are_resolved() {
    let schema = json!({
        "$id": "https://example.com/tree",
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}, "name": {"$ref": "#text"},
            "size": {"$ref": "#/$defs/a~1b%20c"}, "own": {"$ref": "https://example.com/tree#text"}},
        "$defs": {"a/b c": {"type": "integer"}, "any": {"$anchor": "text", "type": "string"}},
        "additionalProperties": false,
    });
    let matches = json!({"name": "a", "kids": [{"kids": [{"name": "b"}]}], "size": 3, "own": "x"});
    outcome(&schema, &matches).await.unwrap();
    for content in [
        json!({"kids": [{"kids": [{"name": 1}]}]}),
        json!({"size": "3"}),
        json!({"kids": [{"other": 1}]}),
        json!({"own": 1}),
    ] {
        let error = outcome(&schema, &content).await.unwrap_err();
        assert!(!error.contains("was not called"), "{error}");
    }
}

#[tokio::test]
async fn all_jsch_06_to_09_external_references_are_rejected_and_never_fetched() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.json");
    std::fs::write(&file, "{}").unwrap();
    let references = [
        format!("http://127.0.0.1:{port}/schema.json"),
        format!("http://127.0.0.1:{port}/schema.json#/$defs/a"),
        format!("file://{}", file.display()),
        "other.json".to_owned(),
        "//example.com/a".to_owned(),
        "urn:example:a".to_owned(),
        "#/$defs/missing".to_owned(),
        "#missing".to_owned(),
        "https://json-schema.org/draft/2020-12/schema".to_owned(),
    ];
    for reference in references {
        let schemas = [
            json!({"$ref": reference}),
            json!({"$dynamicRef": reference}),
            json!({"properties": {"a": {"items": {"$ref": reference}}}}),
            // The next version of the schema could use an unused reference.
            json!({"$defs": {"unused": {"anyOf": [true, {"$ref": reference}]}}}),
            json!({"properties": {"a": {"$ref": "#/x/y"}}, "x": {"y": {"$ref": reference}}}),
        ];
        for schema in schemas {
            let error = outcome(&schema, &json!({})).await.unwrap_err();
            assert!(
                error.contains("was not called"),
                "ALL-JSCH-09: {schema}: {error}"
            );
        }
    }
    for schema in [
        json!({"$id": "http://127.0.0.1:1/", "properties": {"a": {"$id": "b.json", "$ref": "c.json"}}}),
        json!({"properties": {"a": {"$id": "https://example.com/b", "$ref": "#/x"}}, "x": {}}),
        json!({"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}),
        json!({"$schema": format!("http://127.0.0.1:{port}/meta")}),
    ] {
        let error = outcome(&schema, &json!({})).await.unwrap_err();
        assert!(
            error.contains("was not called"),
            "ALL-JSCH-09: {schema}: {error}"
        );
    }
    let connected = std::future::poll_fn(|context| {
        std::task::Poll::Ready(listener.poll_accept(context).is_ready())
    });
    assert!(!connected.await, "ALL-JSCH-06, ALL-JSCH-07");
}

#[tokio::test]
async fn all_jsch_10_schemas_are_limited() {
    let few = || {
        ClientLimits::default().validation(
            ValidationLimits::default()
                .schema_bytes(3_000)
                .subschemas(40)
                .schema_depth(20)
                .pattern_bytes(100_000),
        )
    };
    let wide = |count: usize| {
        let properties: serde_json::Map<_, _> = (0..count)
            .map(|number| (format!("p{number}"), json!({})))
            .collect();
        json!({"properties": properties})
    };
    let deep = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"items": inner}));
    // Each definition refers to the next one.
    let chain = |length: usize| {
        let definitions: serde_json::Map<_, _> = (0..length)
            .map(|number| {
                (
                    format!("d{number}"),
                    json!({"$ref": format!("#/$defs/d{}", number + 1)}),
                )
            })
            .chain([(format!("d{length}"), json!({}))])
            .collect();
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    };
    let long = json!({"description": "x".repeat(3_000)});
    let large_pattern = json!({"pattern": "(\\w{50}){50}"});
    let broken_pattern = json!({"pattern": "("});
    for (schema, matches) in [
        (wide(39), true),
        (wide(40), false),
        (deep(19), true),
        (deep(20), false),
        (chain(9), true),
        (chain(19), false),
        (long, false),
        (json!({"pattern": "^[a-z]+$"}), true),
        (large_pattern, false),
        (broken_pattern, false),
        (json!({"type": "nothing"}), false),
    ] {
        let called = within(&schema, &json!({}), few()).await;
        assert_eq!(called.is_ok(), matches, "ALL-JSCH-10: {called:?} {schema}");
        if let Err(error) = called {
            assert!(error.contains("was not called"), "{error}");
        }
    }
}

#[tokio::test]
async fn all_jsch_10_explosive_schemas_are_rejected_at_once() {
    // Two choices at each level, which lead to the same subschema.
    let again = json!({"properties": {"a": {"$ref": "#"}}});
    let doubling = json!({"anyOf": [again, again, {"required": ["never"]}], "required": ["a"]});
    let deep = (0..60).fold(json!({}), |inner, _| json!({"a": inner}));
    // The same on a single level.
    let levels: serde_json::Map<_, _> = (0..40)
        .map(|number| {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            (format!("d{number}"), json!({"allOf": [next, next]}))
        })
        .chain([("d40".to_owned(), json!({"type": "array"}))])
        .collect();
    let flat = json!({"$ref": "#/$defs/d0", "$defs": levels});
    let circle = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}});
    let looking_again = json!({
        "anyOf": [{"properties": {"a": {"$ref": "#"}}}], "unevaluatedProperties": false,
    });
    let going_back = json!({"items": {"pattern": "^(?=(a+)+b)(a|aa)+$"}});
    let texts = json!(vec!["a".repeat(60); 5_000]);
    for (schema, content) in [
        (doubling, deep.clone()),
        (flat, json!({})),
        (circle, json!({})),
        (looking_again, deep),
        (going_back, texts),
    ] {
        let began = std::time::Instant::now();
        let error = within(
            &schema,
            &content,
            ClientLimits::default().validation(ValidationLimits::default().steps(100_000)),
        )
        .await
        .unwrap_err();
        assert!(
            error.contains("does not match its output schema"),
            "ALL-JSCH-10: {error}"
        );
        assert!(began.elapsed().as_secs() < 5, "ALL-JSCH-10");
    }
}

#[tokio::test]
async fn look_ahead_patterns_are_supported_within_the_limits() {
    let schema = json!({"items": {"pattern": "^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z.]+$"}});
    outcome(&schema, &json!(["a.b@c.d"])).await.unwrap();
    outcome(&schema, &json!(["a..b@c.d"])).await.unwrap_err();
    // It backtracks for each way to split the string. The limit turns this into an error.
    let schema = json!({"pattern": "^(?=(a|aa|aaa)+$)(\\1|a)+b$"});
    outcome(&schema, &json!("a".repeat(40))).await.unwrap_err();
}

#[tokio::test]
async fn the_deepest_allowed_schema_fits_the_stack() {
    let length = ClientLimits::default().validation.schema_depth as usize / 2 - 2;
    let definitions: serde_json::Map<_, _> = (0..length)
        .map(|number| {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            (format!("d{number}"), json!({"allOf": [next]}))
        })
        .chain([(format!("d{length}"), json!({"type": "object"}))])
        .collect();
    let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    outcome(&schema, &json!({})).await.unwrap();
    outcome(&schema, &json!([])).await.unwrap_err();
    let schema = json!({"anyOf": [{"items": {"$ref": "#"}}, false], "type": ["array", "object"]});
    for inner in [json!({}), json!(1)] {
        let deep = (0..110).fold(inner.clone(), |inner, _| json!([inner]));
        let called = outcome(&schema, &deep).await;
        assert_eq!(called.is_ok(), inner.is_object(), "{called:?}");
    }
}

#[test]
fn cli_jsch_01_schemas_retain_all_keywords() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.com/a",
        "type": "object", "title": "T", "x-mine": [null, {"a": 1.5}],
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}], "not": false,
        "if": {"properties": {"a": {"const": 1}}}, "then": {"$ref": "#b"}, "else": true,
        "$defs": {"b": {"$anchor": "b", "minProperties": 2, "default": {"z": 0, "a": 0}}},
        "properties": {"n": {"enum": [null, 1, "x"], "examples": [1e3, 12_345_678_901_234_567_890_u64]}},
        "additionalProperties": {"type": ["string", "null"]}, "dependentSchemas": {"n": {}},
        "patternProperties": {"^x": true}, "unevaluatedProperties": false,
    });
    let listed = json!({"name": "t", "inputSchema": schema, "outputSchema": schema});
    let tool: Tool = serde_json::from_value(listed.clone()).unwrap();
    assert_eq!(serde_json::to_value(&tool).unwrap(), listed, "CLI-JSCH-01");
    let text = serde_json::to_string(&tool.input_schema).unwrap();
    assert_eq!(
        text,
        schema.to_string(),
        "CLI-JSCH-01: the order of the keywords stays too"
    );
}

/// Applies a subschema many times to one value.
fn repeated(subschema: &Value, dialect: &str) -> Value {
    let reference = json!({"$ref": "#/$defs/repeated"});
    json!({"$schema": dialect, "allOf": vec![reference; 200], "$defs": {"repeated": subschema}})
}

const DRAFT_2020_12: &str = "https://json-schema.org/draft/2020-12/schema";
const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";

/// Keywords that visit large parts of a value, each with such a value and its dialect.
fn expensive_keywords() -> Vec<(Value, Value, &'static str)> {
    let numbers: Vec<u32> = (0..4_000).collect();
    let text = "a".repeat(30_000);
    let members: serde_json::Map<_, _> =
        (0..1_000).map(|at| (format!("m{at}"), json!(0))).collect();
    let names: Vec<_> = (0..1_000).map(|at| format!("m{at}")).collect();
    let properties: serde_json::Map<_, _> = (0..1_000)
        .map(|at| (format!("p{at}"), json!(true)))
        .collect();
    vec![
        (json!({"uniqueItems": true}), json!(numbers), DRAFT_2020_12),
        (json!({"minLength": 3}), json!(text), DRAFT_2020_12),
        (json!({"maxLength": 900_000}), json!(text), DRAFT_2020_12),
        (
            json!({"format": "json-pointer"}),
            json!(format!("/{text}")),
            DRAFT_7,
        ),
        (json!({"format": "regex"}), json!(text), DRAFT_7),
        (json!({"contentEncoding": "base64"}), json!(text), DRAFT_7),
        (
            json!({"contentMediaType": "application/json"}),
            json!(format!("\"{text}\"")),
            DRAFT_7,
        ),
        (json!({"const": text}), json!(text), DRAFT_2020_12),
        (json!({"required": names}), json!(members), DRAFT_2020_12),
        (
            json!({"dependentRequired": {"m0": names}}),
            json!(members),
            DRAFT_2020_12,
        ),
        (
            json!({"dependencies": {"m0": names}}),
            json!(members),
            DRAFT_7,
        ),
        (
            json!({"properties": properties}),
            json!({"m0": 0}),
            DRAFT_2020_12,
        ),
        (
            json!({"additionalProperties": true}),
            json!(members),
            DRAFT_2020_12,
        ),
        (
            json!({"unevaluatedProperties": true}),
            json!(members),
            DRAFT_2020_12,
        ),
        (
            json!({"pattern": "(a?){200}b"}),
            json!("a".repeat(2_000)),
            DRAFT_2020_12,
        ),
    ]
}

#[tokio::test]
async fn the_cost_covers_every_keyword() {
    let few = ClientLimits::default().validation(ValidationLimits::default().steps(20_000));
    for (subschema, content, dialect) in expensive_keywords() {
        let words = subschema.to_string();
        let schema = repeated(&subschema, dialect);
        let error = within(&schema, &content, few.clone()).await;
        let error = error.expect_err(&words[..words.len().min(80)]);
        assert!(error.contains("steps"), "{error}");
    }
    // Unvisited parts cost nothing.
    let schema = repeated(&json!({"type": "array"}), DRAFT_2020_12);
    within(&schema, &json!(vec![0; 4_000]), few.clone())
        .await
        .unwrap();
    let schema = repeated(&json!({"type": "object"}), DRAFT_2020_12);
    let members: serde_json::Map<_, _> =
        (0..1_000).map(|at| (format!("m{at}"), json!(0))).collect();
    within(&schema, &json!(members), few).await.unwrap();
}

#[tokio::test]
async fn an_oversized_result_is_not_validated() {
    let content = json!({"text": "x".repeat(5 << 20)});
    let error = outcome(&json!({"type": "object"}), &content)
        .await
        .unwrap_err();
    assert!(error.contains("bytes"), "{error}");
}

/// A schema and a value whose validation takes long, but is within the limits.
fn slow_validation() -> (Value, Value) {
    let schema = json!({"allOf": vec![json!({"items": {"type": "integer", "minimum": 0}}); 10]});
    (schema, json!((0..80_000).collect::<Vec<u32>>()))
}

#[tokio::test]
async fn a_long_validation_does_not_block_other_tasks() {
    let (schema, content) = slow_validation();
    let (client, received) = client_of(tool_with(schema, content), ClientLimits::default()).await;
    let turns = Arc::new(Mutex::new(0_u32));
    let (ticks, ticking) = (Arc::clone(&turns), received.clone());
    tokio::spawn(async move {
        loop {
            if ticking.methods().contains(&"tools/call".to_owned()) {
                *ticks.lock().unwrap() += 1;
            }
            tokio::task::yield_now().await;
        }
    });
    client.call_tool("t", ()).await.unwrap();
    let while_validated = *turns.lock().unwrap();
    // Reading the response yields several times, too.
    assert!(while_validated > 300, "{while_validated} turns");
}

#[tokio::test(start_paused = true)]
async fn a_validation_is_limited_by_the_request_timeout() {
    let (schema, content) = slow_validation();
    let (client, received) = client_of(tool_with(schema, content), ClientLimits::default()).await;
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.call_tool("t", ()).await }
    });
    while !received.methods().contains(&"tools/call".to_owned()) {
        tokio::task::yield_now().await;
    }
    // Reading the response takes a few polls, and the validation takes many more.
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Timeout(_)), "{error}");
}
