//! Cached lists and change notifications.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_stream::StreamExt;
use treenail::client::{CacheLimits, ClientError, ClientLimits, ListLimits};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::fixture::server;
use crate::script::{Reply, discovered, scripted, scripted_with_limits};

#[tokio::test]
async fn items_are_found_by_name() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let builder = McpClient::builder().server(&server);
        let client = builder.protocol_version(revision).build().await.unwrap();
        assert_eq!(client.tool("add").await.unwrap().unwrap().name, "add");
        assert!(client.tool("nothing").await.unwrap().is_none());
        assert_eq!(client.tools().await.unwrap().len(), 7);
        assert!(client.prompt("greeting").await.unwrap().is_some());
        assert_eq!(client.prompts().await.unwrap().len(), 1);
        assert!(client.resource("note://today").await.unwrap().is_some());
        assert_eq!(client.resources().await.unwrap().len(), 1);

        let prompt = client
            .get_prompt("greeting", json!({"name": "Berta"}))
            .await
            .unwrap();
        assert_eq!(prompt.messages.len(), 1);
        let template = client.url_template("note").await.unwrap().unwrap();
        let uri = template
            .expand(json!({"city": "São Paulo", "day": 3}))
            .unwrap();
        assert_eq!(uri, "note://S%C3%A3o%20Paulo/3");
        let read = client.read_resource(&uri).await.unwrap();
        let text = serde_json::to_value(&read.contents[0]).unwrap();
        assert_eq!(text["text"], "São Paulo on day 3", "{revision}");

        let sum: i64 = client
            .call_tool_as("add", json!({"a": 2, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum, 4);
        let text: String = client
            .call_tool_as("echo", json!({"text": "7 }"}))
            .await
            .unwrap();
        assert_eq!(text, "7 }");
        let error = client.call_tool_as::<i64>("fail", ()).await.unwrap_err();
        assert_eq!(error.to_string(), "the tool failed: the sea is rough");
        let error = client
            .call_tool_as::<bool>("add", json!({"a": 2, "b": 2}))
            .await;
        assert!(matches!(error, Err(ClientError::Output(_))));
        client.refresh_all().await.unwrap();
        client.close().await.unwrap();
    }
}

/// A modern server whose pages are the results of `page` for each cursor.
fn server_with_pages(
    mut page: impl FnMut(Option<&str>) -> Value + Send + 'static,
) -> impl FnMut(&Value) -> Reply + Send + 'static {
    move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("tools/list") => {
            let mut result = page(message["params"]["cursor"].as_str());
            result["resultType"] = json!("complete");
            Reply::result(message, &result)
        }
        _ => Reply::nothing(),
    }
}

fn tools(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
    json!(names.iter().map(tool).collect::<Vec<_>>())
}

#[tokio::test(start_paused = true)]
async fn a_list_is_cached_while_it_is_fresh() {
    let reply = server_with_pages(
        |_| json!({"tools": tools(&["a"]), "ttlMs": 5_000, "cacheScope": "public"}),
    );
    let (session, received) = scripted(reply);
    let client = McpClient::builder().session(session).build().await.unwrap();
    for _ in 0..3 {
        client.tools().await.unwrap();
    }
    assert_eq!(received.methods().len(), 2, "CLI-CACHE-02: fetched once");
    tokio::time::advance(Duration::from_millis(5_001)).await;
    client.tools().await.unwrap();
    assert_eq!(
        received.methods().len(),
        3,
        "CLI-CACHE-02: stale, and fetched at the next use"
    );
}

#[tokio::test]
async fn a_list_without_a_ttl_is_stale_at_once() {
    let (session, received) = scripted(server_with_pages(|_| json!({"tools": tools(&["a"])})));
    let client = McpClient::builder().session(session).build().await.unwrap();
    client.tools().await.unwrap();
    client.tools().await.unwrap();
    assert_eq!(received.methods().len(), 3, "CLI-CACHE-03");
}

#[tokio::test]
async fn all_pages_are_fetched_within_the_limits() {
    let pages = |cursor: Option<&str>| match cursor {
        None => json!({"tools": tools(&["a", "b"]), "nextCursor": ""}),
        Some("") => json!({"tools": tools(&["c", "a"]), "nextCursor": "x y"}),
        Some(_) => json!({"tools": tools(&["d"])}),
    };
    let (session, received) = scripted(server_with_pages(pages));
    let client = McpClient::builder().session(session).build().await.unwrap();
    let tools_of = |client: &McpClient| client.clone();
    let listed = tools_of(&client).tools().await.unwrap();
    let names: Vec<_> = listed.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(
        names,
        ["a", "b", "c", "d"],
        "CLI-PAGE-04; the second `a` is omitted"
    );
    let cursors: Vec<_> = received
        .all()
        .iter()
        .map(|it| it["params"]["cursor"].clone())
        .collect();
    assert_eq!(
        cursors[1..],
        [Value::Null, json!(""), json!("x y")],
        "CLI-PAGE-02, CLI-PAGE-03"
    );

    for limits in [
        ClientLimits::default().lists(ListLimits::default().pages(3)),
        ClientLimits::default().lists(ListLimits::default().items(100)),
    ] {
        let endless = |_: Option<&str>| json!({"tools": tools(&["a"; 40]), "nextCursor": "more"});
        let (session, _) = scripted(server_with_pages(endless));
        let client = McpClient::builder()
            .session(session)
            .limits(limits)
            .build()
            .await
            .unwrap();
        let error = client.tools().await.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    }
}

#[tokio::test]
async fn a_change_makes_a_list_stale_in_every_era() {
    #[mcp_tool]
    fn late() -> &'static str {
        "here"
    }

    for revision in Revision::ALL {
        let server = Server::builder("changing", "1").dynamic().build().unwrap();
        let builder = McpClient::builder()
            .server(&server)
            .protocol_version(revision);
        let client = builder.auto_refresh(true).build().await.unwrap();
        assert!(client.tools().await.unwrap().is_empty(), "{revision}");
        let mut notifications = client.session().notifications();
        // In the modern era, the subscription must be open before the change.
        client.call_tool("late", ()).await.unwrap_err();
        server.edit(|edit| edit.tools(tools![late])).unwrap();
        let changed = notifications.next().await.unwrap();
        assert!(
            changed.method.ends_with("list_changed"),
            "{revision}: {}",
            changed.method
        );
        assert_eq!(
            client.tools().await.unwrap().len(),
            1,
            "CLI-CACHE-07: {revision}"
        );
    }
}

#[tokio::test]
async fn resources_are_cached_only_with_a_ttl() {
    let (server, observer) = server();
    let client = McpClient::builder().server(&server).build().await.unwrap();
    for _ in 0..2 {
        client.read_resource("note://today").await.unwrap();
    }
    assert_eq!(observer.calls.load(Ordering::SeqCst), 2, "CLI-CACHE-03");

    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::result(
            message,
            &json!({"resultType": "complete", "ttlMs": 60_000, "cacheScope": "private",
                "contents": [{"uri": message["params"]["uri"], "text": "x"}]}),
        ),
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    for uri in ["a://1", "a://1", "a://2", "a://1"] {
        assert_eq!(
            client.read_resource(uri).await.unwrap().contents[0].uri(),
            uri,
            "CLI-CACHE-01"
        );
    }
    assert_eq!(received.methods().len(), 3, "CLI-CACHE-02");
}

#[tokio::test]
async fn the_memory_of_cached_resources_is_limited() {
    let numbers = |count: usize| json!(vec![0; count]);
    for (meta, text, reads) in [
        (numbers(1), "x".repeat(100), 1),
        (numbers(1_000), "x".repeat(100), 2),
        (numbers(1), "x".repeat(20_000), 2),
    ] {
        let limits = ClientLimits::default().cache(CacheLimits::default().bytes(20_000));
        let (session, received) = scripted_with_limits(&limits, move |message| {
            if message["method"] == "server/discover" {
                return discovered(message);
            }
            let result = json!({
                "resultType": "complete", "ttlMs": 60_000, "_meta": {"a.example/x": meta},
                "contents": [{"uri": "a://1", "text": text}],
            });
            Reply::result(message, &result)
        });
        let builder = McpClient::builder().session(session).limits(limits);
        let client = builder.build().await.unwrap();
        for _ in 0..2 {
            client.read_resource("a://1").await.unwrap();
        }
        assert_eq!(received.methods().len(), 1 + reads);
    }
}

/// A server of either era with these capabilities, which responds with `answer` or -32601.
fn server_with_capabilities(
    revision: Revision,
    capabilities: Value,
    mut answer: impl FnMut(&str) -> Option<Value> + Send + 'static,
) -> impl FnMut(&Value) -> Reply + Send + 'static {
    move |message| {
        let method = message["method"].as_str().unwrap_or_default();
        let modern = revision.is_modern();
        let mut result = match method {
            "server/discover" if modern => {
                json!({"supportedVersions": [revision.as_str()], "capabilities": capabilities})
            }
            "initialize" if !modern => json!({
                "protocolVersion": revision.as_str(), "capabilities": capabilities,
                "serverInfo": {"name": "script", "version": "1"},
            }),
            _ if message["id"].is_null() => return Reply::nothing(),
            _ => match answer(method) {
                Some(result) => result,
                None => return Reply::error(message, &json!({"code": -32601, "message": "no"})),
            },
        };
        result["resultType"] = json!("complete");
        Reply::result(message, &result)
    }
}

const ERAS: [Revision; 2] = [Revision::LATEST, Revision::LATEST_LEGACY];

#[tokio::test]
async fn templates_with_one_name_are_distinct() {
    let listed = ["a://{x}", "b://{x}", "a://{x}"];
    let listed = listed.map(|uri| json!({"name": "one", "uriTemplate": uri}));
    let (session, _) = scripted(server_with_capabilities(
        Revision::LATEST,
        json!({"resources": {}}),
        move |method| match method {
            "resources/templates/list" => Some(json!({"resourceTemplates": listed})),
            _ => None,
        },
    ));
    let client = McpClient::builder().session(session).build().await.unwrap();
    let templates = client.url_templates().await.unwrap();
    let uris = templates.iter().map(|it| it.listed().uri_template.as_str());
    assert_eq!(uris.collect::<Vec<_>>(), ["a://{x}", "b://{x}"]);
    let first = client.url_template("one").await.unwrap().unwrap();
    assert_eq!(first.listed().uri_template, "a://{x}");
    assert!(client.url_template("a://{x}").await.unwrap().is_none());
    let contract = client.contract().await.unwrap();
    assert_eq!(contract.resource_templates().len(), 2);
}

#[tokio::test]
async fn an_unimplemented_list_is_empty() {
    for revision in ERAS {
        let capabilities = json!({"tools": {}, "resources": {}});
        let (session, received) = scripted(server_with_capabilities(
            revision,
            capabilities,
            |method| match method {
                "tools/list" => Some(json!({"tools": tools(&["a"])})),
                "resources/list" => Some(json!({"resources": []})),
                _ => None,
            },
        ));
        let client = McpClient::builder().session(session).build().await.unwrap();
        assert_eq!(client.missing_lists(), [""; 0]);
        assert_eq!(client.url_templates().await.unwrap().len(), 0, "{revision}");
        assert_eq!(client.missing_lists(), ["resources/templates/list"]);
        client.url_templates().await.unwrap();
        let asked = received.methods().into_iter();
        let asked = asked.filter(|method| method == "resources/templates/list");
        assert_eq!(asked.count(), 1, "it is not requested again");

        client.refresh_all().await.unwrap();
        let contract = client.contract_with_resources().await.unwrap();
        assert_eq!(contract.tools().len(), 1);
        assert_eq!(contract.resource_templates().len(), 0);
        assert!(client.check(&contract).await.unwrap().is_empty());
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn other_errors_of_a_list_are_errors() {
    let (session, _) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::error(message, &json!({"code": -32603, "message": "broken"})),
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    assert!(client.tools().await.is_err());
    assert!(client.contract().await.is_err());
}

#[tokio::test]
async fn a_server_without_capabilities_gets_one_try() {
    for revision in ERAS {
        let (session, received) = scripted(server_with_capabilities(
            revision,
            json!({}),
            |method| match method {
                "tools/list" => Some(json!({"tools": tools(&["a"]), "ttlMs": 60_000})),
                "tools/call" => Some(json!({"content": [{"type": "text", "text": "done"}]})),
                _ => None,
            },
        ));
        let client = McpClient::builder().session(session).build().await.unwrap();
        assert_eq!(client.tools().await.unwrap().len(), 1, "{revision}");
        client.call_tool("a", ()).await.unwrap();
        assert_eq!(client.prompts().await.unwrap().len(), 0);
        assert_eq!(client.contract().await.unwrap().tools().len(), 1);
        assert!(!received.methods().contains(&"prompts/list".to_owned()));

        // No more than one try.
        let (session, received) = scripted(server_with_capabilities(revision, json!({}), |_| None));
        let client = McpClient::builder().session(session).build().await.unwrap();
        for _ in 0..3 {
            assert_eq!(client.tools().await.unwrap().len(), 0);
        }
        let tries = received.methods().into_iter();
        assert_eq!(tries.filter(|method| method == "tools/list").count(), 1);
        assert_eq!(client.missing_lists(), [""; 0], "it was not declared");

        // A server with other capabilities has no tools.
        let capabilities = json!({"prompts": {}});
        let (session, received) =
            scripted(server_with_capabilities(revision, capabilities, |_| None));
        let client = McpClient::builder().session(session).build().await.unwrap();
        assert_eq!(client.tools().await.unwrap().len(), 0);
        assert!(!received.methods().contains(&"tools/list".to_owned()));
    }
}
