//! Servers that change at run time: their lists, and edits that fail.

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::server::{Component, Edit};
use treenail::{Limits, Server};

use crate::support::covering::{covering, covering_one};
use crate::support::notes::{Extra, Notes, dynamic, extra, first, notes, second};
use crate::support::peer::Peer;

type Change = fn(Edit) -> Edit;
pub(crate) type AnyChange = Box<dyn Fn(Edit) -> Edit>;

pub(crate) fn empty() -> Server {
    treenail::server!().dynamic().build().unwrap()
}

impl Peer {
    /// Returns the names of all tools.
    pub(crate) async fn tools(&mut self) -> Vec<String> {
        tool_names(&self.request("tools/list", json!({})).await)
    }
}

#[tokio::test]
async fn edits_change_the_listed_tools() {
    for revision in covering("SRV-TOOL-02, SRV-TOOL-15") {
        let (server, _) = dynamic(Limits::default());
        let mut peer = Peer::connect(&server, revision).await;
        let steps: [(Change, &[&str]); 9] = [
            (|offer| offer, &["notes.count", "notes.wait", "notes.touch"]),
            (
                |offer| {
                    offer
                        .disable(Component::tool("notes.wait"))
                        .tools(tools![first])
                },
                &["notes.count", "notes.touch", "first"],
            ),
            (
                |offer| offer.enable(Component::tool("notes.wait")),
                &["notes.count", "notes.wait", "notes.touch", "first"],
            ),
            (
                |offer| offer.disable(Component::mounted::<Notes>()),
                &["first"],
            ),
            (
                |offer| {
                    offer
                        .enable(Component::namespace("notes"))
                        .remove(Component::tool("notes.wait"))
                        .remove(Component::tool("first"))
                },
                &["notes.count", "notes.touch"],
            ),
            (
                |offer| {
                    offer
                        .remove(Component::namespace("notes"))
                        .namespace("a", |a| {
                            a.namespace("b", |b| b.tools(tools![first, second]))
                        })
                },
                &["a.b.first", "a.b.second"],
            ),
            (|offer| offer.disable(Component::namespace("a")), &[]),
            (
                // A removed item frees its name.
                |offer| {
                    offer
                        .remove(Component::tool("a.b.first"))
                        .enable(Component::namespace("a.b"))
                        .namespace("a.b", |b| b.tools(tools![first]))
                },
                &["a.b.second", "a.b.first"],
            ),
            (|offer| offer.remove(Component::namespace("a")), &[]),
        ];
        for (change, expected) in steps {
            server.edit(change).unwrap();
            let (_, listed) = peer
                .request_with_notifications("tools/list", json!({}))
                .await;
            let names = tool_names(&listed);
            assert_eq!(names, expected, "{revision}");
            for name in ["notes.count", "first"] {
                let params = json!({"name": name});
                let answer = peer.request("tools/call", params).await;
                let offered = expected.contains(&name);
                assert_eq!(answer.get("result").is_some(), offered, "{name}: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn edits_change_the_listed_prompts_and_resources() {
    for revision in covering("SRV-PRM-07, SRV-RES-06") {
        let server = empty();
        let mut peer = Peer::connect(&server, revision).await;
        let absent = if revision.is_modern() { -32602 } else { -32002 };
        let offered = |offered: bool, code: i64| if offered { None } else { Some(code) };
        let steps: [(Change, bool, bool); 5] = [
            (extra, true, true),
            (
                |offer| offer.disable(Component::prompt("extra_prompt")),
                false,
                true,
            ),
            (
                |offer| {
                    offer
                        .enable(Component::prompt("extra_prompt"))
                        .disable(Component::resource("extra://one"))
                },
                true,
                false,
            ),
            (
                |offer| {
                    offer
                        .remove(Component::prompt("extra_prompt"))
                        .enable(Component::resource("extra://one"))
                },
                false,
                true,
            ),
            (
                |offer| offer.remove(Component::resource("extra://one")),
                false,
                false,
            ),
        ];
        for (change, prompt, resource) in steps {
            server.edit(change).unwrap();
            let prompts = json!({"name": "extra_prompt"});
            let (_, answer) = peer
                .request_with_notifications("prompts/get", prompts)
                .await;
            assert_eq!(answer["error"]["code"].as_i64(), offered(prompt, -32602));
            let uri = json!({"uri": "extra://one"});
            let answer = peer.request("resources/read", uri).await;
            assert_eq!(answer["error"]["code"].as_i64(), offered(resource, absent));
        }
    }
}

#[tokio::test]
async fn disabled_items_are_not_suggested() {
    let revision = covering_one("SRV-TOOL-15 in 2026-07-28");
    let (server, _) = dynamic(Limits::default());
    server
        .edit(|offer| {
            offer
                .disable(Component::tool("notes.count"))
                .remove(Component::tool("notes.touch"))
                .disable(Component::resource("notes://all"))
        })
        .unwrap();
    let mut peer = Peer::connect(&server, revision).await;
    for name in ["notes.count", "notes.coumt", "notes.touch", "notes.tuoch"] {
        let (code, message) = peer.refused("tools/call", json!({"name": name})).await;
        assert_eq!(code, -32602);
        let (_, hint) = message.split_once("did you mean").unwrap_or_default();
        assert!(hint.is_empty() || hint == " `notes.wait`?", "{message}");
    }
    for uri in ["notes://all", "notes://al"] {
        let (_, message) = peer.refused("resources/read", json!({"uri": uri})).await;
        assert!(!message.contains("did you mean"), "{message}");
    }
}

#[tokio::test]
async fn failed_edits_change_nothing_and_send_no_notification() {
    let (server, gate) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let before = peer.request("tools/list", json!({})).await;
    let table: [(AnyChange, &str); 7] = [
        (
            Box::new(|offer| offer.remove(Component::tool("notes.coumt"))),
            "there is no tool `notes.coumt`; did you mean `notes.count`?",
        ),
        (
            Box::new(|offer| offer.disable(Component::prompt("other"))),
            "there is no prompt `other`",
        ),
        (
            Box::new(|offer| offer.enable(Component::resource("notes://al"))),
            "there is no resource `notes://al`; did you mean `notes://all`?",
        ),
        (
            Box::new(|offer| offer.remove(Component::namespace("note"))),
            "there is no namespace `note`",
        ),
        (
            Box::new(|offer| offer.remove(Component::mounted::<Extra>())),
            "there is no mounted type `protocol::support::notes::Extra`",
        ),
        (
            Box::new(move |offer| offer.mount(notes(&gate))),
            "two tools have the name `notes.count`; give one of them `name = \"…\"` or a namespace",
        ),
        (
            // A disabled item reserves its name.
            Box::new(|offer| {
                offer
                    .tools(tools![first])
                    .disable(Component::tool("first"))
                    .tools(tools![first])
            }),
            "two tools have the name `first`; give one of them `name = \"…\"` or a namespace",
        ),
    ];
    for (change, expected) in table {
        // Changes before the failing one are rolled back too.
        let failed = server.edit(|offer| change(offer.disable(Component::tool("notes.wait"))));
        assert_eq!(failed.unwrap_err().to_string(), expected);
        let mut after = peer.request("tools/list", json!({})).await;
        after["id"] = before["id"].clone();
        assert_eq!(after, before, "{expected}");
    }
}

pub(crate) fn tool_names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}
