//! Schemas: dialects, references and keywords.

use serde_json::json;
use treenail::schema::Tool;

use super::outcome;

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
