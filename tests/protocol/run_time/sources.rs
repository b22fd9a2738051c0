//! Features of sources that are disabled while their source changes.

use serde_json::json;
use treenail::dynamic::{Feature, FeatureSource, Prompt, ResourceTemplate, Tool};
use treenail::prelude::*;
use treenail::server::{Component, Edit};

use crate::support::peer::{MODERN, Peer, text};

fn tool(name: &str) -> Feature {
    Tool::new(name).handler(|_, _| async { "done" })
}

fn edit(server: &Server, change: impl Fn(Edit) -> Edit) {
    server.edit(change).unwrap();
}

fn server() -> Server {
    treenail::server!().dynamic().build().unwrap()
}

async fn is_served(server: &Server, name: &str) -> bool {
    let mut peer = Peer::connect(server, MODERN).await;
    let listed = peer.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let is_listed = tools.iter().any(|tool| tool["name"] == name);
    let called = peer.request("tools/call", json!({"name": name})).await;
    assert_eq!(is_listed, called.get("error").is_none(), "{called}");
    is_listed
}

#[tokio::test]
async fn a_disabled_feature_of_a_source_stays_disabled() {
    for separator in [".", "_"] {
        let builder = treenail::server!().dynamic().name_separator(separator);
        let server = builder.build().unwrap();
        let (source, other) = (FeatureSource::new("up"), FeatureSource::new("up"));
        let name = format!("up{separator}delete");
        let disable = |edit: Edit| edit.disable(Component::tool("up.delete"));
        edit(&server, |edit| edit.provide(&source, tool("delete")));
        edit(&server, disable);
        // Its source changes, and does not have it for a while.
        for more in ["a", "b"] {
            edit(&server, |edit| {
                edit.provide(&source, [tool("delete"), tool(more)])
            });
            assert!(!is_served(&server, &name).await);
            edit(&server, |edit| edit.provide(&source, []));
        }
        // Another source decides for itself, and a removal is no permission.
        edit(&server, |edit| edit.provide(&other, tool("delete")));
        assert!(is_served(&server, &name).await);
        edit(&server, |edit| edit.provide(&other, []));
        edit(&server, |edit| edit.provide(&source, tool("delete")));
        edit(&server, |edit| edit.remove(Component::tool("up.delete")));
        edit(&server, |edit| edit.provide(&source, tool("delete")));
        assert!(!is_served(&server, &name).await);

        edit(&server, |edit| edit.enable(Component::tool("up.delete")));
        assert!(is_served(&server, &name).await);
        edit(&server, |edit| edit.provide(&source, tool("delete")));
        assert!(is_served(&server, &name).await);
    }
}

#[tokio::test]
async fn an_absent_feature_of_a_source_can_be_enabled() {
    let (server, source) = (server(), FeatureSource::new("up"));
    edit(&server, |edit| {
        let edit = edit.provide(&source, [tool("a"), tool("b"), tool("c")]);
        edit.disable(Component::namespace("up"))
            .provide(&source, [])
            .enable(Component::tool("up.a"))
    });
    edit(&server, |edit| {
        edit.provide(&source, [tool("a"), tool("b"), tool("c")])
    });
    for (name, served) in [("up.a", true), ("up.b", false), ("up.c", false)] {
        assert_eq!(is_served(&server, name).await, served, "{name}");
    }
    edit(&server, |edit| edit.provide(&source, []));
    edit(&server, |edit| edit.enable(Component::namespace("up")));
    let unknown = server.edit(|edit| edit.enable(Component::tool("up.b")));
    let message = unknown.unwrap_err().to_string();
    assert!(
        message.contains("there is no tool `up.b`"),
        "it is not disabled any more: {message}"
    );
}

#[tokio::test]
async fn each_kind_of_a_source_stays_disabled() {
    let (server, source) = (server(), FeatureSource::new("up"));
    let page = || ResourceTemplate::new("docs://{id}", "page");
    let prompt = || Prompt::new("plan").handler(|_, _| async { "plan" });
    let disable = |edit: Edit| {
        let edit = edit.disable(Component::resource("docs://{id}"));
        edit.disable(Component::prompt("up.plan"))
    };
    let read = || async { "page" };
    edit(&server, |edit| {
        disable(edit.provide(&source, [page().handler(move |_, _| read()), prompt()]))
    });
    edit(&server, |edit| {
        let unlisted = page().unlisted().handler(move |_, _| read());
        edit.provide(&source, [unlisted, prompt()])
    });
    let mut peer = Peer::connect(&server, MODERN).await;
    peer.refused("resources/read", json!({"uri": "docs://1"}))
        .await;
    peer.refused("prompts/get", json!({"name": "up.plan"}))
        .await;
}

#[tokio::test]
async fn disabled_features_that_a_source_does_not_have_are_bounded() {
    let (server, source) = (server(), FeatureSource::new(""));
    let all = || (0..1002).map(|number| tool(&format!("t{number}")));
    edit(&server, |edit| {
        let edit = edit.provide(&source, all());
        (0..1002).fold(edit, |edit, number| {
            edit.disable(Component::tool(format!("t{number}")))
        })
    });
    edit(&server, |edit| edit.provide(&source, all()));
    assert!(!is_served(&server, "t0").await, "all are present");
    edit(&server, |edit| edit.provide(&source, tool("t0")));
    edit(&server, |edit| edit.provide(&source, all()));
    for (name, served) in [("t0", false), ("t1", true), ("t2", false), ("t1001", false)] {
        assert_eq!(is_served(&server, name).await, served, "{name}");
    }
    let called = {
        let mut peer = Peer::connect(&server, MODERN).await;
        peer.call("t1", json!({})).await
    };
    assert_eq!(text(&called), "done");
}
