//! Servers that break: in a call, by their results, by their lists. Their callers get a clear error, and others are not disturbed.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use treenail::client::ClientLimits;
use treenail::prelude::*;
use treenail::proxy::{ProxyLimits, Remote};

use crate::script::{legacy_server, scripted, text, tools};
use crate::station::{ERAS, LEGACY, MODERN, client_of, gateway, impatient, remote, station};

/// Mounts a broken server with the tools `bad` and `good` beside a station, and calls `script.bad`. The station still works.
async fn call_broken(
    caller: treenail::schema::Revision,
    broken: Remote,
    limits: ProxyLimits,
) -> String {
    let (gateway, proxy) = gateway();
    let proxy = proxy.limits(limits);
    let (station, _) = station();
    proxy
        .mount(remote("st", &station, MODERN))
        .unwrap()
        .connected()
        .await;
    proxy.mount(broken).unwrap().connected().await;
    let client = client_of(&gateway, caller).build().await.unwrap();
    let result = client.call_tool("script.bad", ()).await.unwrap();
    assert_eq!(result.is_error, Some(true), "{result:?}");
    let sum = client
        .call_tool("st.add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum.as_text(), Some("3"));
    result.as_text().unwrap().to_owned()
}

#[tokio::test]
async fn a_server_that_dies_during_a_call_fails_it_with_the_cause() {
    for caller in [LEGACY, MODERN] {
        let broken = legacy_server(&tools(&["bad"]), |message, _| {
            message["method"] != "tools/call"
        });
        let error = call_broken(caller, broken, ProxyLimits::default()).await;
        assert!(
            error.starts_with("the server `script` did not answer: the connection is closed"),
            "{error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_fails_its_call_in_time() {
    for caller in [LEGACY, MODERN] {
        let broken = legacy_server(&tools(&["bad"]), |_, _| true);
        let limits = ProxyLimits::default().call_timeout(Duration::from_secs(7));
        let error = call_broken(caller, broken, limits).await;
        assert_eq!(
            error,
            "the server `script` did not answer: no answer within 7s"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn progress_and_no_log_message_prolongs_a_call_up_to_a_bound() {
    for (method, expected) in [("progress", 40), ("message", 7)] {
        let broken = legacy_server(&tools(&["bad"]), move |message, line| {
            if message["method"] == "tools/call" {
                let lines = line.clone();
                let token = message["params"]["_meta"]["progressToken"].clone();
                tokio::spawn(async move {
                    for step in 0.. {
                        let params = match method {
                            "progress" => json!({"progressToken": token, "progress": step}),
                            _ => json!({"level": "error", "data": step}),
                        };
                        let method = format!("notifications/{method}");
                        lines.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
                        tokio::time::sleep(Duration::from_secs(5)).await;
                    }
                });
            }
            true
        });
        let limits = ProxyLimits::default().call_timeout(Duration::from_secs(7));
        let limits = limits.call_duration(Duration::from_secs(40));
        let error = call_broken(LEGACY, broken, limits).await;
        let reason = format!("no answer within {expected}s");
        assert!(error.ends_with(&reason), "{method}: {error}");
    }
}

#[tokio::test]
async fn a_result_that_is_too_large_fails_only_its_call() {
    let broken = legacy_server(&tools(&["bad"]), |message, line| {
        if message["method"] == "tools/call" {
            // 100 MB.
            line.answer(message, &text(&"x".repeat(100 << 20)));
        }
        true
    });
    let error = call_broken(MODERN, broken, ProxyLimits::default()).await;
    assert!(
        error.contains("longer than `ClientLimits::message_bytes` (8388608)"),
        "{error}"
    );
}

#[tokio::test]
async fn a_result_that_is_no_result_fails_only_its_call() {
    for result in [
        "7",
        "[]",
        "{\"content\":3}",
        "{}",
        "{\"content\":[{\"type\":7}]}",
    ] {
        for caller in [LEGACY, MODERN] {
            let value: Value = serde_json::from_str(result).unwrap();
            let (gateway, proxy) = gateway();
            let broken = legacy_server(&tools(&["bad", "good"]), move |message, line| {
                match message["params"]["name"].as_str() {
                    Some("bad") => line.answer(message, &value),
                    Some("good") => line.answer(message, &text("good")),
                    _ => {}
                }
                true
            });
            proxy.mount(broken).unwrap().connected().await;
            let client = client_of(&gateway, caller).build().await.unwrap();
            // Either a failure, or what the client makes of it. The connection continues.
            let _ = client.call_tool("script.bad", ()).await;
            let good = client.call_tool("script.good", ()).await.unwrap();
            assert_eq!(good.as_text(), Some("good"), "{caller} {result}");
        }
    }
}

#[tokio::test]
async fn a_flood_of_messages_does_not_disturb_a_call() {
    for caller in [LEGACY, MODERN] {
        let (gateway, proxy) = gateway();
        let flooding = legacy_server(&tools(&["bad"]), |message, line| {
            if message["method"] == "tools/call" {
                let token = &message["params"]["_meta"]["progressToken"];
                for number in 0..2_000 {
                    for (method, params) in [
                        (
                            "notifications/progress",
                            json!({"progressToken": token, "progress": number}),
                        ),
                        (
                            "notifications/message",
                            json!({"level": "error", "data": "x"}),
                        ),
                        ("notifications/tools/list_changed", json!({})),
                        (
                            "notifications/resources/updated",
                            json!({"uri": format!("a:{number}")}),
                        ),
                    ] {
                        line.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
                    }
                    let id = format!("q{number}");
                    let question = json!({"message": "?", "requestedSchema": {"type": "object", "properties": {}}});
                    line.send(&json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": question}));
                    line.send_text("not JSON".to_owned());
                }
                line.answer(message, &text("done"));
            }
            true
        });
        let (station, _) = station();
        let proxy = proxy.limits(impatient());
        proxy
            .mount(remote("st", &station, MODERN))
            .unwrap()
            .connected()
            .await;
        proxy.mount(flooding).unwrap().connected().await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let result = client.call_tool("script.bad", ()).await.unwrap();
        assert_eq!(result.as_text(), Some("done"), "{caller}");
        let sum = client
            .call_tool("st.add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum.as_text(), Some("3"));
    }
}

#[tokio::test]
async fn a_tool_that_is_renamed_during_its_call_still_answers() {
    for (caller, _) in ERAS {
        let (gateway, proxy) = gateway();
        let list = Arc::new(std::sync::Mutex::new(tools(&["bad"])));
        let current = Arc::clone(&list);
        let renaming = Remote::new("script", move || {
            let list = Arc::clone(&list);
            let react = move |message: &Value, line: &crate::script::Line| {
                match message["method"].as_str() {
                    Some("initialize") => line.answer(
                        message,
                        &json!({
                            "protocolVersion": "2025-11-25",
                            "capabilities": {"tools": {"listChanged": true}},
                            "serverInfo": {"name": "script", "version": "1"},
                        }),
                    ),
                    Some("tools/list") => {
                        line.answer(message, &json!({"tools": *list.lock().unwrap()}));
                    }
                    Some("tools/call") => {
                        *list.lock().unwrap() = tools(&["renamed"]);
                        let changed = "notifications/tools/list_changed";
                        line.send(&json!({"jsonrpc": "2.0", "method": changed}));
                        line.answer(message, &text("done"));
                    }
                    _ => {}
                }
                true
            };
            scripted(Box::new(react), &ClientLimits::default()).protocol_version(LEGACY)
        });
        proxy
            .limits(impatient())
            .mount(renaming)
            .unwrap()
            .connected()
            .await;
        let client = client_of(&gateway, caller)
            .auto_refresh(true)
            .build()
            .await
            .unwrap();
        let result = client.call_tool("script.bad", ()).await.unwrap();
        assert_eq!(result.as_text(), Some("done"));
        loop {
            client.refresh_tools().await.unwrap();
            if client.tool("script.renamed").await.unwrap().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(client.tool("script.bad").await.unwrap().is_none());
        drop(current.lock().unwrap());
    }
}

#[tokio::test]
async fn tools_with_hostile_schemas_are_omitted_and_others_are_served() {
    let deep = "{\"not\":".repeat(100) + "{}" + &"}".repeat(100);
    let deep: Value = serde_json::from_str(&deep).unwrap();
    let wide: Vec<Value> = (0..20_000).map(|_| json!({"$ref": "#"})).collect();
    let list = json!([
        {"name": "header", "inputSchema": {"type": "object", "properties": {
            "a": {"type": "object", "x-mcp-header": "Bad Header"}}}},
        {"name": "deep", "inputSchema": {"type": "object", "properties": {"a": deep}}},
        {"name": "wide", "inputSchema": {"type": "object", "allOf": wide}},
        {"name": "odd", "inputSchema": {"type": ["string", 3], "$ref": "https://example.com/never"}},
        {"name": "untyped", "inputSchema": {"properties": {}}},
        {"name": "bad", "inputSchema": {"type": "object"}},
    ]);
    let (gateway, proxy) = gateway();
    let broken = legacy_server(&list, |message, line| {
        if message["method"] == "tools/call" {
            line.answer(message, &text("done"));
        }
        true
    });
    proxy.mount(broken).unwrap().connected().await;
    // A client that validates nothing lists and calls them.
    for caller in [LEGACY, MODERN] {
        let client = client_of(&gateway, caller).build().await.unwrap();
        let tools = client.tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        for name in ["script.bad", "script.untyped"] {
            assert!(names.contains(&name), "{names:?}");
        }
        for name in ["script.header", "script.odd"] {
            assert!(!names.contains(&name), "{names:?}");
        }
        for tool in &tools {
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        }
        let result = client.call_tool("script.bad", ()).await.unwrap();
        assert_eq!(result.as_text(), Some("done"));
    }
}
