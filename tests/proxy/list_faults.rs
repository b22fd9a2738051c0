//! Servers whose lists fail, and errors that do not belong to the connection of a client.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use treenail::client::{ClientError, ClientLimits};
use treenail::dynamic::{Prompt, Tool};
use treenail::prelude::*;
use treenail::proxy::{ProxyLimits, Remote};
use treenail::server::FeatureDescriptor;

use crate::log::Log;
use crate::script::{Line, legacy_server, scripted, tools};
use crate::station::{LEGACY, MODERN, client_of, gateway, impatient, remote};

/// Server of the legacy era with tools and resources. `lists` answers requests for lists, or returns false: then they fail.
pub(crate) fn failing(lists: impl FnMut(&Value, &Line) -> bool + Send + 'static) -> Remote {
    let lists = Arc::new(Mutex::new(lists));
    Remote::new("script", move || {
        let lists = Arc::clone(&lists);
        let react = move |message: &Value, line: &Line| {
            match message["method"].as_str() {
                Some("initialize") => line.answer(
                    message,
                    &json!({
                        "protocolVersion": "2025-11-25",
                        "capabilities": {"tools": {"listChanged": true}, "resources": {"listChanged": true}},
                        "serverInfo": {"name": "script", "version": "1"},
                    }),
                ),
                Some("resources/read") => line.answer(
                    message,
                    &json!({"contents": [{"uri": message["params"]["uri"], "text": "read"}]}),
                ),
                Some(method)
                    if method.ends_with("/list") && !(lists.lock().unwrap())(message, line) =>
                {
                    line.send(&json!({
                        "jsonrpc": "2.0", "id": message["id"],
                        "error": {"code": -32603, "message": "overloaded"},
                    }));
                }
                _ => {}
            }
            true
        };
        scripted(Box::new(react), &ClientLimits::default()).protocol_version(LEGACY)
    })
}

#[tokio::test]
async fn a_list_that_fails_later_stays_and_is_fetched_again() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let remote = failing(move |message, line| {
        match message["method"].as_str() {
            Some("tools/list") => match counted.fetch_add(1, Ordering::SeqCst) {
                0 => {
                    line.answer(message, &json!({"tools": tools(&["one"])}));
                    let changed = "notifications/tools/list_changed";
                    line.send(&json!({"jsonrpc": "2.0", "method": changed}));
                }
                1..4 => return false,
                _ => line.answer(message, &json!({"tools": tools(&["one", "two"])})),
            },
            Some("resources/list") => line.answer(message, &json!({"resources": []})),
            _ => line.answer(message, &json!({"resourceTemplates": []})),
        }
        true
    });
    let (gateway, proxy) = gateway();
    let mounted = proxy.limits(impatient()).mount(remote).unwrap();
    mounted.connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    loop {
        client.refresh_tools().await.unwrap();
        let names = client.tools().await.unwrap();
        assert!(names.iter().any(|tool| tool.name == "script.one"));
        if names.iter().any(|tool| tool.name == "script.two") {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(count.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn an_item_that_cannot_be_read_does_not_hide_the_others() {
    let remote = failing(|message, line| {
        let schema = json!({"type": "object"});
        let item = |name: &str| json!({"name": name, "inputSchema": schema, "uri": "a:b", "uriTemplate": "a:{b}"});
        let mut items = [item("good"), item("bad"), item("other")];
        items[1]["icons"] = json!([{"src": 5}]);
        items[2]["annotations"] = json!({"readOnlyHint": "yes", "priority": "yes"});
        let lists = json!({"tools": items, "resources": items, "resourceTemplates": items});
        line.answer(message, &lists);
        true
    });
    let (log, _guard) = Log::record(tracing::Level::WARN);
    let (gateway, proxy) = gateway();
    let mounted = proxy.mount(remote).unwrap();
    mounted.connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    assert_eq!(client.tools().await.unwrap()[0].name, "script.good");
    assert_eq!(client.resources().await.unwrap()[0].name, "script.good");
    assert_eq!(
        client.url_templates().await.unwrap()[0].listed().name,
        "script.good"
    );
    assert_eq!(mounted.status().to_string(), "connected, with 3 features");
    let lines = log.lines();
    for kind in ["tool", "resource", "template"] {
        let kind = format!("kind=\"{kind}\"");
        let warned = lines.iter().any(|line| {
            line.contains("omitted a feature of a server")
                && line.contains(&kind)
                && line.contains("it cannot be read")
        });
        assert!(warned, "{kind} {lines:?}");
    }
}

#[tokio::test]
async fn resources_are_not_read_until_their_list_is_known() {
    let may_list = Arc::new(AtomicUsize::new(0));
    let listed = Arc::clone(&may_list);
    let remote = failing(move |message, line| {
        match message["method"].as_str() {
            Some("tools/list") => line.answer(message, &json!({"tools": []})),
            Some("resources/list") => {
                if listed.load(Ordering::SeqCst) == 0 {
                    return false;
                }
                let secret = json!({"name": "secret", "uri": "file:///secret"});
                line.answer(message, &json!({"resources": [secret]}));
            }
            _ => {
                let all = json!({"name": "all", "uriTemplate": "file:///{+path}"});
                line.answer(message, &json!({"resourceTemplates": [all]}));
            }
        }
        true
    });
    let remote = remote.filter(|feature| !matches!(feature, FeatureDescriptor::Resource(_)));
    let (gateway, proxy) = gateway();
    let mounted = proxy.limits(impatient()).mount(remote).unwrap();
    mounted.connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    for uri in ["file:///secret", "script+file:///secret"] {
        let error = client.read_resource(uri).await.unwrap_err();
        assert!(error.to_string().contains("was not found"), "{error}");
    }
    may_list.store(1, Ordering::SeqCst);
    while client.read_resource("file:///public").await.is_err() {
        tokio::task::yield_now().await;
    }
    for uri in ["file:///secret", "script+file:///secret"] {
        let error = client.read_resource(uri).await.unwrap_err();
        assert!(error.to_string().contains("was not found"), "{error}");
    }
}

#[tokio::test]
async fn codes_of_another_era_or_connection_do_not_pass() {
    for (caller, code, expected) in [
        (LEGACY, -32042, Some(-32042)),
        (MODERN, -32042, Some(-32603)),
        (LEGACY, -32002, Some(-32002)),
        (MODERN, -32002, Some(-32602)),
        (MODERN, -32020, None),
        (MODERN, -32022, None),
    ] {
        let remote = legacy_server(&tools(&["fail"]), move |message, line| {
            if message["method"] == "tools/call" {
                line.send(&json!({
                    "jsonrpc": "2.0", "id": message["id"],
                    "error": {"code": code, "message": "no", "data": {"elicitations": []}},
                }));
            }
            true
        });
        let (gateway, proxy) = gateway();
        proxy.mount(remote).unwrap().connected().await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        match client.call_tool("script.fail", ()).await {
            Err(ClientError::Refused(error)) => {
                assert_eq!(Some(error.code), expected, "{caller} {code}");
            }
            Ok(result) => {
                assert_eq!(None, expected, "{caller} {code}");
                assert_eq!(
                    result.as_text(),
                    Some("the server `script` did not accept a request of the proxy: no")
                );
            }
            Err(error) => panic!("{caller} {code}: {error}"),
        }
    }
}

/// Answers of a server of the modern era, whose list of tools has one more after each subscription that is not the last one.
fn answer_modern(message: &Value, line: &Line, listens: &mut usize) {
    let complete = |mut result: Value| {
        result["resultType"] = json!("complete");
        line.answer(message, &result);
    };
    match message["method"].as_str() {
        Some("server/discover") => complete(json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}},
        })),
        Some("tools/list") => {
            let names = ["none", "one", "two"];
            let list = tools(&names[..=(*listens).min(2)]);
            complete(json!({"tools": list, "ttlMs": 3_600_000, "cacheScope": "public"}));
        }
        Some("subscriptions/listen") => {
            *listens += 1;
            if *listens == 2 {
                line.send(&json!({
                    "jsonrpc": "2.0", "id": message["id"],
                    "error": {"code": -32603, "message": "overloaded"},
                }));
                return;
            }
            let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
            line.send(&json!({
                "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": meta, "notifications": {"toolsListChanged": true}},
            }));
            if *listens == 1 {
                // The subscription ends. The next one fails, and the one after it stays.
                complete(json!({"_meta": meta}));
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn changes_before_and_between_subscriptions_are_not_lost() {
    let listens = Arc::new(Mutex::new(0));
    let remote = Remote::new("script", move || {
        let listens = Arc::clone(&listens);
        let react = move |message: &Value, line: &Line| {
            answer_modern(message, line, &mut listens.lock().unwrap());
            true
        };
        scripted(Box::new(react), &ClientLimits::default()).protocol_version(MODERN)
    });
    let (gateway, proxy) = gateway();
    let mounted = proxy.limits(impatient()).mount(remote).unwrap();
    mounted.connected().await;
    let client = client_of(&gateway, LEGACY).build().await.unwrap();
    loop {
        client.refresh_tools().await.unwrap();
        if client.tool("script.two").await.unwrap().is_some() {
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_number_of_features_is_limited() {
    let tool = |name: &str| Tool::new(name).handler(|_, _| async { "done" });
    let prompt = Prompt::new("third").handler(|_, _| async { "text" });
    let builder = Server::builder("many", "1").add(tool("first"));
    let many = builder.add(tool("second")).add(prompt).build().unwrap();
    let (log, _guard) = Log::record(tracing::Level::WARN);
    let (gateway, proxy) = gateway();
    let proxy = proxy.limits(ProxyLimits::default().features(2));
    let mounted = proxy.mount(remote("many", &many, MODERN)).unwrap();
    mounted.connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 2);
    assert_eq!(client.prompts().await.unwrap().len(), 0);
    let lines = log.lines();
    let warned = lines.iter().any(|line| {
        line.contains("count=1") && line.contains("the server has more features than are served")
    });
    assert!(warned, "{lines:?}");
}
