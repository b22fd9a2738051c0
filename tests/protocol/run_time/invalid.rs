//! Errors of servers with invalid features that are made at run time.

use serde_json::{Value, json};
use treenail::dynamic::{Feature, Fold, Prompt, Resource, ResourceTemplate, Tool};
use treenail::schema::PromptArgument;

use crate::support::peer::{MODERN, Peer};

#[test]
fn invalid_features_do_not_build() {
    fn tool(schema: Value) -> Feature {
        Tool::new("a").input(schema).handler(|_, _| async {})
    }
    let object = |name: &str, schema: Value| {
        let mut object = json!({"type": "object"});
        object[name] = schema;
        object
    };
    let mut deep = json!({});
    for _ in 0..600 {
        deep = json!({ "not": deep });
    }
    let outside = json!({"a": {"$ref": "https://example.com/schema"}});
    let header = json!({"a": {"type": "array", "x-mcp-header": "A"}});
    let one = |_, _| async { "one" };
    let cases: Vec<(Feature, &str)> = vec![
        (
            tool(json!([])),
            "tool `x.a`: its input schema is not an object",
        ),
        (
            tool(json!({})),
            "tool `x.a`: its input schema lacks `\"type\": \"object\"`",
        ),
        (
            tool(object("properties", outside)),
            "tool `x.a`: its input schema is rejected: ",
        ),
        (
            tool(object("required", json!(3))),
            "tool `x.a`: its input schema is rejected: at `/required`, value is not of type",
        ),
        (
            tool(object(
                "properties",
                json!({"n": {"exclusiveMinimum": true}}),
            )),
            "tool `x.a`: its input schema is rejected: at `/properties/n/exclusiveMinimum`, value",
        ),
        (
            tool(object("properties", json!({"a/b": {"type": "int"}}))),
            "tool `x.a`: its input schema is rejected: at `/properties/a~1b/type`, value",
        ),
        (
            tool(object("not", deep)),
            "tool `x.a`: its input schema is rejected: ",
        ),
        (
            tool(object("properties", json!({"a": {"pattern": "("}}))),
            "tool `x.a`: its input schema is rejected: ",
        ),
        (
            tool(object("properties", header)),
            "tool `x.a`: `x-mcp-header` = `A` requires",
        ),
        (
            Tool::new("a").output(json!(1)).handler(|_, _| async {}),
            "tool `x.a`: its output schema is not an object",
        ),
        (
            Tool::new("a").max_concurrency(0).handler(|_, _| async {}),
            "tool `x.a`: its `max_concurrency` is 0",
        ),
        (
            Tool::new("a b").handler(|_, _| async {}),
            "the tool name `x.a b` has characters",
        ),
        (
            Tool::new("").handler(|_, _| async {}),
            "the tool name `x.` has an empty part",
        ),
        (
            Tool::new("a").scope("a\nb").handler(|_, _| async {}),
            "the scopes of the tool `x.a`: ",
        ),
        (
            Prompt::new("a")
                .argument(PromptArgument::new("city"))
                .complete("citty", |_| [""])
                .handler(|_, _| async { "" }),
            "prompt `x.a`: there is no argument `citty` to complete; did you mean `city`?",
        ),
        (
            Resource::new("no scheme", "a").handler(one),
            "resource `x.a`: `no scheme` is not a URI",
        ),
        (
            Resource::new("a://b", "a\nb").handler(one),
            "the resource name `x.a\\nb` has a control character",
        ),
        (
            ResourceTemplate::new("a://b", "a").handler(one),
            "resource `x.a`: its URI has no variable",
        ),
        (
            ResourceTemplate::new("a://{?b}", "a").handler(one),
            "resource `x.a`: its URI contains `{?b}`",
        ),
    ];
    for (feature, expected) in cases {
        let built = treenail::server!()
            .namespace("x", |x| x.add(feature))
            .build();
        let error = built.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

#[test]
fn a_declared_output_that_the_items_of_a_stream_cannot_have_does_not_build() {
    let text = json!({"type": "string"});
    let texts = json!({"type": ["array", "null"]});
    for (output, fold, problem) in [
        (&text, None, Some("an array of all items")),
        (&text, Some(Fold::Concat), None),
        (&text, Some(Fold::Last), None),
        (&texts, None, None),
        (&texts, Some(Fold::Concat), Some("one text of all items")),
        (&json!({"anyOf": [text, texts]}), None, None),
    ] {
        let mut tool = Tool::new("a").output(output.clone());
        if let Some(fold) = fold {
            tool = tool.fold(fold);
        }
        let tool = tool.stream(|_, _| tokio_stream::iter(["h", "i"]));
        let built = treenail::server!().add(tool).build();
        let expected = problem.map(|problem| {
            format!(
                "tool `a`: its output schema does not allow {problem} of its stream; choose another `Tool::fold`, such as \
                 `Fold::Concat` for the parts of a string"
            )
        });
        assert_eq!(built.err().map(|error| error.to_string()), expected);
    }
}

#[tokio::test]
async fn resources_and_templates_may_have_any_name() {
    const NAME: &str = "Page: über uns / 1";
    let one = |_, _| async { "one" };
    let resource = Resource::new("a://b", NAME).handler(one);
    let template = ResourceTemplate::new("c://{d}", NAME).handler(one);
    let server = treenail::server!().namespace("x", |x| x.add([resource, template]));
    let mut peer = Peer::connect(&server.build().unwrap(), MODERN).await;
    for (method, member) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let list = peer.request(method, json!({})).await["result"][member].take();
        assert_eq!(list[0]["name"], format!("x.{NAME}"));
    }
    peer.read("a://b").await;
}
