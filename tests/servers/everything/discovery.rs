//! Server information, revisions and lists.

use serde_json::json;
use treenail::client::{ClientError, Contract};
use treenail::schema::{ElicitAction, ElicitResult, Revision, Root};

use super::{Connect, client};
use crate::results::text;

/// Tools that are listed for every client.
const TOOLS: [&str; 12] = [
    "echo",
    "get-annotated-message",
    "get-env",
    "get-resource-links",
    "get-resource-reference",
    "get-structured-content",
    "get-sum",
    "get-tiny-image",
    "gzip-file-as-resource",
    "toggle-simulated-logging",
    "toggle-subscriber-updates",
    "trigger-long-running-operation",
];

pub(super) async fn server_info_is_received(connect: Connect<'_>) {
    let client = client(connect).await;
    let session = client.session();
    assert_eq!(session.protocol_version(), Revision::V2025_11_25);
    let info = session.server_info().unwrap();
    assert_eq!(info.name, "mcp-servers/everything");
    assert_eq!(info.title.as_deref(), Some("Everything Reference Server"));
    assert!(session.instructions().unwrap().contains("Everything"));
    let capabilities = json!(session.server_capabilities());
    assert_eq!(capabilities["tools"], json!({"listChanged": true}));
    assert_eq!(
        capabilities["resources"],
        json!({"subscribe": true, "listChanged": true})
    );
    assert_eq!(capabilities["logging"], json!({}));
    assert_eq!(capabilities["completions"], json!({}));
    session.ping().await.unwrap();
    client.close().await.unwrap();
}

pub(super) async fn every_legacy_revision_is_negotiated(connect: Connect<'_>) {
    for revision in Revision::ALL {
        let connecting = connect().protocol_version(revision).build();
        if revision.is_modern() {
            let error = connecting.await.unwrap_err();
            assert!(
                matches!(error, ClientError::Unsupported(_)),
                "CLI-ERA-14: {error}"
            );
            continue;
        }
        let client = connecting.await.unwrap();
        assert_eq!(client.session().protocol_version(), revision);
        let echoed = client.call_tool("echo", json!({"message": "ahoi"})).await;
        assert_eq!(text(&echoed.unwrap()), "Echo: ahoi", "{revision}");
        client.close().await.unwrap();
    }
    let known = connect().prefer_version(Revision::V2025_06_18);
    let client = known.build().await.unwrap();
    let version = client.session().protocol_version();
    assert_eq!(version, Revision::V2025_06_18, "CLI-ERA-13");
}

pub(super) async fn tools_prompts_and_resources_are_listed(connect: Connect<'_>) {
    let client = client(connect).await;
    let tools = client.tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names[..12], TOOLS);
    let echo = client.tool("echo").await.unwrap().unwrap();
    let echo = json!(*echo);
    assert_eq!(echo["title"], "Echo Tool");
    assert_eq!(echo["annotations"]["readOnlyHint"], true);
    assert_eq!(echo["annotations"]["openWorldHint"], false);
    assert_eq!(
        echo["inputSchema"]["properties"]["message"]["type"],
        "string"
    );
    let weather = client.tool("get-structured-content").await.unwrap();
    let weather = json!(*weather.unwrap());
    let humidity = &weather["outputSchema"]["properties"]["humidity"];
    assert_eq!(humidity["type"], "number");

    let prompts = client.prompts().await.unwrap();
    let names: Vec<_> = prompts.iter().map(|prompt| &*prompt.name).collect();
    assert_eq!(
        names,
        [
            "simple-prompt",
            "args-prompt",
            "completable-prompt",
            "resource-prompt"
        ]
    );
    let args = json!(*prompts[1]);
    assert_eq!(
        args["arguments"],
        json!([
            {"name": "city", "description": "Name of the city", "required": true},
            {"name": "state", "required": false},
        ])
    );

    let resources = client.resources().await.unwrap();
    assert_eq!(resources.len(), 7);
    let uri = "demo://resource/static/document/features.md";
    let features = client.resource(uri).await.unwrap().unwrap();
    assert_eq!(features.mime_type.as_deref(), Some("text/markdown"));

    let templates = client.url_templates().await.unwrap();
    let uris: Vec<_> = templates
        .iter()
        .map(|template| &*template.listed().uri_template)
        .collect();
    assert_eq!(
        uris,
        [
            "demo://resource/dynamic/text/{resourceId}",
            "demo://resource/dynamic/blob/{resourceId}"
        ]
    );
    client.refresh_all().await.unwrap();
    client.close().await.unwrap();
}

pub(super) async fn tools_depend_on_client_capabilities(connect: Connect<'_>) {
    let client = client(connect).await;
    let tools = [
        "trigger-elicitation-request",
        "trigger-url-elicitation",
        "trigger-sampling-request",
        "get-roots-list",
    ];
    for name in tools {
        assert!(client.tool(name).await.unwrap().is_none(), "{name}");
    }
    let client = connect()
        .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Cancel)) })
        .on_sample(|_| async { unreachable!("this test calls no tool") })
        .roots([Root::new("file:///work")])
        .build()
        .await
        .unwrap();
    for name in tools {
        assert!(client.tool(name).await.unwrap().is_some(), "{name}");
    }
    client.close().await.unwrap();
}

pub(super) async fn contracts_are_byte_identical(connect: Connect<'_>) {
    let (one, other) = (client(connect).await, client(connect).await);
    let recorded = one.contract_with_resources().await.unwrap();
    for name in TOOLS {
        assert!(recorded.tool(name).is_some(), "{name}");
    }
    let text = recorded.to_json();
    assert_eq!(
        other.contract_with_resources().await.unwrap().to_json(),
        text
    );
    let read = Contract::from_json(&text).unwrap();
    assert_eq!(read, recorded);
    assert!(other.check(&read).await.unwrap().is_empty());
}
