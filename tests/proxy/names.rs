//! Names of features at a proxy: characters that names must not have, and new names.

use treenail::dynamic::Tool;
use treenail::prelude::*;

use crate::list_faults::failing;
use crate::log::Log;
use crate::station::{LEGACY, MODERN, client_of, gateway, remote, station};

#[tokio::test]
async fn a_name_that_is_changed_is_the_title() {
    let remote = failing(|message, line| {
        let schema = json!({"type": "object"});
        line.answer(
            message,
            &json!({
                "tools": [
                    {"name": "größer", "inputSchema": schema},
                    {"name": "läuft", "inputSchema": schema, "annotations": {"title": "Runs"}},
                ],
                "resources": [
                    {"name": "日本語", "uri": "data://1"},
                    {"name": "plain", "uri": "data://2"},
                    {"name": "Übersicht", "uri": "data://3", "title": "Overview"},
                ],
                "resourceTemplates": [{"name": "né", "uriTemplate": "data://x/{x}"}],
            }),
        );
        true
    });
    let (gateway, proxy) = gateway();
    proxy.mount(remote).unwrap().connected().await;
    for caller in [LEGACY, MODERN] {
        let client = client_of(&gateway, caller).build().await.unwrap();
        let tools = client.tools().await.unwrap();
        let tools = tools.iter().map(|one| (&*one.name, one.title.as_deref()));
        let expected = [("script.gr__er", Some("größer")), ("script.l_uft", None)];
        assert_eq!(tools.collect::<Vec<_>>(), expected, "{caller}");
        let resources = client.resources().await.unwrap();
        let resources = resources
            .iter()
            .map(|one| (&*one.name, one.title.as_deref()));
        let expected = [
            ("script.___", Some("日本語")),
            ("script.plain", None),
            ("script._bersicht", Some("Overview")),
        ];
        assert_eq!(resources.collect::<Vec<_>>(), expected, "{caller}");
        let templates = client.url_templates().await.unwrap();
        let title = templates.first().unwrap().listed().title.clone();
        assert_eq!(title.as_deref(), Some("né"), "{caller}");
    }
}

#[tokio::test]
async fn a_new_name_for_nothing_is_reported_once() {
    let (log, _guard) = Log::record(tracing::Level::WARN);
    let (station, _) = station();
    let (gateway, proxy) = gateway();
    let remote = remote("st", &station, MODERN)
        .rename("ad", "plus")
        .rename("fail", "crash");
    proxy.mount(remote).unwrap().connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    assert!(client.tool("st.crash").await.unwrap().is_some());
    let lines = log.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("the server has no `ad`; did you mean `add`?"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn instructions_have_a_heading_with_the_prefix_of_the_names() {
    let server = Server::builder("one", "1")
        .instructions("Call `who` first.")
        .add(Tool::new("who").handler(|_, _| async { "one" }))
        .build()
        .unwrap();
    let (gateway, proxy) = gateway();
    for name in ["a", "b"] {
        let mounted = proxy.mount(remote(name, &server, MODERN)).unwrap();
        mounted.connected().await;
    }
    // Without a text, there is no heading.
    let silent = Server::builder("silent", "1").instructions(" ");
    let silent = silent.add(Tool::new("who").handler(|_, _| async { "two" }));
    let silent = remote("c", &silent.build().unwrap(), MODERN);
    proxy.mount(silent).unwrap().connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    assert_eq!(
        client.session().instructions().unwrap(),
        "# Server `a`: its names start with `a.`\n\nCall `who` first.\n\n\
         # Server `b`: its names start with `b.`\n\nCall `who` first."
    );
}
