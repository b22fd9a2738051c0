//! Features that are added, replaced and removed on a running server.

use serde_json::{Value, json};
use treenail::dynamic::{Feature, FeatureSource, Prompt, Resource, ResourceTemplate, Tool};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::server::{Component, Edit};

use crate::support::notes::{Extra, first, second};
use crate::support::peer::{MODERN, Peer, text};

/// Makes a tool that returns a text.
fn says(name: &str, text: &'static str) -> Feature {
    Tool::new(name).handler(move |_, _| async move { text })
}

async fn call(server: &Server, name: &str) -> String {
    let mut peer = Peer::connect(server, MODERN).await;
    text(&peer.call(name, json!({})).await).to_owned()
}

async fn names(server: &Server) -> Vec<Value> {
    let mut peer = Peer::connect(server, MODERN).await;
    let listed = peer.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].clone()).collect()
}

#[tokio::test]
async fn each_kind_replaces_the_other_in_its_place() {
    let server = treenail::server!()
        .dynamic()
        .tools(tools![first, second])
        .add(says("third", "3"))
        .build()
        .unwrap();
    let order = ["first", "second", "third"];
    assert_eq!(call(&server, "first").await, "first");

    server
        .edit(|edit| edit.replace(|all| all.add([says("first", "1"), says("fourth", "4")])))
        .unwrap();
    assert_eq!(call(&server, "first").await, "1");
    assert_eq!(names(&server).await[..3], order, "it keeps its place");
    assert_eq!(names(&server).await[3], "fourth", "the others follow");

    server
        .edit(|edit| edit.replace(|all| all.tools(tools![first])))
        .unwrap();
    assert_eq!(call(&server, "first").await, "first");
    assert_eq!(names(&server).await[..3], order);
}

#[tokio::test]
async fn a_replacement_leaves_the_features_of_sources_alone() {
    let source = FeatureSource::new("");
    let server = treenail::server!().dynamic().build().unwrap();
    let edit = |change: &dyn Fn(Edit) -> Edit| server.edit(change).unwrap();
    edit(&|edit| edit.provide(&source, says("x", "source")));
    assert_eq!(call(&server, "x").await, "source");
    edit(&|edit| edit.add(says("x", "own")));
    edit(&|edit| edit.replace(|all| all.add(says("x", "replaced"))));
    assert_eq!(call(&server, "x").await, "replaced");
    edit(&|edit| edit.remove(Component::tool("x")));
    edit(&|edit| edit.provide(&source, says("x", "source")));
    assert_eq!(call(&server, "x").await, "source");
}

/// Value of a handler that uses the server when it is dropped.
struct Announcing(Server);

impl Drop for Announcing {
    fn drop(&mut self) {
        self.0.resource_updated("a://b");
    }
}

#[tokio::test]
async fn a_removed_handler_may_use_the_server() {
    let server = treenail::server!().dynamic().build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    peer.listen(1, json!({"toolsListChanged": true})).await;
    let announcing = Announcing(server.clone());
    let tool = Tool::new("x").handler(move |_, _| {
        let _ = &announcing;
        async { "x" }
    });
    server.edit(|edit| edit.add(tool)).unwrap();
    server
        .edit(|edit| edit.remove(Component::tool("x")))
        .unwrap();
    let (method, _) = peer.next_notification().await;
    assert_eq!(method, "notifications/tools/list_changed");
}

#[tokio::test]
async fn listed_and_unlisted_templates_replace_each_other() {
    let page = |text: &'static str, listed: bool| {
        let page = ResourceTemplate::new("docs://{id}", "page");
        let page = if listed { page } else { page.unlisted() };
        page.handler(move |_, _| async move { text })
    };
    let source = FeatureSource::new("");
    let server = treenail::server!().dynamic().build().unwrap();
    let edit = |change: &dyn Fn(Edit) -> Edit| server.edit(change).unwrap();
    edit(&|edit| edit.provide(&source, page("source", false)));
    edit(&|edit| edit.add(page("old", true)));
    for (text, listed) in [("1", false), ("2", true), ("3", true), ("4", false)] {
        edit(&|edit| edit.replace(|all| all.add(page(text, listed))));
        let mut peer = Peer::connect(&server, MODERN).await;
        let read = peer.read("docs://1").await;
        assert_eq!(read["contents"][0]["text"], text);
        let list = peer.request("resources/templates/list", json!({})).await;
        let list = list["result"]["resourceTemplates"].as_array().unwrap();
        assert_eq!(list.len(), usize::from(listed));
    }
}

#[tokio::test]
async fn only_nulls_that_are_invalid_are_left_out() {
    let descriptor = json!({
        "name": "edit",
        "inputSchema": {"type": "object", "properties": {
            "note": {"type": ["string", "null"]}, "count": {"type": "integer"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        }},
    });
    let descriptor: treenail::schema::Tool = serde_json::from_value(descriptor).unwrap();
    let tool =
        Tool::from(descriptor).handler(|_, arguments| async move { arguments.text().to_owned() });
    let server = treenail::server!().add(tool).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    for (given, expected) in [
        (json!({"note": null, "count": null}), json!({"note": null})),
        (json!({"note": null, "either": null}), json!({"note": null})),
        (json!({"note": null}), json!({"note": null})),
        (json!({"count": null}), json!({})),
    ] {
        let called = peer.call("edit", given).await;
        let got: Value = serde_json::from_str(text(&called)).unwrap();
        assert_eq!(got, expected);
    }
}

#[tokio::test]
async fn a_template_that_panics_matches_nothing() {
    let custom = ResourceTemplate::new("a://{id}", "custom")
        .accepts(|uri| uri.split_at(5).1 == "x")
        .handler(|_, _| async { "custom" });
    let server = treenail::server!().add(custom).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    let refused = peer
        .refused("resources/read", json!({"uri": "a://é"}))
        .await;
    assert!(refused.1.contains("not found"), "{refused:?}");
    assert_eq!(peer.read("a://1x").await["contents"][0]["text"], "custom");
}

#[tokio::test]
async fn namespaces_are_prefixes_of_the_names() {
    let server = treenail::server!().dynamic().build().unwrap();
    let add = |edit: Edit| {
        edit.namespace("a", |a| {
            let prompt = Prompt::new("prompt").handler(|_, _| async { "prompt" });
            let a = a.add([says("tool", "outer"), prompt]);
            a.namespace("b", |b| b.add(says("tool", "inner")))
        })
    };
    server.edit(add).unwrap();
    assert_eq!(names(&server).await, ["a.tool", "a.b.tool"]);
    let replace = |edit: Edit| {
        edit.replace(|all| all.namespace("a", |a| a.namespace("b", |b| b.add(says("tool", "new")))))
    };
    server.edit(replace).unwrap();
    assert_eq!(call(&server, "a.tool").await, "outer");
    assert_eq!(call(&server, "a.b.tool").await, "new");
    server
        .edit(|edit| edit.remove(Component::namespace("a")))
        .unwrap();
    assert_eq!(names(&server).await, [] as [Value; 0]);
}

#[tokio::test]
async fn an_edit_is_made_as_a_whole_or_not_at_all() {
    let server = treenail::server!().dynamic().mount(Extra).build().unwrap();
    let before = names(&server).await;
    for (edit, reason) in [
        (
            (|edit: Edit| {
                edit.replace(|all| all.add(says("extra_tool", "new")))
                    .add(says("go_away", "x"))
            }) as fn(Edit) -> Edit,
            "two tools have the name `go_away`",
        ),
        (
            |edit| edit.replace(|all| all.add([says("new", "1"), says("new", "2")])),
            "two tools have the name `new`",
        ),
        (
            |edit| edit.add(says("new", "1")).remove(Component::tool("none")),
            "there is no tool `none`",
        ),
        (
            |edit| edit.add(says("a b", "1")),
            "the tool name `a b` has characters",
        ),
    ] {
        let error = server.edit(edit).unwrap_err().to_string();
        assert!(error.starts_with(reason), "{error}");
        assert_eq!(names(&server).await, before);
    }
    assert_eq!(call(&server, "extra_tool").await, "extra");
}

#[tokio::test]
async fn peers_are_notified_of_replacements_only_of_the_kinds_that_changed() {
    for revision in Revision::ALL.into_iter().filter(|it| !it.is_modern()) {
        let resource = || Resource::new("extra://one", "one").handler(|_, _| async { "new" });
        let template =
            || ResourceTemplate::new("extra://some/{id}", "some").handler(|_, _| async { "some" });
        let server = treenail::server!().dynamic().mount(Extra).build().unwrap();
        let mut peer = Peer::connect(&server, revision).await;
        peer.told_nothing().await;
        server
            .edit(|edit| edit.replace(|all| all.add([resource(), template()])))
            .unwrap();
        let (method, _) = peer.next_notification().await;
        assert_eq!(method, "notifications/resources/list_changed");
        peer.told_nothing().await;
        let read = peer.read("extra://one").await;
        assert_eq!(read["contents"][0]["text"], "new");
        assert_eq!(
            peer.read("extra://some/1").await["contents"][0]["text"],
            "some"
        );
    }
}

#[tokio::test]
async fn a_disabled_feature_that_is_replaced_is_enabled() {
    let server = treenail::server!().dynamic().mount(Extra).build().unwrap();
    let tool = || Component::tool("extra_tool");
    server.edit(|edit| edit.disable(tool())).unwrap();
    server
        .edit(|edit| edit.replace(|all| all.add(says("extra_tool", "new"))))
        .unwrap();
    assert_eq!(call(&server, "extra_tool").await, "new");
}
