//! User interfaces of tools (MCP Apps) whose resources no list contains.

use treenail::dynamic::{RawResult, Resource, ResourceTemplate, Tool};
use treenail::prelude::*;

use crate::station::{ERAS, MODERN, client_of, gateway, remote};

/// Server with a tool whose user interface is `ui://chart`. It has its name as content.
fn charts(name: &'static str) -> Server {
    let tool = json!({
        "name": "chart", "inputSchema": {"type": "object"},
        "_meta": {"ui": {"resourceUri": "ui://chart"}, "ui/resourceUri": "ui://old"},
    });
    let tool: treenail::schema::Tool = serde_json::from_value(tool).unwrap();
    let empty = || RawResult::new(&json!({"content": []})).unwrap();
    let tool = Tool::from(tool).raw(move |_, _| async move { Ok(empty()) });
    let interface = ResourceTemplate::new("ui://{+rest}", "ui").unlisted();
    let interface =
        interface.handler(move |_, read| async move { format!("{name} {}", read.uri()) });
    let other = Resource::new("data://other", "other").handler(|_, _| async { "x" });
    let server = Server::builder(name, "1").add([tool, interface, other]);
    server.build().unwrap()
}

#[tokio::test]
async fn an_unlisted_user_interface_is_read_under_its_uri() {
    // APP-S-04
    for (caller, revision) in ERAS {
        let (one, two) = (charts("one"), charts("two"));
        let (gateway, proxy) = gateway();
        for (name, server) in [("one", &one), ("two", &two)] {
            let mounted = proxy.mount(remote(name, server, revision)).unwrap();
            mounted.connected().await;
        }
        let client = client_of(&gateway, caller).build().await.unwrap();
        for (tool, prefix) in [("one", ""), ("two", "two+")] {
            let found = client
                .tool(&format!("{tool}.chart"))
                .await
                .unwrap()
                .unwrap();
            let meta = found.meta.as_ref().unwrap();
            let links = [&meta["ui"]["resourceUri"], &meta["ui/resourceUri"]];
            for (link, own) in links.into_iter().zip(["ui://chart", "ui://old"]) {
                let uri = link.as_str().unwrap();
                assert_eq!(uri, format!("{prefix}{own}"), "{caller} {revision}");
                let read = client.read_resource(uri).await.unwrap();
                let text = read.contents[0].as_text().map(str::to_owned);
                assert_eq!(text, Some(format!("{tool} {own}")), "{caller} {revision}");
            }
        }
        let error = client.read_resource("ui://other").await.unwrap_err();
        assert!(error.as_refused().is_some(), "{error}");
    }
}

#[tokio::test]
async fn a_filter_of_resources_drops_a_user_interface_too() {
    let listed = Resource::new("ui://chart", "chart").handler(|_, _| async { "x" });
    let tool = json!({
        "name": "chart", "inputSchema": {"type": "object"},
        "_meta": {"ui": {"resourceUri": "ui://chart"}},
    });
    let tool: treenail::schema::Tool = serde_json::from_value(tool).unwrap();
    let empty = || RawResult::new(&json!({"content": []})).unwrap();
    let tool = Tool::from(tool).raw(move |_, _| async move { Ok(empty()) });
    let server = Server::builder("charts", "1").add([tool, listed]).build();
    let server = server.unwrap();
    let (gateway, proxy) = gateway();
    let remote = remote("charts", &server, MODERN).filter(|feature| feature.tool().is_some());
    proxy.mount(remote).unwrap().connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    for uri in ["ui://chart", "charts+ui://chart"] {
        assert!(client.read_resource(uri).await.is_err(), "{uri}");
    }
}
