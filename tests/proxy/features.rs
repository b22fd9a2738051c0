//! The view of clients on the features of mounted servers: names, filters, precedence, contracts.

use treenail::dynamic::Tool;
use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote};
use treenail::server::{Component, Edit};

use crate::station::{LEGACY, MODERN, client_of, gateway, impatient, proxied, remote, station};

async fn names(server: &Server) -> Vec<String> {
    let client = client_of(server, MODERN).build().await.unwrap();
    let tools = client.tools().await.unwrap();
    tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn a_proxy_without_a_namespace_has_the_contract_of_its_server() {
    for revision in [LEGACY, MODERN] {
        let (station, _) = station();
        let gateway = Server::builder("station", "1.0.0")
            .dynamic()
            .build()
            .unwrap();
        let proxy = Proxy::new(&gateway);
        let remote = remote("station", &station, revision).namespace("");
        proxy.mount(remote).unwrap().connected().await;
        for caller in [LEGACY, MODERN] {
            let through = client_of(&gateway, caller).build().await.unwrap();
            let direct = client_of(&station, caller.min(revision))
                .build()
                .await
                .unwrap();
            let expected = direct.contract_with_resources().await.unwrap();
            // `treenail lock` and `treenail check` compare the same.
            let served = through.contract_with_resources().await.unwrap();
            let served = served.with_protocol_version(expected.protocol_version().unwrap());
            let drift = expected.drift(&served);
            assert!(drift.is_empty(), "{revision} {caller}: {drift}");
        }
    }
}

#[tokio::test]
async fn filters_and_names_apply_to_lists_and_calls() {
    let (station, _) = station();
    let (gateway, proxy) = gateway();
    let remote = remote("st", &station, MODERN)
        .filter(|feature| feature.tool().is_some() && feature.name() != "work")
        .filter(|feature| feature.name() != "book")
        .rename("add", "sum");
    proxy.mount(remote).unwrap().connected().await;
    assert_eq!(names(&gateway).await, ["st.sum", "st.fail", "st.greet"]);
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    let sum = client
        .call_tool("st.sum", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum.as_text(), Some("3"));
    for hidden in ["st.work", "st.add", "work"] {
        let error = client.call_tool(hidden, ()).await.unwrap_err();
        assert!(error.as_refused().is_some(), "{hidden}: {error}");
    }
    // Neither its own URI nor the prefixed one reads a resource that is not served.
    for uri in [
        "station://report",
        "st+station://report",
        "st+station://reports/1",
    ] {
        let error = client.read_resource(uri).await.unwrap_err();
        assert!(
            error.to_string().contains("was not found"),
            "{uri}: {error}"
        );
    }
}

#[tokio::test]
async fn a_template_does_not_read_a_resource_that_is_not_served() {
    use treenail::dynamic::{Resource, ResourceTemplate};

    for revision in [LEGACY, MODERN] {
        let secret = Resource::new("file:///secret", "secret").handler(|_, _| async { "secret" });
        let files = ResourceTemplate::new("file:///{+path}", "files")
            .handler(|_, read| async move { read.uri().to_owned() });
        let server = Server::builder("files", "1").add(secret).add(files);
        let server = server.build().unwrap();
        let (gateway, proxy) = gateway();
        let remote =
            remote("files", &server, revision).filter(|feature| feature.name() != "secret");
        proxy.mount(remote).unwrap().connected().await;
        let client = client_of(&gateway, MODERN).build().await.unwrap();
        let read = client.read_resource("file:///public").await.unwrap();
        assert_eq!(read.contents[0].as_text(), Some("file:///public"));
        for uri in ["file:///secret", "files+file:///secret"] {
            let error = client.read_resource(uri).await.unwrap_err();
            assert!(error.to_string().contains("was not found"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_native_tool_replaces_a_mounted_one_before_and_after_it_is_mounted() {
    let native = || Tool::new("st.add").handler(|_, _| async { "native" });
    let (station, _) = station();
    let server = Server::builder("gateway", "1")
        .dynamic()
        .add(native())
        .build()
        .unwrap();
    let proxy = Proxy::new(&server);
    proxy
        .mount(remote("st", &station, MODERN))
        .unwrap()
        .connected()
        .await;
    let client = client_of(&server, MODERN).build().await.unwrap();
    assert_eq!(
        client.call_tool("st.add", ()).await.unwrap().as_text(),
        Some("native")
    );
    assert_eq!(
        names(&server)
            .await
            .iter()
            .filter(|name| *name == "st.add")
            .count(),
        1
    );
    // Without the native tool, the mounted one is served again.
    let add = || Component::tool("st.add");
    server.edit(|edit| edit.disable(add())).unwrap();
    let (gateway, proxy) = gateway();
    proxy
        .mount(remote("st", &station, MODERN))
        .unwrap()
        .connected()
        .await;
    gateway.edit(|edit| edit.add(native())).unwrap();
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    assert_eq!(
        client.call_tool("st.add", ()).await.unwrap().as_text(),
        Some("native")
    );
}

#[tokio::test]
async fn mounts_are_listed_in_their_order_and_an_earlier_one_has_precedence() {
    let server = |name: &'static str| {
        let tool = Tool::new("who").handler(move |_, _| async move { name });
        Server::builder(name, "1")
            .instructions(format!("I am {name}."))
            .add(tool)
            .build()
            .unwrap()
    };
    let (one, two) = (server("one"), server("two"));
    let (gateway, proxy) = gateway();
    let first = proxy
        .mount(remote("a", &one, MODERN).namespace(""))
        .unwrap();
    let second = proxy
        .mount(remote("b", &two, LEGACY).namespace(""))
        .unwrap();
    first.connected().await;
    second.connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    assert_eq!(
        client.call_tool("who", ()).await.unwrap().as_text(),
        Some("one")
    );
    assert_eq!(
        client.session().instructions().unwrap(),
        "I am one.\n\nI am two."
    );
    first.unmount();
    assert_eq!(
        client.call_tool("who", ()).await.unwrap().as_text(),
        Some("two")
    );
    second.unmount();
    assert!(names(&gateway).await.is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_dynamic_cannot_be_a_proxy() {
    let (station, _) = station();
    let server = Server::builder("gateway", "1").build().unwrap();
    let error = Proxy::new(&server)
        .mount(remote("st", &station, MODERN))
        .unwrap_err();
    assert!(
        error.to_string().contains("ServerBuilder::dynamic"),
        "{error}"
    );
    let (_gateway, proxy) = gateway();
    let remote = remote("a b", &station, MODERN);
    let error = proxy.mount(remote).unwrap_err();
    assert!(error.to_string().contains("namespace `a b`"), "{error}");
}

#[tokio::test]
async fn a_proxy_of_a_proxy_has_nested_namespaces() {
    let (station, _) = station();
    let (inner, _one) = proxied(&station, LEGACY).await;
    let (outer, proxy) = gateway();
    proxy
        .mount(remote("outer", &inner, MODERN))
        .unwrap()
        .connected()
        .await;
    let client = client_of(&outer, LEGACY).build().await.unwrap();
    let sum = client
        .call_tool("outer.st.add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum.as_text(), Some("3"));
}

#[tokio::test]
async fn names_of_other_servers_become_valid() {
    let script = crate::script::legacy_server(
        &crate::script::tools(&["a/b", "a_b", "", &"x".repeat(200), "ok"]),
        |message, line| {
            let name = message["params"]["name"].as_str().unwrap_or_default();
            if message["method"] == "tools/call" {
                line.answer(message, &crate::script::text(name));
            }
            true
        },
    );
    let (gateway, proxy) = gateway();
    proxy
        .mount(Remote::namespace(script, "s"))
        .unwrap()
        .connected()
        .await;
    // The second `a_b` and the long name cannot be served.
    assert_eq!(names(&gateway).await, ["s.a_b", "s._", "s.ok"]);
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    assert_eq!(
        client.call_tool("s.a_b", ()).await.unwrap().as_text(),
        Some("a/b")
    );
}

/// Waits until `gateway` serves the tool `name`, and returns the names of its tools.
async fn names_with(gateway: &Server, name: &str) -> Vec<String> {
    for _ in 0..10_000 {
        let names = names(gateway).await;
        if names.iter().any(|one| one == name) {
            return names;
        }
        tokio::task::yield_now().await;
    }
    panic!("`{name}` is not served");
}

#[tokio::test]
async fn a_tool_that_the_proxy_disables_stays_disabled_when_its_server_changes() {
    let tool = |name: &str| Tool::new(name).handler(|_, _| async { "new" });
    let add = || Component::tool("add");
    for revision in [LEGACY, MODERN] {
        let (station, _) = station();
        let (gateway, proxy) = gateway();
        let remote = remote("st", &station, revision);
        let mounted = proxy.limits(impatient()).mount(remote).unwrap();
        mounted.connected().await;
        let disabled = || Component::tool("st.add");
        gateway.edit(|edit| edit.disable(disabled())).unwrap();
        // Until the subscription of the proxy takes effect, it does not see a change.
        for round in 0..1_000 {
            station
                .edit(|edit| edit.add(tool(&format!("new{round}"))))
                .unwrap();
            if names(&gateway).await.contains(&"st.new0".to_owned()) {
                break;
            }
        }
        station.edit(|edit| edit.add(tool("first"))).unwrap();
        let changes: [(&str, &dyn Fn(Edit) -> Edit); 2] = [
            ("away", &|edit| edit.disable(add()).add(tool("away"))),
            ("back", &|edit| edit.enable(add()).add(tool("back"))),
        ];
        names_with(&gateway, "st.first").await;
        for (name, change) in changes {
            station.edit(change).unwrap();
            let names = names_with(&gateway, &format!("st.{name}")).await;
            assert!(!names.contains(&"st.add".to_owned()), "{name}: {names:?}");
        }
        let client = client_of(&gateway, MODERN).build().await.unwrap();
        client.call_tool("st.add", ()).await.unwrap_err();
        gateway.edit(|edit| edit.enable(disabled())).unwrap();
        names_with(&gateway, "st.add").await;
    }
}
