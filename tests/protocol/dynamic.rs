//! Servers that change while they run: what they offer then, and who is told.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::{Edit, Item, Limits, Server};

use crate::notes::{Extra, Notes, dynamic, extra, first, fixed, notes, second};
use crate::peer::{MODERN, Peer, initialize, text};

fn empty() -> Server {
    treenail::server!().dynamic().build().unwrap()
}

async fn greeting(server: &Server, revision: Revision) -> Value {
    let mut peer = Peer::silent(server, revision);
    let (method, params) = if revision.is_modern() {
        ("server/discover", json!({}))
    } else {
        ("initialize", initialize(revision.as_str()))
    };
    peer.request(method, params).await["result"].take()
}

impl Peer {
    /// The names of all tools.
    async fn tools(&mut self) -> Vec<String> {
        tool_names(&self.request("tools/list", json!({})).await)
    }

    /// Takes one notification for each list that has changed.
    async fn told_lists(&mut self) -> Vec<String> {
        let mut lists = Vec::new();
        for _ in 0..3 {
            let (method, params) = self.told().await;
            assert_eq!(params, Value::Null, "CLI-SUB-07: not tagged");
            lists.push(method);
        }
        lists
    }
}

const LISTS: [&str; 3] = [
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
];

#[tokio::test]
async fn a_dynamic_server_says_that_its_lists_change_also_while_they_are_empty() {
    // SRV-TOOL-01, SRV-TOOL-02, SRV-PRM-01, SRV-PRM-02, SRV-RES-01, SRV-RES-02, SRV-DISC-04
    let changes = json!({"listChanged": true});
    for revision in Revision::ALL {
        let capabilities = greeting(&empty(), revision).await["capabilities"].take();
        let expected =
            json!({"logging": {}, "tools": changes, "prompts": changes, "resources": changes});
        assert_eq!(capabilities, expected, "{revision}");

        let mut peer = Peer::connect(&empty(), revision).await;
        for (method, member) in [
            ("tools/list", "tools"),
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
        ] {
            let answer = peer.request(method, json!({})).await;
            assert_eq!(answer["result"][member], json!([]));
        }
        for (method, params, code) in [
            ("tools/call", json!({"name": "a"}), -32602),
            ("prompts/get", json!({"name": "a"}), -32602),
            (
                "resources/read",
                json!({"uri": "a://b"}),
                if revision.is_modern() { -32602 } else { -32002 },
            ),
            ("completion/complete", json!({}), -32601),
        ] {
            assert_eq!(peer.refused(method, params).await.0, code, "{method}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_dynamic_promises_no_changes_and_has_none() {
    // SRV-TOOL-01, SRV-RES-01: `subscribe` and `listChanged` are independent of each other
    let (server, _) = fixed(Limits::default());
    for revision in Revision::ALL {
        let capabilities = greeting(&server, revision).await["capabilities"].take();
        assert_eq!(capabilities["tools"], json!({}));
        assert_eq!(capabilities["prompts"], json!({}));
        assert_eq!(capabilities["resources"], json!({"subscribe": true}));
    }
    let message = server.edit(extra).unwrap_err().to_string();
    assert_eq!(
        message,
        "this server is not dynamic: build it with `ServerBuilder::dynamic()`"
    );
}

#[tokio::test]
async fn what_is_added_removed_disabled_and_enabled_is_offered_or_not() {
    // SRV-TOOL-02, SRV-TOOL-15, SRV-PRM-07
    for revision in Revision::ALL {
        let (server, _) = dynamic(Limits::default());
        let mut peer = Peer::connect(&server, revision).await;
        let steps: [(fn(Edit) -> Edit, &[&str]); 9] = [
            (|offer| offer, &["notes.count", "notes.wait", "notes.touch"]),
            (
                |offer| offer.disable(Item::tool("notes.wait")).tools(tools![first]),
                &["notes.count", "notes.touch", "first"],
            ),
            (
                |offer| offer.enable(Item::tool("notes.wait")),
                &["notes.count", "notes.wait", "notes.touch", "first"],
            ),
            (|offer| offer.disable(Item::mounted::<Notes>()), &["first"]),
            (
                |offer| {
                    offer
                        .enable(Item::namespace("notes"))
                        .remove(Item::tool("notes.wait"))
                        .remove(Item::tool("first"))
                },
                &["notes.count", "notes.touch"],
            ),
            (
                |offer| {
                    offer.remove(Item::namespace("notes")).namespace("a", |a| {
                        a.namespace("b", |b| b.tools(tools![first, second]))
                    })
                },
                &["a.b.first", "a.b.second"],
            ),
            (|offer| offer.disable(Item::namespace("a")), &[]),
            (
                // What is removed makes room for another one of its name.
                |offer| {
                    offer
                        .remove(Item::tool("a.b.first"))
                        .enable(Item::namespace("a.b"))
                        .namespace("a.b", |b| b.tools(tools![first]))
                },
                &["a.b.second", "a.b.first"],
            ),
            (|offer| offer.remove(Item::namespace("a")), &[]),
        ];
        for (change, expected) in steps {
            server.edit(change).unwrap();
            let (_, listed) = peer.request_told("tools/list", json!({})).await;
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
async fn prompts_and_resources_come_and_go_as_tools_do() {
    // SRV-PRM-07, SRV-RES-06
    for revision in Revision::ALL {
        let server = empty();
        let mut peer = Peer::connect(&server, revision).await;
        let absent = if revision.is_modern() { -32602 } else { -32002 };
        let offered = |offered: bool, code: i64| if offered { None } else { Some(code) };
        let steps: [(fn(Edit) -> Edit, bool, bool); 5] = [
            (extra, true, true),
            (
                |offer| offer.disable(Item::prompt("extra_prompt")),
                false,
                true,
            ),
            (
                |offer| {
                    offer
                        .enable(Item::prompt("extra_prompt"))
                        .disable(Item::resource("extra://one"))
                },
                true,
                false,
            ),
            (
                |offer| {
                    offer
                        .remove(Item::prompt("extra_prompt"))
                        .enable(Item::resource("extra://one"))
                },
                false,
                true,
            ),
            (
                |offer| offer.remove(Item::resource("extra://one")),
                false,
                false,
            ),
        ];
        for (change, prompt, resource) in steps {
            server.edit(change).unwrap();
            let prompts = json!({"name": "extra_prompt"});
            let (_, answer) = peer.request_told("prompts/get", prompts).await;
            assert_eq!(answer["error"]["code"].as_i64(), offered(prompt, -32602));
            let uri = json!({"uri": "extra://one"});
            let answer = peer.request("resources/read", uri).await;
            assert_eq!(answer["error"]["code"].as_i64(), offered(resource, absent));
        }
    }
}

#[tokio::test]
async fn what_is_hidden_is_not_hinted_at() {
    // SRV-TOOL-15
    let (server, _) = dynamic(Limits::default());
    server
        .edit(|offer| {
            offer
                .disable(Item::tool("notes.count"))
                .remove(Item::tool("notes.touch"))
                .disable(Item::resource("notes://all"))
        })
        .unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
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
async fn an_edit_that_fails_changes_nothing_and_tells_nobody() {
    let (server, gate) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let before = peer.request("tools/list", json!({})).await;
    let table: [(Box<dyn Fn(Edit) -> Edit>, &str); 7] = [
        (
            Box::new(|offer| offer.remove(Item::tool("notes.coumt"))),
            "there is no tool `notes.coumt`; did you mean `notes.count`?",
        ),
        (
            Box::new(|offer| offer.disable(Item::prompt("other"))),
            "there is no prompt `other`",
        ),
        (
            Box::new(|offer| offer.enable(Item::resource("notes://al"))),
            "there is no resource `notes://al`; did you mean `notes://all`?",
        ),
        (
            Box::new(|offer| offer.remove(Item::namespace("note"))),
            "there is no namespace `note`",
        ),
        (
            Box::new(|offer| offer.remove(Item::mounted::<Extra>())),
            "there is no mounted type `protocol::notes::Extra`",
        ),
        (
            Box::new(move |offer| offer.mount(notes(&gate))),
            "two tools have the name `notes.count`; give one of them `name = \"…\"` or a namespace",
        ),
        (
            // What is disabled keeps its name.
            Box::new(|offer| {
                offer
                    .tools(tools![first])
                    .disable(Item::tool("first"))
                    .tools(tools![first])
            }),
            "two tools have the name `first`; give one of them `name = \"…\"` or a namespace",
        ),
    ];
    for (change, expected) in table {
        // A change before the one that fails does not happen either.
        let failed = server.edit(|offer| change(offer.disable(Item::tool("notes.wait"))));
        assert_eq!(failed.unwrap_err().to_string(), expected);
        let mut after = peer.request("tools/list", json!({})).await;
        after["id"] = before["id"].clone();
        assert_eq!(after, before, "{expected}");
    }
}

#[tokio::test]
async fn a_legacy_peer_is_told_which_lists_have_changed() {
    // SRV-TOOL-04, SRV-RES-10, SRV-PRM-08, SRV-SUB-09, SRV-LIFE-03, CLI-SUB-07
    for revision in Revision::ALL {
        if revision.is_modern() {
            continue;
        }
        let (server, _) = dynamic(Limits::default());
        let mut early = Peer::silent(&server, revision);
        let mut modern = Peer::connect(&server, MODERN).await;
        let mut peer = Peer::connect(&server, revision).await;
        early.request("ping", json!({})).await;
        early
            .request("initialize", initialize(revision.as_str()))
            .await;
        modern.told_nothing().await;

        server.edit(extra).unwrap();
        assert_eq!(peer.told_lists().await, LISTS, "{revision}");
        server
            .edit(|offer| offer.disable(Item::prompt("notes.summary")))
            .unwrap();
        assert_eq!(peer.told().await.0, LISTS[1]);
        // Nothing has changed in the end, so there is nothing to tell.
        for _ in 0..2 {
            server
                .edit(|offer| {
                    offer
                        .disable(Item::tool("notes.wait"))
                        .enable(Item::tool("notes.wait"))
                })
                .unwrap();
            server
                .edit(|offer| offer.disable(Item::prompt("notes.summary")))
                .unwrap();
        }
        peer.told_nothing().await;
        // SRV-LIFE-03: not before the handshake is finished; ALL-ERA-01: nor a modern peer that does not listen.
        early.request("ping", json!({})).await;
        modern.told_nothing().await;
    }
}

#[tokio::test]
async fn calls_in_flight_go_on_with_what_they_were_called_for() {
    for revision in [Revision::V2025_06_18, MODERN] {
        let (server, gate) = dynamic(Limits::default());
        let mut peer = Peer::connect(&server, revision).await;
        let id = peer
            .begin("tools/call", json!({"name": "notes.wait"}))
            .await;
        peer.request("prompts/list", json!({})).await;
        server
            .edit(|offer| offer.remove(Item::mounted::<Notes>()))
            .unwrap();
        gate.add_permits(1);
        let (mut told, mut answer) = (0, Value::Null);
        while answer.is_null() {
            let message = peer.receive_any().await.unwrap();
            if message.get("id").is_some() {
                answer = message;
            } else {
                told += 1;
            }
        }
        assert_eq!(answer["id"], id);
        assert_eq!(text(&answer["result"]), "waited");
        assert!(told <= if revision.is_modern() { 0 } else { 3 });
    }
}

#[tokio::test]
async fn a_function_can_change_its_own_server() {
    for revision in Revision::ALL {
        let server = empty();
        let mut peer = Peer::connect(&server, revision).await;
        peer.told_nothing().await;
        server.edit(extra).unwrap();
        if !revision.is_modern() {
            peer.told_lists().await;
        }
        assert_eq!(text(&peer.call("go_away", json!({})).await), "gone");
        if !revision.is_modern() {
            assert_eq!(peer.told().await.0, LISTS[0]);
        }
        assert_eq!(peer.tools().await, [] as [&str; 0]);
    }
}

#[tokio::test]
async fn a_server_that_nobody_has_any_more_is_dropped() {
    let (server, gate) = dynamic(Limits::default());
    assert_eq!(Arc::strong_count(&gate), 2);
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    peer.call("notes.touch", json!({"uri": "notes://all"}))
        .await;
    let waiting = json!({"name": "notes.wait"});
    peer.begin("tools/call", waiting).await;
    server
        .edit(|offer| offer.remove(Item::mounted::<Notes>()))
        .unwrap();
    gate.add_permits(1);
    drop(server);
    peer.finish().await;
    assert_eq!(Arc::strong_count(&gate), 1, "the state is gone with it");
}

#[tokio::test]
async fn cursors_outlive_edits_unless_their_item_is_gone() {
    // SRV-PAGE-02, CLI-CACHE-10: the client starts over when a cursor turns invalid
    let tools = |offer: Edit| offer.tools(tools![first, second]).mount(Extra);
    for revision in Revision::ALL {
        let limits = Limits {
            page_size: 2,
            ..Limits::default()
        };
        let server = treenail::server!().dynamic().limits(limits);
        let server = server.build().unwrap();
        server.edit(tools).unwrap();
        let mut peer = Peer::connect(&server, revision).await;
        let page = peer.request("tools/list", json!({})).await;
        let cursor = json!({"cursor": page["result"]["nextCursor"]});
        assert_eq!(tool_names(&page), ["first", "second"]);

        // The item is in the middle of a page now; no item is left out and none comes twice.
        server
            .edit(|offer| offer.remove(Item::tool("first")))
            .unwrap();
        let (_, page) = peer.request_told("tools/list", cursor.clone()).await;
        assert_eq!(tool_names(&page), ["extra_tool", "go_away"]);
        assert_eq!(page["result"].get("nextCursor"), None);

        server
            .edit(|offer| offer.disable(Item::tool("extra_tool")))
            .unwrap();
        let (_, answer) = peer.request_told("tools/list", cursor).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test]
async fn what_a_server_says_of_itself_follows_edits() {
    // SRV-DISC-04, SRV-CMP-01, SRV-RES-01
    let gate = Arc::new(Semaphore::new(0));
    let server = treenail::server!().dynamic().instructions("Be brief.");
    let server = server.build().unwrap();
    let said = |greeting: &Value| {
        let capabilities = &greeting["capabilities"];
        let subscribe = capabilities["resources"]["subscribe"] == true;
        let completes = capabilities.get("completions").is_some();
        let instructions = greeting["instructions"].as_str().unwrap().to_owned();
        (subscribe, completes, instructions)
    };
    let state = Arc::clone(&gate);
    let steps: [(Box<dyn Fn(Edit) -> Edit>, bool, bool, &str); 5] = [
        (
            Box::new(move |offer| offer.mount(notes(&state))),
            true,
            true,
            "Be brief.\n\nNotes are short.",
        ),
        (
            Box::new(extra),
            true,
            true,
            "Be brief.\n\nNotes are short.\n\nExtra is more.",
        ),
        (
            Box::new(|offer| offer.disable(Item::namespace("notes"))),
            true,
            false,
            "Be brief.\n\nExtra is more.",
        ),
        (
            Box::new(|offer| offer.remove(Item::mounted::<Extra>())),
            false,
            false,
            "Be brief.",
        ),
        (
            Box::new(|offer| offer.enable(Item::prompt("notes.summary"))),
            false,
            true,
            "Be brief.\n\nNotes are short.",
        ),
    ];
    for (change, subscribe, completes, instructions) in steps {
        server.edit(change).unwrap();
        for revision in Revision::ALL {
            let completes = completes && revision >= Revision::V2025_03_26;
            let expected = (subscribe, completes, instructions.to_owned());
            let greeting = greeting(&server, revision).await;
            assert_eq!(said(&greeting), expected, "{revision}");
        }
    }
}

#[tokio::test]
async fn no_request_sees_half_of_an_edit_and_no_edit_is_lost() {
    let server = empty();
    server.edit(|offer| offer.tools(tools![first])).unwrap();
    let swap = |server: &Server| {
        for _ in 0..100 {
            let there = |offer: Edit| offer.remove(Item::tool("first")).tools(tools![second]);
            server.edit(there).unwrap();
            let back = |offer: Edit| offer.remove(Item::tool("second")).tools(tools![first]);
            server.edit(back).unwrap();
        }
    };
    let add = |server: &Server| {
        for number in 0..100 {
            let name = format!("n{number}");
            server
                .edit(|offer| offer.namespace(name, |inner| inner.tools(tools![first])))
                .unwrap();
        }
    };
    let (one, two) = (server.clone(), server.clone());
    let swap = std::thread::spawn(move || swap(&one));
    let add = std::thread::spawn(move || add(&two));
    let mut peer = Peer::connect(&server, MODERN).await;
    let mut count = 0;
    while !(swap.is_finished() && add.is_finished()) {
        let tools = peer.tools().await;
        let both = ["first", "second"].map(|name| tools.iter().any(|tool| tool == name));
        assert!(both == [true, false] || both == [false, true], "{tools:?}");
        assert!(tools.len() >= count, "an older offer came back");
        count = tools.len();
    }
    swap.join().unwrap();
    add.join().unwrap();
    assert_eq!(peer.tools().await.len(), 101);
}

fn tool_names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}
