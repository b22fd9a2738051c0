//! Structured content: presence by output type and revision, and conformance to the output schema.

use serde_json::{Value, json};
use tower::layer::layer_fn;
use treenail::Server;
use treenail::layer::{BoxError, Request, RequestService, Response};
use treenail::schema::{CallToolResult, Revision};
use treenail::tool::WrapResults;

use super::shapes::{add_result, add_shapes};
use crate::support::peer::{MODERN, Peer, text};

/// Kind of structured content of an output.
#[derive(Clone, Debug)]
enum Content {
    /// Always an object, with a schema.
    Object(Value),
    /// An output whose type allows any value.
    Any(Value),
    /// Any other value, with a schema.
    Value(Value),
    None,
}

fn table() -> Vec<(&'static str, Content)> {
    use Content::{Any, None, Object, Value};

    let point = || json!({"x": 1});
    let tree = || json!({"point": {"x": 1}, "under": []});
    vec![
        ("record", Object(point())),
        (
            "tree",
            Object(json!({"point": {"x": 1}, "under": [tree()]})),
        ),
        ("tagged", Object(json!({"kind": "Point", "x": 1}))),
        ("other_tag", Object(json!({"kind": "Gone", "reason": "r"}))),
        ("outside", Object(json!({"Point": {"x": 1}}))),
        ("gone", Object(json!({"Gone": {"reason": "r"}}))),
        ("untagged", Object(point())),
        ("reasoned", Object(json!({"reason": "r"}))),
        (
            "flat",
            Object(json!({"name": "n", "kind": "Point", "x": 1})),
        ),
        ("map", Object(json!({"a": 1}))),
        ("boxed", Object(json!({"kind": "Point", "x": 1}))),
        ("single", Object(json!({"result": 1}))),
        ("object", Any(json!({"a": 1}))),
        ("number", Any(json!(1))),
        ("none", Any(json!(null))),
        ("integer", Value(json!(1))),
        ("float", Value(json!(0.5))),
        ("truth", Value(json!(true))),
        ("level", Value(json!("low"))),
        ("list", Value(json!([{"x": 1}]))),
        ("pair", Value(json!([1, "a"]))),
        ("some", Value(point())),
        ("nobody", Value(json!(null))),
        ("trees", Value(json!([tree()]))),
        ("points", Value(json!([{"x": 1}, {"x": 1}]))),
        ("last", Value(json!(2))),
        ("last_of_all", Object(json!({"kind": "Point", "x": 1}))),
        ("last_value", Any(json!(1))),
        ("motto", None),
        ("nothing", None),
    ]
}

fn server(wrap: WrapResults) -> Server {
    let builder = add_shapes(treenail::server!());
    builder.wrap_results(wrap).build().unwrap()
}

/// Calls everything through a layer, which forwards the result or, if it returns results, reads and writes it again.
fn layered(wrap: WrapResults, makes: bool) -> Server {
    let layer = layer_fn(move |inner: RequestService| {
        tower::service_fn(move |call: Request| {
            let mut inner = inner.clone();
            async move {
                let response: Response = tower::Service::call(&mut inner, call).await?;
                Ok::<_, BoxError>(match response.result::<CallToolResult>() {
                    Some(result) if makes => result.into(),
                    _ => response,
                })
            }
        })
    });
    let builder = add_shapes(treenail::server!());
    builder.wrap_results(wrap).layer(layer).build().unwrap()
}

/// Returns the structured content for a peer, and whether it is wrapped.
fn expected(content: &Content, revision: Revision, wrap: WrapResults) -> (Option<Value>, bool) {
    if revision < Revision::V2025_06_18 {
        return (None, false);
    }
    let bare = revision.is_modern() && wrap != WrapResults::Always;
    match content {
        Content::Object(value) => (Some(value.clone()), false),
        Content::Any(value) if bare || value.is_object() => (Some(value.clone()), false),
        Content::Value(value) if bare => (Some(value.clone()), false),
        Content::Value(value) if wrap != WrapResults::Never => {
            (Some(json!({ "result": value })), true)
        }
        _ => (None, false),
    }
}

/// Checks the complete table against the list of tools, and returns the number of results with structured content.
async fn check(server: &Server, revision: Revision, wrap: WrapResults) -> usize {
    let mut peer = Peer::connect(server, revision).await;
    let listed = peer.request("tools/list", json!({})).await["result"]["tools"].take();
    let mut structured = 0;
    for (name, content) in table() {
        let place = format!("{name} in {revision}, {wrap:?}");
        let tools = listed.as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let result = peer.call(name, json!({})).await;
        let (expected, wrapped) = expected(&content, revision, wrap);
        assert_eq!(
            result.get("structuredContent"),
            expected.as_ref(),
            "{place}"
        );
        let mark = &result["_meta"]["fastmcp"]["wrap_result"];
        assert_eq!(*mark == true, wrapped, "{place}");
        let schema = tool.get("outputSchema");
        let marked = schema.is_some_and(|schema| schema["x-fastmcp-wrap-result"] == true);
        assert_eq!(marked, wrapped, "{place}");
        match (schema, &content) {
            (Some(schema), _) => {
                let objects = !revision.is_modern() || wrap == WrapResults::Always;
                assert!(!objects || schema["type"] == "object", "{place}: {schema}");
                let found = &result["structuredContent"];
                assert!(jsonschema::is_valid(schema, found), "{place}: {schema}");
            }
            (None, Content::Object(_)) => assert!(expected.is_none(), "{place}"),
            (None, _) => {}
        }
        if let Content::Object(value) | Content::Any(value) | Content::Value(value) = &content {
            let copy: Value = serde_json::from_str(text(&result)).unwrap();
            assert_eq!(copy, *value, "{place}: the text is that of the value alone");
        }
        structured += usize::from(expected.is_some());
    }
    structured
}

#[tokio::test]
async fn outputs_are_structured_where_the_revision_allows() {
    for wrap in [WrapResults::Legacy, WrapResults::Never, WrapResults::Always] {
        let server = server(wrap);
        for revision in Revision::ALL {
            let structured = check(&server, revision, wrap).await;
            let most = match revision {
                _ if revision < Revision::V2025_06_18 => 0,
                MODERN if wrap != WrapResults::Always => 28,
                _ if wrap == WrapResults::Never => 14,
                // All except values of any type that are not objects.
                _ => 25,
            };
            assert_eq!(structured, most, "{revision}, {wrap:?}");
        }
    }
}

#[tokio::test]
async fn layers_preserve_structured_content() {
    for wrap in [WrapResults::Legacy, WrapResults::Never, WrapResults::Always] {
        for makes in [false, true] {
            let server = layered(wrap, makes);
            for revision in Revision::ALL {
                check(&server, revision, wrap).await;
            }
        }
    }
}

#[tokio::test]
async fn a_stopped_stream_preserves_its_structured_items() {
    let server = server(WrapResults::default());
    for revision in Revision::ALL {
        let result = Peer::connect(&server, revision)
            .await
            .call("breaks", json!({}))
            .await;
        let content = match revision {
            _ if revision < Revision::V2025_06_18 => None,
            MODERN => Some(json!([1])),
            _ => Some(json!({"result": [1]})),
        };
        assert_eq!(
            result.get("structuredContent"),
            content.as_ref(),
            "{revision}"
        );
        assert_eq!(result["isError"], true);
    }
}

#[tokio::test]
async fn complete_results_of_functions_are_not_wrapped() {
    let server = add_result(treenail::server!());
    let server = server.wrap_results(WrapResults::Always).build().unwrap();
    for revision in Revision::ALL {
        let result = Peer::connect(&server, revision)
            .await
            .call("whole", json!({}))
            .await;
        let content = (revision >= Revision::V2025_06_18).then(|| json!({"a": 1}));
        assert_eq!(
            result.get("structuredContent"),
            content.as_ref(),
            "{revision}"
        );
    }
}
