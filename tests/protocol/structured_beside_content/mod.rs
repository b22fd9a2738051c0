//! Outputs with a typed value and content of their own, in each revision.

mod copies;
mod servers;

use serde_json::{Value, json};
use tower::layer::layer_fn;
use treenail::dynamic;
use treenail::layer::{BoxError, Request, RequestService, Response};
use treenail::prelude::*;
use treenail::schema::{CallToolResult, Revision};
use treenail::tool::{Structured, WrapResults};

use self::servers::{Forecast, Station, Twins};
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, text};

fn server(wrap: WrapResults) -> Server {
    let builder = treenail::server!().mount(Station).wrap_results(wrap);
    builder.build().unwrap()
}

/// A server whose layer reads each result and writes it again.
fn layered(wrap: WrapResults) -> Server {
    let layer = layer_fn(|inner: RequestService| {
        tower::service_fn(move |call: Request| {
            let mut inner = inner.clone();
            async move {
                let response: Response = tower::Service::call(&mut inner, call).await?;
                Ok::<_, BoxError>(match response.result::<CallToolResult>() {
                    Some(result) => result.into(),
                    None => response,
                })
            }
        })
    });
    let builder = treenail::server!().mount(Station).wrap_results(wrap);
    builder.layer(layer).build().unwrap()
}

/// Form of a value in structured content.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Object,
    /// No object, of a type that allows only such values.
    Other,
    /// No object, of a type that allows all values.
    Any,
}

/// Returns the structured content for a peer, and whether it is wrapped.
fn expected(
    value: &Value,
    form: Form,
    revision: Revision,
    wrap: WrapResults,
) -> (Option<Value>, bool) {
    let bare = revision.is_modern() && wrap != WrapResults::Always;
    match form {
        _ if revision < Revision::V2025_06_18 => (None, false),
        Form::Object => (Some(value.clone()), false),
        _ if bare => (Some(value.clone()), false),
        Form::Other if wrap != WrapResults::Never => (Some(json!({ "result": value })), true),
        Form::Other | Form::Any => (None, false),
    }
}

async fn check(server: &Server, revision: Revision, wrap: WrapResults) {
    let forecast = || json!({"celsius": 21.0});
    let table = [
        ("forecast", json!({}), "Sunny", forecast(), Form::Object),
        ("hours", json!({}), "Two hours", json!([1, 2]), Form::Other),
        (
            "motto",
            json!({}),
            "Two lines",
            json!("one\ntwo"),
            Form::Other,
        ),
        (
            "anything",
            json!({"object": true}),
            "Anything",
            json!({"a": 1}),
            Form::Object,
        ),
        (
            "anything",
            json!({"object": false}),
            "Anything",
            json!(1),
            Form::Any,
        ),
        (
            "perhaps",
            json!({"celsius": 21}),
            "Perhaps",
            forecast(),
            Form::Other,
        ),
        ("perhaps", json!({}), "null", Value::Null, Form::Other),
    ];
    let mut peer = Peer::connect(server, revision).await;
    let listed = peer.request("tools/list", json!({})).await["result"]["tools"].take();
    for (name, arguments, own, value, form) in table {
        let place = format!("{name} in {revision}, {wrap:?}");
        let result = peer.call(name, arguments).await;
        let (content, wrapped) = expected(&value, form, revision, wrap);
        assert_eq!(result.get("structuredContent"), content.as_ref(), "{place}");
        assert_eq!(text(&result), own, "{place}");
        let blocks = result["content"].as_array().unwrap();
        let has_copy = own != "null" && !value.is_object() && content.is_some() && !wrapped;
        let count = if name == "forecast" { 3 } else { 1 } + usize::from(has_copy);
        assert_eq!(blocks.len(), count, "{place}");
        if has_copy {
            let copy = json!({"type": "text", "text": value.to_string()});
            assert_eq!(blocks.last(), Some(&copy), "SRV-TOOL-14 {place}");
        }
        let meta = &result["_meta"];
        assert_eq!(meta["fastmcp"]["wrap_result"] == true, wrapped, "{place}");
        let has_meta = ["forecast", "hours"].contains(&name);
        assert_eq!(meta["com.example/zoom"] == 3, has_meta, "{place}");
        let info = meta.get("io.modelcontextprotocol/serverInfo");
        assert_eq!(info.is_some(), revision.is_modern(), "{place}");
        let mut tools = listed.as_array().unwrap().iter();
        let tool = tools.find(|tool| tool["name"] == name).unwrap();
        let schema = tool.get("outputSchema");
        assert!(
            !tool.to_string().contains("x-treenail"),
            "marks are not sent"
        );
        match schema {
            Some(schema) => {
                let found = &result["structuredContent"];
                assert!(jsonschema::is_valid(schema, found), "{place}: {schema}");
            }
            None => assert!(content.is_none() || name == "anything", "{place}"),
        }
    }
}

#[tokio::test]
async fn own_content_is_beside_the_value() {
    for revision in covering("SRV-TOOL-09, SRV-TOOL-12, SRV-TOOL-14, SRV-BASE-03") {
        for wrap in [WrapResults::Legacy, WrapResults::Never, WrapResults::Always] {
            check(&server(wrap), revision, wrap).await;
        }
    }
}

#[tokio::test]
async fn layers_preserve_own_content() {
    for wrap in [WrapResults::Legacy, WrapResults::Never, WrapResults::Always] {
        for revision in Revision::ALL {
            check(&layered(wrap), revision, wrap).await;
        }
    }
}

#[tokio::test]
async fn own_content_of_a_later_revision_becomes_text() {
    for revision in covering("SRV-TOOL-10") {
        let mut peer = Peer::connect(&server(WrapResults::default()), revision).await;
        let result = peer.call("forecast", json!({})).await;
        let blocks = result["content"].as_array().unwrap();
        let kinds: Vec<_> = blocks.iter().map(|it| it["type"].as_str()).collect();
        let expected = match revision {
            Revision::V2024_11_05 => ["text", "text", "text"],
            Revision::V2025_03_26 => ["text", "audio", "text"],
            _ => ["text", "audio", "resource_link"],
        };
        assert_eq!(kinds, expected.map(Some), "{revision}");
    }
}

#[tokio::test]
async fn without_content_of_its_own_it_is_the_value_itself() {
    for revision in covering("SRV-TOOL-13, SRV-TOOL-14") {
        for wrap in [WrapResults::Legacy, WrapResults::Never, WrapResults::Always] {
            let builder = treenail::server!().mount(Twins).wrap_results(wrap);
            let server = builder.build().unwrap();
            let mut peer = Peer::connect(&server, revision).await;
            let mut listed = peer.request("tools/list", json!({})).await["result"]["tools"].take();
            let mut schema = |name: &str| {
                let mut tools = listed.as_array_mut().unwrap().iter_mut();
                let tool = tools.find(|tool| tool["name"] == name).unwrap();
                tool["outputSchema"].take()
            };
            for name in ["forecast", "hours", "anything", "perhaps"] {
                let itself = format!("{name}_itself");
                assert_eq!(schema(name), schema(&itself), "{name} in {revision}");
                let found = peer.call(name, json!({})).await;
                let expected = peer.call(&itself, json!({})).await;
                assert_eq!(found, expected, "{name} in {revision}, {wrap:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_plain_string_is_structured_with_a_schema() {
    let mut peer = Peer::connect(&server(WrapResults::default()), MODERN).await;
    let listed = peer.request("tools/list", json!({})).await["result"]["tools"].take();
    let mut tools = listed.as_array().unwrap().iter();
    let tool = tools.find(|tool| tool["name"] == "motto").unwrap();
    assert_eq!(tool["outputSchema"], json!({"type": "string"}));
    let result = peer.call("motto", json!({})).await;
    assert_eq!(result["structuredContent"], "one\ntwo");
}

#[tokio::test]
async fn failures_have_no_structured_content() {
    let table = [
        ("fails", "the station does not answer"),
        ("unwritable", "could not be written as JSON"),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(WrapResults::default()), revision).await;
        for (name, reason) in table {
            let result = peer.call(name, json!({})).await;
            assert_eq!(result["isError"], true, "{name} in {revision}");
            assert_eq!(result.get("structuredContent"), None, "{name}");
            assert!(text(&result).contains(reason), "{name}: {result}");
        }
    }
}

#[cfg(debug_assertions)]
#[tokio::test]
async fn a_value_outside_of_its_schema_is_a_failure_in_debug_builds() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(WrapResults::default()), revision).await;
        for tool in ["forecast", "perhaps"] {
            let result = peer.call(tool, json!({"celsius": 60})).await;
            // Older revisions have no structured content, and so no schema for it.
            let fails = revision >= Revision::V2025_06_18;
            assert_eq!(result["isError"] == true, fails, "{tool} in {revision}");
        }
    }
}

#[tokio::test]
async fn handlers_of_tools_made_at_run_time_return_it() {
    let typed = dynamic::Tool::new("typed")
        .handler(|_, _| async { Structured::new(Forecast { celsius: 21.0 }).with_text("Sunny") });
    let schema = json!({"type": "object", "required": ["celsius"]});
    let declared = dynamic::Tool::new("declared")
        .output(schema.clone())
        .blocking(|_, _| Structured::new(json!({"celsius": 21.0})).with_text("Sunny"));
    let builder = treenail::server!().add(typed).add(declared);
    let mut peer = Peer::connect(&builder.build().unwrap(), MODERN).await;
    let listed = peer.request("tools/list", json!({})).await["result"]["tools"].take();
    assert_eq!(
        listed[0]["outputSchema"]["properties"]["celsius"]["maximum"],
        50.0
    );
    assert_eq!(listed[1]["outputSchema"], schema);
    for tool in ["typed", "declared"] {
        let result = peer.call(tool, json!({})).await;
        assert_eq!(
            result["structuredContent"],
            json!({"celsius": 21.0}),
            "{tool}"
        );
        assert_eq!(text(&result), "Sunny", "{tool}");
    }
}
