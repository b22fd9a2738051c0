//! What tools return, against their output schemas.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use treenail::client::{ClientError, ClientLimits, McpClientBuilder, ValidationLimits};
use treenail::prelude::*;
use treenail::schema::Tool;

use crate::script::{Heard, Say, discovered, scripted, scripted_within};

/// A tool `t` with an output schema, whose calls return `content`.
fn tool_with(schema: Value, content: Value) -> impl FnMut(&Value) -> Say + Send + 'static {
    move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("tools/list") => {
            let tool = json!({
                "name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema,
            });
            Say::result(message, &json!({"resultType": "complete", "tools": [tool]}))
        }
        _ => Say::result(
            message,
            &json!({"resultType": "complete", "content": [], "structuredContent": content}),
        ),
    }
}

async fn client_of(
    say: impl FnMut(&Value) -> Say + Send + 'static,
    limits: ClientLimits,
) -> (McpClient, Heard) {
    let (session, heard) = scripted_within(&limits, say);
    let builder = McpClient::builder().session(session).limits(limits);
    let client = builder.build().await.unwrap();
    client.tools().await.unwrap();
    (client, heard)
}

/// What a call says whose tool has this schema and returns this.
async fn outcome(schema: &Value, content: &Value) -> Result<(), String> {
    within(schema, content, ClientLimits::default()).await
}

async fn within(schema: &Value, content: &Value, limits: ClientLimits) -> Result<(), String> {
    let (client, heard) = client_of(tool_with(schema.clone(), content.clone()), limits).await;
    match client.call_tool("t", ()).await {
        Ok(_) => Ok(()),
        Err(error @ ClientError::Protocol(_)) => {
            let error = error.to_string();
            let was_called = heard.methods().contains(&"tools/call".to_owned());
            let is_unusable = error.contains("was not called");
            assert_eq!(was_called, !is_unusable, "nothing is sent in vain: {error}");
            Err(error)
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn cli_tool_04_results_are_what_their_schema_says() {
    let schema = json!({
        "type": "object", "required": ["days"],
        "properties": {"days": {"type": "array", "items": {
            "type": "object", "properties": {"high": {"type": "number", "maximum": 60}},
        }}},
    });
    let fits = json!({"days": [{"high": 12}, {}], "more": 1});
    outcome(&schema, &fits).await.unwrap();
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
async fn a_result_without_structured_content_does_not_fit_unless_it_tells_of_a_failure() {
    let results = [
        (json!({"content": []}), false),
        (json!({"content": [], "isError": true}), true),
        (
            json!({"content": [], "isError": true, "structuredContent": 7}),
            true,
        ),
        (json!({"content": [], "structuredContent": {}}), true),
    ];
    for (mut result, fits) in results {
        result["resultType"] = json!("complete");
        let returned = result.clone();
        let mut list = tool_with(json!({"type": "object"}), json!({}));
        let say = move |message: &Value| match message["method"].as_str() {
            Some("tools/call") => Say::result(message, &returned),
            _ => list(message),
        };
        let (client, _) = client_of(say, ClientLimits::default()).await;
        let called = client.call_tool("t", ()).await;
        assert_eq!(called.is_ok(), fits, "CLI-TOOL-04: {result}");
    }
}

#[tokio::test]
async fn only_tools_that_were_listed_are_validated() {
    let say = tool_with(json!({"type": "object"}), json!([]));
    let (session, heard) = scripted(say);
    let client = McpClient::builder().session(session).build().await.unwrap();
    client.call_tool("t", ()).await.unwrap();
    assert!(
        !heard.methods().contains(&"tools/list".to_owned()),
        "nothing is fetched for it"
    );
    client.tools().await.unwrap();
    client.call_tool("t", ()).await.unwrap_err();
    client.call_tool("other", ()).await.unwrap();
}

#[tokio::test]
async fn validation_can_be_left_out() {
    let (session, _) = scripted(tool_with(json!({"$ref": "https://a.example"}), json!([])));
    let builder: McpClientBuilder = McpClient::builder().session(session);
    let client = builder.validate_results(false).build().await.unwrap();
    client.tools().await.unwrap();
    client.call_tool("t", ()).await.unwrap();
}

#[tokio::test]
async fn the_schema_that_was_listed_last_counts() {
    let schema = Arc::new(Mutex::new(json!({"type": "array"})));
    let listed = Arc::clone(&schema);
    let say = move |message: &Value| {
        let schema = listed.lock().unwrap().clone();
        tool_with(schema, json!([]))(message)
    };
    let (client, _) = client_of(say, ClientLimits::default()).await;
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
async fn all_jsch_01_to_03_each_schema_is_of_its_dialect() {
    let list_of_two = json!([1, "x"]);
    let cases = [
        // `prefixItems` is of 2020-12, lists in `items` are of what came before.
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
    for (schema, fits) in cases {
        let called = outcome(&schema, &list_of_two).await;
        assert_eq!(
            called.is_ok(),
            fits,
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
async fn references_within_a_schema_are_followed() {
    let schema = json!({
        "$id": "https://example.com/tree",
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}, "name": {"$ref": "#text"},
            "size": {"$ref": "#/$defs/a~1b%20c"}, "own": {"$ref": "https://example.com/tree#text"}},
        "$defs": {"a/b c": {"type": "integer"}, "any": {"$anchor": "text", "type": "string"}},
        "additionalProperties": false,
    });
    let fits = json!({"name": "a", "kids": [{"kids": [{"name": "b"}]}], "size": 3, "own": "x"});
    outcome(&schema, &fits).await.unwrap();
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
async fn all_jsch_06_to_09_nothing_is_fetched_and_what_leads_out_is_refused() {
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
            // What nothing refers to could be referred to by the next one.
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
async fn all_jsch_10_schemas_are_bounded() {
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
    for (schema, fits) in [
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
        assert_eq!(called.is_ok(), fits, "ALL-JSCH-10: {called:?} {schema}");
        if let Err(error) = called {
            assert!(error.contains("was not called"), "{error}");
        }
    }
}

#[tokio::test]
async fn all_jsch_10_what_would_take_for_ever_is_refused_at_once() {
    // Two choices at each level, which lead to the same.
    let again = json!({"properties": {"a": {"$ref": "#"}}});
    let doubling = json!({"anyOf": [again, again, {"required": ["never"]}], "required": ["a"]});
    let deep = (0..60).fold(json!({}), |inner, _| json!({"a": inner}));
    // The same without any level.
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
            error.contains("is not what its output schema says"),
            "ALL-JSCH-10: {error}"
        );
        assert!(began.elapsed().as_secs() < 5, "ALL-JSCH-10");
    }
}

#[tokio::test]
async fn patterns_that_look_ahead_are_understood_within_bounds() {
    let schema = json!({"items": {"pattern": "^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z.]+$"}});
    outcome(&schema, &json!(["a.b@c.d"])).await.unwrap();
    outcome(&schema, &json!(["a..b@c.d"])).await.unwrap_err();
    // It goes back as often as there are ways to cut the text, which is bounded: the answer is an error, and comes.
    let schema = json!({"pattern": "^(?=(a|aa|aaa)+$)(\\1|a)+b$"});
    outcome(&schema, &json!("a".repeat(40))).await.unwrap_err();
}

#[tokio::test]
async fn the_deepest_that_is_allowed_takes_no_more_stack_than_there_is() {
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
fn cli_jsch_01_all_keywords_of_a_schema_stay() {
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
fn often(subschema: &Value, dialect: &str) -> Value {
    let reference = json!({"$ref": "#/$defs/often"});
    json!({"$schema": dialect, "allOf": vec![reference; 200], "$defs": {"often": subschema}})
}

const NEWEST: &str = "https://json-schema.org/draft/2020-12/schema";
const SEVENTH: &str = "http://json-schema.org/draft-07/schema#";

/// Keywords that look at much of a value, each with such a value and its dialect.
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
        (json!({"uniqueItems": true}), json!(numbers), NEWEST),
        (json!({"minLength": 3}), json!(text), NEWEST),
        (json!({"maxLength": 900_000}), json!(text), NEWEST),
        (
            json!({"format": "json-pointer"}),
            json!(format!("/{text}")),
            SEVENTH,
        ),
        (json!({"format": "regex"}), json!(text), SEVENTH),
        (json!({"contentEncoding": "base64"}), json!(text), SEVENTH),
        (
            json!({"contentMediaType": "application/json"}),
            json!(format!("\"{text}\"")),
            SEVENTH,
        ),
        (json!({"const": text}), json!(text), NEWEST),
        (json!({"required": names}), json!(members), NEWEST),
        (
            json!({"dependentRequired": {"m0": names}}),
            json!(members),
            NEWEST,
        ),
        (
            json!({"dependencies": {"m0": names}}),
            json!(members),
            SEVENTH,
        ),
        (json!({"properties": properties}), json!({"m0": 0}), NEWEST),
        (
            json!({"additionalProperties": true}),
            json!(members),
            NEWEST,
        ),
        (
            json!({"unevaluatedProperties": true}),
            json!(members),
            NEWEST,
        ),
        (
            json!({"pattern": "(a?){200}b"}),
            json!("a".repeat(2_000)),
            NEWEST,
        ),
    ]
}

#[tokio::test]
async fn each_keyword_counts_for_as_much_as_it_looks_at() {
    let few = ClientLimits::default().validation(ValidationLimits::default().steps(20_000));
    for (subschema, content, dialect) in expensive_keywords() {
        let words = subschema.to_string();
        let schema = often(&subschema, dialect);
        let error = within(&schema, &content, few.clone()).await;
        let error = error.expect_err(&words[..words.len().min(80)]);
        assert!(error.contains("steps"), "{error}");
    }
    // What is not looked at costs nothing.
    let schema = often(&json!({"type": "array"}), NEWEST);
    within(&schema, &json!(vec![0; 4_000]), few.clone())
        .await
        .unwrap();
    let schema = often(&json!({"type": "object"}), NEWEST);
    let members: serde_json::Map<_, _> =
        (0..1_000).map(|at| (format!("m{at}"), json!(0))).collect();
    within(&schema, &json!(members), few).await.unwrap();
}

#[tokio::test]
async fn a_result_that_is_too_large_is_not_validated() {
    let content = json!({"text": "x".repeat(5 << 20)});
    let error = outcome(&json!({"type": "object"}), &content)
        .await
        .unwrap_err();
    assert!(error.contains("bytes"), "{error}");
}

/// Takes long to validate, but not as long as is allowed.
fn laborious() -> (Value, Value) {
    let schema = json!({"allOf": vec![json!({"items": {"type": "integer", "minimum": 0}}); 10]});
    (schema, json!((0..80_000).collect::<Vec<u32>>()))
}

#[tokio::test]
async fn a_long_validation_does_not_stop_the_other_tasks_of_its_thread() {
    let (schema, content) = laborious();
    let (client, heard) = client_of(tool_with(schema, content), ClientLimits::default()).await;
    let turns = Arc::new(Mutex::new(0_u32));
    let (ticks, ticking) = (Arc::clone(&turns), heard.clone());
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
    // Reading the answer gives way some times as well.
    assert!(while_validated > 300, "{while_validated} turns");
}

#[tokio::test(start_paused = true)]
async fn a_validation_ends_with_the_time_of_its_request() {
    let (schema, content) = laborious();
    let (client, heard) = client_of(tool_with(schema, content), ClientLimits::default()).await;
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.call_tool("t", ()).await }
    });
    while !heard.methods().contains(&"tools/call".to_owned()) {
        tokio::task::yield_now().await;
    }
    // The answer is read in a few turns, and validated in many more.
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Timeout(_)), "{error}");
}
