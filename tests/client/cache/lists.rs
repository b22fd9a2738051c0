//! Items of lists: found by name, and on all pages.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use treenail::client::{ClientError, ClientLimits, ListLimits};
use treenail::prelude::*;
use treenail::schema::{ElicitResult, Revision};

use super::{server_with_capabilities, server_with_pages, tools};
use crate::failing::failing;
use crate::fixture::server;
use crate::script::{Reply, answer, discovered, initialized, scripted};

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
        // Arguments of prompts are strings.
        let arguments = json!({"name": [3, "ä\""]});
        let prompt = client.get_prompt("greeting", arguments).await.unwrap();
        let text = prompt.messages[0].content.as_text();
        assert_eq!(text, Some(r#"Hello [3,"ä\""]"#));
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

    for (limits, reason) in [
        (ListLimits::default().pages(3), "more than 3 pages"),
        (ListLimits::default().items(100), "more than 100 items"),
    ] {
        let limits = ClientLimits::default().lists(limits);
        let endless = |cursor: Option<&str>| {
            let next = format!("{}+", cursor.unwrap_or_default());
            json!({"tools": tools(&["a"; 40]), "nextCursor": next})
        };
        let (session, received) = scripted(server_with_pages(endless));
        let client = McpClient::builder()
            .session(session)
            .limits(limits)
            .build()
            .await
            .unwrap();
        let error = client.tools().await.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        let methods = received.methods();
        let pages = methods.iter().filter(|method| *method == "tools/list");
        assert_eq!(pages.count(), 3, "{reason}");
    }
}

#[tokio::test]
async fn members_of_later_revisions_may_have_any_value() {
    for revision in [Revision::V2024_11_05, Revision::V2025_06_18] {
        let (session, _) = scripted(move |message| match message["method"].as_str() {
            Some("initialize") => {
                let result = json!({
                    "protocolVersion": revision, "capabilities": {"tools": {}, "tasks": true, "extensions": [5]},
                    "serverInfo": {"name": "script", "version": "1", "icons": "x"},
                });
                Reply::result(message, &result)
            }
            Some("tools/list") => {
                let odd = json!({"name": "odd", "inputSchema": {"type": "object"}, "execution": "sync", "icons": ["x"]});
                let plain = json!({"name": "plain", "inputSchema": {"type": "object"}});
                Reply::result(message, &json!({"tools": [odd, plain]}))
            }
            Some("tools/call") => {
                let link =
                    json!({"type": "resource_link", "uri": "a://b", "name": "b", "icons": 5});
                let text = json!({"type": "text", "text": "a", "_meta": 5});
                let is_first = revision == Revision::V2024_11_05;
                let block = if is_first { text } else { link };
                Reply::result(message, &json!({"content": [block]}))
            }
            _ => Reply::nothing(),
        });
        let builder = McpClient::builder().session(session);
        let client = builder.protocol_version(revision).build().await.unwrap();
        assert_eq!(client.tools().await.unwrap().len(), 2, "{revision}");
        let result = client.call_tool("odd", ()).await.unwrap();
        assert_eq!(result.content.len(), 1, "{revision}");
    }
}

#[tokio::test]
async fn a_repeated_cursor_ends_a_list() {
    // Of one page, of two pages in turn, and of an empty cursor.
    for (cursors, requests) in [(["x", "x"], 2), (["x", "y"], 3), (["", ""], 2)] {
        let pages = move |cursor: Option<&str>| {
            let next = cursors[usize::from(cursor == Some(cursors[0]))];
            let own = format!("after {}", cursor.unwrap_or("the start"));
            json!({"tools": tools(&["a", &own]), "nextCursor": next})
        };
        let (session, received) = scripted(server_with_pages(pages));
        let client = McpClient::builder().session(session).build().await.unwrap();
        let listed = client.tools().await.unwrap();
        assert_eq!(listed.len(), requests + 1, "{cursors:?}");
        let methods = received.methods();
        let lists = methods.iter().filter(|method| *method == "tools/list");
        assert_eq!(lists.count(), requests, "{cursors:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn callers_that_share_a_fetch_share_its_pauses() {
    let mut list = Value::Null;
    let (session, received) = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        Some("tools/list") => {
            list = message.clone();
            let params =
                json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
            let question = json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params});
            Reply::Lines(vec![question.to_string()])
        }
        Some(_) => Reply::nothing(),
        None => Reply::Lines(vec![answer(&list, &json!({"tools": tools(&["a"])}))]),
    });
    let limits = ClientLimits::default().request_timeout(Duration::from_secs(1));
    let builder = McpClient::builder().session(session).limits(limits);
    let builder = builder.protocol_version(Revision::V2025_11_25);
    let builder = builder.on_elicit(async |_| {
        tokio::time::sleep(Duration::from_secs(3)).await;
        ElicitResult::accept(())
    });
    let client = builder.build().await.unwrap();
    let (first, second) = tokio::join!(client.tools(), client.tools());
    assert_eq!((first.unwrap().len(), second.unwrap().len()), (1, 1));
    let lists = received
        .methods()
        .into_iter()
        .filter(|it| it == "tools/list");
    assert_eq!(lists.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_call_applies_to_the_list_before_it() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::nothing(),
    });
    let builder = McpClient::builder().session(failing(session, |_| None));
    let client = builder.build().await.unwrap();
    let start = Instant::now();
    let limit = Duration::from_millis(200);
    let error = client.call_tool("a", json!({})).timeout(limit).await;
    let error = error.unwrap_err();
    assert!(
        matches!(error, ClientError::Timeout(after) if after == limit),
        "{error}"
    );
    assert_eq!(start.elapsed(), limit);
    assert!(!received.methods().contains(&"tools/call".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_cached_for_more_than_a_day() {
    let (session, received) = scripted(|message| {
        if message["method"] == "server/discover" {
            discovered(message)
        } else {
            let contents = json!([{"uri": "a://1", "text": "x"}]);
            let result = json!({"resultType": "complete", "ttlMs": 1_000_000_000_000_000_u64,
                "cacheScope": "private", "tools": tools(&["a"]), "contents": contents});
            Reply::result(message, &result)
        }
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    for (hours, requests) in [(0, 2), (23, 2), (25, 4)] {
        tokio::time::advance(Duration::from_secs(hours * 60 * 60)).await;
        client.tools().await.unwrap();
        client.read_resource("a://1").await.unwrap();
        assert_eq!(received.methods().len(), 1 + requests, "{hours}");
    }
}
