//! Results of tools, prompts, completions and resources.

use serde_json::{Value, json};
use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::{
    CompleteRequestParams, CompletionArgument, CompletionContext, CompletionReference,
    PromptReference, ResourceTemplateReference,
};

use super::{Connect, client};
use crate::results::text;

pub(super) async fn tools_return_results(connect: Connect<'_>) {
    #[mcp_type]
    struct Sum {
        a: f64,
        b: f64,
    }

    let client = client(connect).await;
    let echoed = client.call_tool("echo", json!({"message": "Grüße\n\u{1}"}));
    assert_eq!(text(&echoed.await.unwrap()), "Echo: Grüße\n\u{1}");
    let sum = client.call_tool("get-sum", Sum { a: 0.5, b: 2.0 });
    assert_eq!(text(&sum.await.unwrap()), "The sum of 0.5 and 2 is 2.5.");
    let env: Value = client.call_tool_as("get-env", ()).await.unwrap();
    assert!(env["PATH"].is_string());

    let image = json!(client.call_tool("get-tiny-image", ()).await.unwrap());
    assert_eq!(image["content"][1]["type"], "image");
    assert_eq!(image["content"][1]["mimeType"], "image/png");
    let data = image["content"][1]["data"].as_str().unwrap();
    assert!(data.starts_with("iVBORw0KGgo"));

    let kinds = [
        ("error", json!(1), json!(["user", "assistant"])),
        ("success", json!(0.7), json!(["user"])),
        ("debug", json!(0.3), json!(["assistant"])),
    ];
    for (kind, priority, audience) in kinds {
        let arguments = json!({"messageType": kind, "includeImage": true});
        let result = client.call_tool("get-annotated-message", arguments);
        let content = json!(result.await.unwrap())["content"].take();
        let annotations = &content[0]["annotations"];
        assert_eq!(
            *annotations,
            json!({"priority": priority, "audience": audience})
        );
        let annotations = &content[1]["annotations"];
        assert_eq!(*annotations, json!({"priority": 0.5, "audience": ["user"]}));
    }
    client.close().await.unwrap();
}

pub(super) async fn structured_content_is_typed(connect: Connect<'_>) {
    #[mcp_type]
    #[derive(Debug, PartialEq)]
    struct Weather {
        temperature: f64,
        conditions: String,
        humidity: f64,
    }

    let client = client(connect).await;
    let chicago = json!({"location": "Chicago"});
    let weather: Weather = client
        .call_tool_as("get-structured-content", &chicago)
        .await
        .unwrap();
    let expected = Weather {
        temperature: 36.0,
        conditions: "Light rain / drizzle".to_owned(),
        humidity: 82.0,
    };
    assert_eq!(weather, expected);
    client.close().await.unwrap();
}

pub(super) async fn resources_are_linked_and_embedded(connect: Connect<'_>) {
    let client = client(connect).await;
    let links = client.call_tool("get-resource-links", json!({"count": 2}));
    let links = json!(links.await.unwrap())["content"].take();
    assert_eq!(links.as_array().unwrap().len(), 3);
    for (number, kind) in [(1, "blob"), (2, "text")] {
        let link = &links[number];
        assert_eq!(link["type"], "resource_link");
        let uri = format!("demo://resource/dynamic/{kind}/{number}");
        assert_eq!(link["uri"], uri);
        let read = client.read_resource(&uri).await.unwrap();
        assert!(json!(read.contents[0])[kind].is_string());
    }
    for (kind, member) in [("Text", "text"), ("Blob", "blob")] {
        let arguments = json!({"resourceType": kind, "resourceId": 7});
        let result = client.call_tool("get-resource-reference", arguments);
        let content = json!(result.await.unwrap())["content"].take();
        assert_eq!(content[1]["type"], "resource");
        let resource = &content[1]["resource"];
        assert_eq!(
            resource["uri"],
            format!("demo://resource/dynamic/{member}/7")
        );
        assert!(resource[member].is_string());
    }
    client.close().await.unwrap();
}

pub(super) async fn invalid_calls_have_distinct_errors(connect: Connect<'_>) {
    let client = client(connect).await;
    let failed = client
        .call_tool("get-sum", json!({"a": "x"}))
        .await
        .unwrap();
    assert_eq!(failed.is_error, Some(true));
    let failed = client.call_tool_as::<f64>("get-sum", json!({"a": "x"}));
    assert!(matches!(failed.await.unwrap_err(), ClientError::Tool(_)));
    let failed = client.call_tool("no-such-tool", ()).await.unwrap();
    assert!(
        text(&failed).contains("no-such-tool"),
        "the message names the tool"
    );
    assert_eq!(failed.is_error, Some(true));
    let error = client.call_tool("get-sum", [1, 2]).await.unwrap_err();
    assert!(matches!(error, ClientError::Invalid(_)), "{error}");
    let error = client.get_prompt("no-such-prompt", ()).await.unwrap_err();
    assert_eq!(error.as_refused().unwrap().code, -32602);
    let error = client.read_resource("demo://nothing").await.unwrap_err();
    assert_eq!(error.as_refused().unwrap().code, -32602, "{error}");
    let other: Value = client
        .call_tool_as("get-env", ())
        .await
        .expect("the session continues after errors");
    assert!(other.is_object());
    client.close().await.unwrap();
}

pub(super) async fn prompts_return_messages(connect: Connect<'_>) {
    let client = client(connect).await;
    let simple = client.get_prompt("simple-prompt", ()).await.unwrap();
    let message = simple.messages[0].content.as_text().unwrap();
    assert_eq!(message, "This is a simple prompt without arguments.");
    let arguments = [
        (json!({"city": "Oslo"}), "What's weather in Oslo?"),
        (
            json!({"city": "Salem", "state": "Oregon"}),
            "What's weather in Salem, Oregon?",
        ),
    ];
    for (arguments, expected) in arguments {
        let prompt = client.get_prompt("args-prompt", arguments).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some(expected));
    }
    let error = client.get_prompt("args-prompt", ()).await.unwrap_err();
    assert_eq!(error.as_refused().unwrap().code, -32602);
    for (kind, member) in [("Text", "text"), ("Blob", "blob")] {
        let arguments = json!({"resourceType": kind, "resourceId": "3"});
        let prompt = client.get_prompt("resource-prompt", arguments);
        let prompt = json!(prompt.await.unwrap());
        let content = &prompt["messages"][1]["content"];
        assert_eq!(content["type"], "resource");
        assert!(content["resource"][member].is_string());
    }
    client.close().await.unwrap();
}

pub(super) async fn arguments_are_completed(connect: Connect<'_>) {
    let client = client(connect).await;
    let prompt: CompletionReference = PromptReference::new("completable-prompt").into();
    let sales =
        CompletionContext::new().with_arguments([("department".to_owned(), "Sales".to_owned())]);
    let template = "demo://resource/dynamic/text/{resourceId}";
    let template: CompletionReference = ResourceTemplateReference::new(template).into();
    let cases = [
        (&prompt, "department", "S", None, &["Sales", "Support"][..]),
        (&prompt, "name", "", Some(sales), &["David", "Eve", "Frank"]),
        (&prompt, "name", "", None, &[]),
        (&template, "resourceId", "12", None, &["12"]),
        (&template, "resourceId", "x", None, &[]),
    ];
    for (reference, name, typed, context, expected) in cases {
        let argument = CompletionArgument::new(name, typed);
        let mut params = CompleteRequestParams::new(reference.clone(), argument);
        params.context = context;
        let completed = client.session().completion_complete(&params).await;
        assert_eq!(completed.unwrap().completion.values, expected, "{name}");
    }
    client.close().await.unwrap();
}

pub(super) async fn resources_are_read(connect: Connect<'_>) {
    let client = client(connect).await;
    let uri = "demo://resource/static/document/instructions.md";
    let read = client.read_resource(uri).await.unwrap();
    let read = json!(read.contents[0]);
    assert_eq!(read["mimeType"], "text/markdown");
    assert_eq!(read["text"], client.session().instructions().unwrap());
    let cases = [("Text", "text"), ("Blob", "blob")];
    for (name, member) in cases {
        let name = format!("Dynamic {name} Resource");
        let template = client.url_template(&name).await.unwrap().unwrap();
        let uri = template.expand(json!({"resourceId": 42})).unwrap();
        let read = client.read_resource(&uri).await.unwrap();
        assert_eq!(read.contents[0].uri(), uri);
        assert!(json!(read.contents[0])[member].is_string());
    }
    client.close().await.unwrap();
}
