//! URIs of resources of several servers, in lists, results and requests.

use treenail::dynamic::{RawResult, Resource, Tool};
use treenail::prelude::*;

use crate::station::{ERAS, MODERN, client_of, gateway, remote};

/// Server whose resource `data://same` has its name as content, and whose tool `links` refers to several resources.
fn library(name: &'static str) -> Server {
    let same = Resource::new("same", "data://same").handler(move |_, _| async move { name });
    let links = Tool::new("links").raw(|_, _| async {
        let links = ["data://same", "data://unlisted"]
            .map(|uri| json!({"type": "resource_link", "name": "link", "uri": uri}));
        let embedded = json!({"type": "resource", "resource": {"uri": "data://same", "text": "x"}});
        let [one, two] = links;
        Ok(RawResult::new(&json!({"content": [one, two, embedded]})).expect("it is JSON"))
    });
    let unlisted = treenail::dynamic::ResourceTemplate::new("unlisted", "data://{+rest}")
        .unlisted()
        .handler(move |_, read| async move { format!("{name} {}", read.uri()) });
    let server = Server::builder(name, "1").add([same, links, unlisted]);
    server.build().expect("it can be built")
}

#[tokio::test]
async fn the_same_uri_of_two_servers_has_two_forms() {
    for (caller, revision) in ERAS {
        let (one, two) = (library("one"), library("two"));
        let (gateway, proxy) = gateway();
        proxy
            .mount(remote("one", &one, revision))
            .unwrap()
            .connected()
            .await;
        proxy
            .mount(remote("two", &two, revision))
            .unwrap()
            .connected()
            .await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let resources = client.resources().await.unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(uris, ["data://same", "two+data://same"]);
        for (uri, text) in [
            ("data://same", "one"),
            ("two+data://same", "two"),
            ("two+data://unlisted", "two data://unlisted"),
        ] {
            let read = client.read_resource(uri).await.unwrap();
            assert_eq!(
                read.contents[0].as_text(),
                Some(text),
                "{caller} {revision}"
            );
            assert_eq!(read.contents[0].uri(), uri, "{caller} {revision}");
        }
        for (tool, same) in [
            ("one.links", "data://same"),
            ("two.links", "two+data://same"),
        ] {
            let namespace = tool.split('.').next().unwrap();
            let result = client.call_tool(tool, ()).await.unwrap();
            let text = serde_json::to_value(&result.content).unwrap();
            assert_eq!(text[0]["uri"], same);
            assert_eq!(text[1]["uri"], format!("{namespace}+data://unlisted"));
            assert_eq!(text[2]["resource"]["uri"], same);
        }
    }
}

#[tokio::test]
async fn a_uri_is_not_taken_over_by_a_server_that_connects_later() {
    let (one, two) = (library("one"), library("two"));
    let (gateway, proxy) = gateway();
    let late = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let may_connect = std::sync::Arc::clone(&late);
    let first = treenail::proxy::Remote::new("one", move || match may_connect.try_acquire() {
        Ok(permit) => {
            permit.forget();
            client_of(&one, MODERN)
        }
        // A builder without a server fails to connect.
        Err(_) => McpClient::builder(),
    });
    let limits = crate::station::impatient();
    let first = proxy.limits(limits).mount(first).unwrap();
    first.disconnected().await;
    let proxy = treenail::proxy::Proxy::clone(&treenail::proxy::Proxy::new(&gateway));
    drop(proxy);
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    late.add_permits(1);
    first.connected().await;
    let read = client.read_resource("data://same").await.unwrap();
    assert_eq!(read.contents[0].as_text(), Some("one"));
    drop(two);
}
