//! URIs of resources of several servers, in lists, results and requests.

use treenail::dynamic::{RawResult, Resource, Tool};
use treenail::prelude::*;

use crate::list_faults::failing;
use crate::log::Log;
use crate::station::{ERAS, MODERN, client_of, gateway, remote};

/// Server whose resource `data://same` has its name as content, and whose tool `links` refers to several resources.
fn library(name: &'static str) -> Server {
    let same = Resource::new("data://same", "same").handler(move |_, _| async move { name });
    let links = Tool::new("links").raw(|_, _| async {
        let links = ["data://same", "data://unlisted"]
            .map(|uri| json!({"type": "resource_link", "name": "link", "uri": uri}));
        let embedded = json!({"type": "resource", "resource": {"uri": "data://same", "text": "x"}});
        let [one, two] = links;
        Ok(RawResult::new(&json!({"content": [one, two, embedded]})).expect("it is JSON"))
    });
    let unlisted = treenail::dynamic::ResourceTemplate::new("data://{+rest}", "unlisted")
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
async fn namespaces_that_differ_only_in_a_character_have_prefixes_of_their_own() {
    let (one, two) = (library("one"), library("two"));
    let (gateway, proxy) = gateway();
    for (namespace, server) in [("my_files", &one), ("my-files", &two)] {
        let mounted = proxy.mount(remote(namespace, server, MODERN)).unwrap();
        mounted.connected().await;
    }
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    for (namespace, text) in [("my_files", "one"), ("my-files", "two")] {
        let result = client.call_tool(&format!("{namespace}.links"), ()).await;
        let content = serde_json::to_value(&result.unwrap().content).unwrap();
        let unlisted = content[1]["uri"].as_str().unwrap();
        let read = client.read_resource(unlisted).await.unwrap();
        let expected = format!("{text} data://unlisted");
        assert_eq!(read.contents[0].as_text(), Some(&*expected), "{unlisted}");
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

/// Server that has all URIs by a template, and a resource with the prefix of the server `one`.
fn greedy() -> Server {
    use treenail::dynamic::ResourceTemplate;

    let all = ResourceTemplate::new("{+uri}", "all")
        .accepts(|_| true)
        .handler(|_, read| async move { format!("greedy {}", read.uri()) });
    let fixed = Resource::new("one+data://fixed", "fixed").handler(|_, _| async { "greedy" });
    let server = Server::builder("greedy", "1").add(fixed).add(all);
    server.build().unwrap()
}

#[tokio::test]
async fn no_server_takes_over_uris_with_the_prefix_of_another() {
    for is_first in [true, false] {
        let (gateway, proxy) = gateway();
        let mount = async |name, server: &Server| {
            let mounted = proxy.mount(remote(name, server, MODERN)).unwrap();
            mounted.connected().await;
        };
        if is_first {
            mount("two", &greedy()).await;
        }
        mount("one", &library("one")).await;
        if !is_first {
            mount("two", &greedy()).await;
        }
        let client = client_of(&gateway, MODERN).build().await.unwrap();
        for (uri, text) in [
            ("one+data://unlisted", "one data://unlisted"),
            ("one+data://fixed", "one data://fixed"),
            ("data://same", "one"),
            ("data://other", "greedy data://other"),
            ("two+data://other", "greedy data://other"),
        ] {
            // The first server compares its URIs again after the second one is mounted.
            let read = loop {
                if let Ok(read) = client.read_resource(uri).await {
                    break read;
                }
                tokio::task::yield_now().await;
            };
            assert_eq!(read.contents[0].as_text(), Some(text), "{uri} {is_first}");
        }
    }
}

#[tokio::test]
async fn a_uri_that_starts_like_the_prefix_of_its_server_stays_whole() {
    let uri = "git+https://x";
    let resource = Resource::new(uri, "x").handler(|_, read| async move { read.uri().to_owned() });
    let template = treenail::dynamic::ResourceTemplate::new("git+ssh://{host}", "y")
        .handler(|_, read| async move { read.uri().to_owned() });
    let server = Server::builder("git", "1").add(resource).add(template);
    let server = server.build().unwrap();
    let (gateway, proxy) = gateway();
    let mounted = proxy.mount(remote("git", &server, MODERN)).unwrap();
    mounted.connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    for uri in [uri, "git+ssh://host"] {
        let read = client.read_resource(uri).await.unwrap();
        assert_eq!(read.contents[0].as_text(), Some(uri));
        assert_eq!(read.contents[0].uri(), uri);
    }
}

#[tokio::test]
async fn a_server_gets_the_uri_that_its_owner_has_left() {
    let (gateway, proxy) = gateway();
    let proxy = proxy.limits(crate::station::impatient());
    let one = proxy.mount(remote("one", &library("one"), MODERN)).unwrap();
    one.connected().await;
    let two = proxy.mount(remote("two", &library("two"), MODERN)).unwrap();
    two.connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    // A copy does not keep the URIs.
    let _copy = one.clone();
    one.unmount();
    let text = loop {
        if let Ok(read) = client.read_resource("data://same").await {
            break read.contents[0].as_text().map(str::to_owned);
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(text.as_deref(), Some("two"));
}

#[tokio::test]
async fn uris_of_more_than_8_kib_are_not_served() {
    const MOST: usize = 8 << 10;
    let padded = |scheme: &str, end: &str, length: usize| {
        let filler = "x".repeat(length - scheme.len() - end.len());
        format!("{scheme}{filler}{end}")
    };
    let script = failing(move |message, line| {
        let (method, lengths) = (message["method"].as_str().unwrap(), [MOST, MOST + 1]);
        let result = if method == "resources/list" {
            let one = |length| json!({"name": "one", "uri": padded("one://", "", length)});
            json!({"resources": lengths.map(one)})
        } else if method == "resources/templates/list" {
            let two =
                |length| json!({"name": "two", "uriTemplate": padded("two://", "/{id}", length)});
            json!({"resourceTemplates": lengths.map(two)})
        } else {
            json!({"tools": []})
        };
        line.answer(message, &result);
        true
    });
    let (log, _guard) = Log::record(tracing::Level::WARN);
    let (gateway, proxy) = gateway();
    proxy.mount(script).unwrap().connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    let resources = client.resources().await.unwrap();
    let lengths: Vec<_> = resources.iter().map(|one| one.uri.len()).collect();
    assert_eq!(lengths, [MOST]);
    let templates = client.url_templates().await.unwrap();
    let lengths: Vec<_> = templates
        .iter()
        .map(|one| one.listed().uri_template.len())
        .collect();
    assert_eq!(lengths, [MOST]);
    let lines = log.lines();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    // It is known nevertheless, so no route for unlisted resources leads to it.
    let hidden = padded("two://", "/7", MOST - 2);
    let error = client.read_resource(&hidden).await.unwrap_err();
    assert!(error.to_string().contains("was not found"), "{error}");
}
