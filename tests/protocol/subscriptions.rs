//! Subscriptions: `subscriptions/listen` of the modern era, and what the legacy era has for it.

use std::time::Duration;

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::{Item, Limits};

use crate::notes::{dynamic, extra, first, fixed};
use crate::peer::{MODERN, Peer, error, meta, text};
use crate::validator::{validate, validate_notification};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const UPDATED: &str = "notifications/resources/updated";
const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";

fn listen(id: impl Into<Value>, notifications: Value) -> Value {
    let meta: serde_json::Map<_, _> = meta(MODERN.as_str())
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    let params = json!({"notifications": notifications, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "subscriptions/listen", "params": params})
}

fn cancel(id: impl Into<Value>) -> Value {
    let params = json!({"requestId": id.into()});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

/// What a subscription to everything asks for.
fn everything() -> Value {
    json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["notes://all", "notes://by-id/7"],
    })
}

impl Peer {
    /// Begins a subscription, and returns what is acknowledged.
    async fn listen(&mut self, id: impl Into<Value>, notifications: Value) -> Value {
        let id = id.into();
        self.send(&listen(id.clone(), notifications)).await;
        let mut params = self.tagged(&id, ACKNOWLEDGED).await;
        params["notifications"].take()
    }

    /// Takes the next notification, of the subscription `id`, and returns its params.
    async fn tagged(&mut self, id: &Value, method: &str) -> Value {
        let (told, params) = self.told().await;
        assert_eq!(told, method, "{params}");
        let tag = &params["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(tag, id, "SRV-META-06, SRV-SUB-05: {params}");
        params
    }

    /// Takes `notifications/resources/updated`, with a tag or without.
    async fn told_update(&mut self, uri: &str) {
        let (method, params) = self.told().await;
        assert_eq!((&*method, &params["uri"]), (UPDATED, &json!(uri)));
    }
}

#[tokio::test]
async fn the_acknowledgement_comes_first_and_says_what_is_honoured() {
    // SRV-SUB-02, SRV-SUB-03, SRV-SUB-04, SRV-SUB-05
    let table = [
        (everything(), everything()),
        (json!({}), json!({})),
        (
            json!({"toolsListChanged": false, "promptsListChanged": true, "other": 1}),
            json!({"promptsListChanged": true}),
        ),
        (
            // Unknown, not marked, twice, and one of a template.
            json!({"resourceSubscriptions": [
                "notes://none", "notes://fixed", "notes://old/1",
                "notes://all", "notes://all", "notes://by-id/1",
            ]}),
            json!({"resourceSubscriptions": ["notes://all", "notes://by-id/1"]}),
        ),
    ];
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, MODERN).await;
    for (number, (asked, honoured)) in table.into_iter().enumerate() {
        // An event right after the request does not overtake the acknowledgement.
        let id = json!(number);
        peer.send(&listen(id.clone(), asked)).await;
        server.resource_updated("notes://all");
        let params = peer.tagged(&id, ACKNOWLEDGED).await;
        assert_eq!(params["notifications"], honoured);
        peer.send(&cancel(id)).await;
        peer.told_nothing().await;
    }
}

#[tokio::test]
async fn what_cannot_change_is_not_honoured() {
    // SRV-SUB-04, AMB-18
    let (server, _) = fixed(Limits::default());
    let mut peer = Peer::connect(&server, MODERN).await;
    let honoured = peer.listen(1, everything()).await;
    let uris = json!({"resourceSubscriptions": ["notes://all", "notes://by-id/7"]});
    assert_eq!(honoured, uris);

    let nothing = treenail::server!().tools(tools![first]).build().unwrap();
    let mut peer = Peer::connect(&nothing, MODERN).await;
    assert_eq!(peer.listen("id", everything()).await, json!({}));
    peer.told_nothing().await;
}

#[tokio::test]
async fn only_what_was_asked_for_is_told() {
    // SRV-SUB-01, SRV-SUB-09, SRV-RES-09, SRV-TOOL-04
    let table = [
        (json!({"toolsListChanged": true}), &[TOOLS][..]),
        (json!({"promptsListChanged": true}), &[PROMPTS]),
        (json!({"resourcesListChanged": true}), &[RESOURCES]),
        (
            json!({"resourceSubscriptions": ["notes://by-id/7"]}),
            &[UPDATED],
        ),
        (everything(), &[TOOLS, PROMPTS, RESOURCES, UPDATED, UPDATED]),
        (json!({}), &[]),
    ];
    for (asked, expected) in table {
        let (server, _) = dynamic(Limits::default());
        let mut peer = Peer::connect(&server, MODERN).await;
        let mut other = Peer::connect(&server, MODERN).await;
        peer.listen("s", asked).await;
        other.told_nothing().await;
        server.edit(extra).unwrap();
        for uri in [
            "notes://all",
            "notes://by-id/7",
            "notes://by-id/8",
            "notes://by-id/",
        ] {
            server.resource_updated(uri);
        }
        for method in expected {
            peer.tagged(&json!("s"), method).await;
        }
        peer.told_nothing().await;
        other.told_nothing().await;
    }
}

#[tokio::test]
async fn several_subscriptions_of_one_connection_are_told_apart() {
    // SRV-SUB-05, SRV-SUB-06, CLI-SUB-03, CLI-SUB-04, GEN-03
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, MODERN).await;
    let tools = json!({"toolsListChanged": true});
    let both = json!({"toolsListChanged": true, "promptsListChanged": true});
    let (number, string) = (json!(1), json!("1"));
    peer.listen(1, tools).await;
    peer.listen("1", both).await;
    // One number that no other type holds comes back as it is too.
    let huge = "123456789012345678901234567890";
    let line = listen(0, json!({})).to_string();
    peer.send_line(&line.replace("\"id\":0", &format!("\"id\":{huge}")))
        .await;
    let huge: Value = serde_json::from_str(huge).unwrap();
    peer.tagged(&huge, ACKNOWLEDGED).await;

    server.edit(extra).unwrap();
    let mut told = Vec::new();
    for _ in 0..3 {
        let (method, params) = peer.told().await;
        let tag = params["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
        told.push((method, tag));
    }
    for expected in [(TOOLS, &number), (TOOLS, &string), (PROMPTS, &string)] {
        let count = told
            .iter()
            .filter(|(method, tag)| (&**method, tag) == expected);
        assert_eq!(count.count(), 1, "{expected:?}: {told:?}");
    }

    peer.send(&cancel("1")).await;
    peer.told_nothing().await;
    server
        .edit(|offer| offer.remove(Item::tool("extra_tool")))
        .unwrap();
    peer.tagged(&number, TOOLS).await;
    peer.told_nothing().await;

    // What has been marked but not told is not told after a cancellation.
    server.edit(|offer| offer.tools(tools![first])).unwrap();
    peer.tagged(&number, TOOLS).await;
    for id in [json!(1), json!(1), json!("unknown"), json!(null)] {
        peer.send(&cancel(id)).await;
    }
    peer.told_nothing().await;
    server
        .edit(|offer| offer.remove(Item::tool("first")))
        .unwrap();
    peer.told_nothing().await;
    // The id is free again.
    peer.listen(1, json!({})).await;
}

#[tokio::test]
async fn a_subscription_that_is_not_understood_or_one_too_many_is_refused() {
    let limits = Limits {
        subscriptions: 2,
        subscribed_resources: 3,
        subscription_bytes: 30,
        ..Limits::default()
    };
    let (server, _) = dynamic(limits);
    let mut peer = Peer::connect(&server, MODERN).await;
    let uris = |uris: &[&str]| json!({"resourceSubscriptions": uris});
    let long = format!("notes://by-id/{}", "1".repeat(30));
    let two = uris(&["notes://by-id/1", "notes://by-id/2"]);
    let four = uris(&[
        "notes://by-id/1",
        "notes://by-id/2",
        "notes://by-id/3",
        "a://b",
    ]);
    let table = [
        (
            json!(1),
            json!(null),
            -32602,
            "`params.notifications` is not an object",
        ),
        (
            json!(1),
            json!([]),
            -32602,
            "`params.notifications` is not an object",
        ),
        (
            json!(1),
            json!({"toolsListChanged": 1}),
            -32602,
            "invalid type",
        ),
        (
            json!(1),
            json!({"resourceSubscriptions": "notes://all"}),
            -32602,
            "invalid type",
        ),
        (json!(1), uris(&[&long]), -32602, "at most 30 bytes"),
        (json!("x".repeat(40)), json!({}), -32600, "too long"),
        (json!(1), four, -32602, "at most 3 resources"),
        (json!(1), two.clone(), 0, ""),
        (json!(2), two, -32602, "at most 3 resources"),
        (json!(1), json!({}), -32600, "is open already"),
        (json!(2), uris(&["notes://by-id/3"]), 0, ""),
        (json!(3), json!({}), -32600, "at most 2 subscriptions"),
    ];
    for (id, notifications, code, message) in table {
        if code == 0 {
            peer.listen(id, notifications).await;
            continue;
        }
        peer.send(&listen(id.clone(), notifications.clone())).await;
        let answer = peer.receive("subscriptions/listen").await;
        assert_eq!(answer["id"], id);
        let refused = error(&answer);
        assert!(
            refused.0 == code && refused.1.contains(message),
            "{notifications}: {answer}"
        );
    }
    let missing = peer.refused("subscriptions/listen", json!({})).await;
    assert_eq!(
        missing,
        (-32602, "`params.notifications` is missing".to_owned())
    );
    // What is given up makes room.
    peer.send(&cancel(1)).await;
    peer.listen(3, uris(&["notes://by-id/4", "notes://by-id/5"]))
        .await;
}

#[tokio::test]
async fn a_legacy_peer_subscribes_to_one_resource_after_the_other() {
    // SRV-RES-01, SRV-RES-06, CLI-SUB-07, ALL-ERA-01
    for revision in Revision::ALL {
        if revision.is_modern() {
            continue;
        }
        for (server, _) in [fixed(Limits::default()), dynamic(Limits::default())] {
            let mut peer = Peer::connect(&server, revision).await;
            let mut other = Peer::connect(&server, revision).await;
            for peer in [&mut peer, &mut other] {
                peer.told_nothing().await;
            }
            let uri = |uri: &str| json!({ "uri": uri });
            for _ in 0..2 {
                for one in ["notes://all", "notes://by-id/7"] {
                    let answer = peer.request("resources/subscribe", uri(one)).await;
                    assert_eq!(answer["result"], json!({}));
                }
            }
            let refused = peer
                .refused("resources/subscribe", uri("notes://none"))
                .await;
            assert_eq!(refused.0, -32002, "{refused:?}");
            let refused = peer
                .refused("resources/subscribe", uri("notes://fixed"))
                .await;
            let message = "changes of the resource `notes://fixed` are not told".to_owned();
            assert_eq!(refused, (-32602, message));
            assert_eq!(
                peer.refused("resources/subscribe", json!({})).await.0,
                -32602
            );

            for one in [
                "notes://all",
                "notes://all",
                "notes://by-id/8",
                "notes://by-id/7",
            ] {
                server.resource_updated(one);
            }
            for one in ["notes://all", "notes://by-id/7"] {
                let (method, params) = peer.told().await;
                assert_eq!((&*method, params), (UPDATED, uri(one)), "not tagged");
            }
            peer.told_nothing().await;
            for one in ["notes://all", "notes://none"] {
                let answer = peer.request("resources/unsubscribe", uri(one)).await;
                assert_eq!(answer["result"], json!({}));
            }
            server.resource_updated("notes://all");
            server.resource_updated("notes://by-id/7");
            peer.told_update("notes://by-id/7").await;
            peer.told_nothing().await;
            other.told_nothing().await;
        }
    }
}

#[tokio::test]
async fn a_legacy_peer_subscribes_to_no_more_than_the_limit() {
    let limits = Limits {
        subscribed_resources: 2,
        ..Limits::default()
    };
    let (server, _) = fixed(limits);
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let uri = |number: u32| json!({"uri": format!("notes://by-id/{number}")});
    for number in [1, 2, 1] {
        let answer = peer.request("resources/subscribe", uri(number)).await;
        assert!(answer.get("result").is_some(), "{answer}");
    }
    let refused = peer.refused("resources/subscribe", uri(3)).await;
    assert_eq!(refused.0, -32602);
    peer.request("resources/unsubscribe", uri(1)).await;
    let answer = peer.request("resources/subscribe", uri(3)).await;
    assert!(answer.get("result").is_some(), "{answer}");
}

#[tokio::test]
async fn what_is_gone_can_still_be_unsubscribed_from() {
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let all = json!({"uri": "notes://all"});
    peer.request("resources/subscribe", all.clone()).await;
    server
        .edit(|offer| offer.remove(Item::namespace("notes")))
        .unwrap();
    server.resource_updated("notes://all");
    let (told, answer) = peer
        .request_told("resources/unsubscribe", all.clone())
        .await;
    assert_eq!(told.len(), 4, "three lists, and that it is gone: {told:?}");
    assert_eq!(answer["result"], json!({}));
    server.resource_updated("notes://all");
    assert_eq!(peer.refused("resources/subscribe", all).await.0, -32601);
}

#[tokio::test]
async fn both_eras_of_one_connection_are_told_in_their_own_way() {
    // ALL-ERA-01
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    peer.revision = MODERN;
    peer.listen(7, json!({"toolsListChanged": true})).await;
    server.edit(|offer| offer.tools(tools![first])).unwrap();
    let mut tags = Vec::new();
    for _ in 0..2 {
        let message = peer.receive_any().await.unwrap();
        assert_eq!(message["method"], TOOLS);
        tags.push(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone());
    }
    assert!(
        tags.contains(&json!(7)) && tags.contains(&Value::Null),
        "{tags:?}"
    );
}

#[tokio::test]
async fn a_peer_that_reads_nothing_costs_little_and_misses_no_change() {
    for revision in [Revision::V2025_06_18, MODERN] {
        let limits = Limits {
            queued_output_bytes: 1_000,
            ..Limits::default()
        };
        let (server, _) = dynamic(limits);
        let mut peer = Peer::connect(&server, revision).await;
        if revision.is_modern() {
            peer.listen("slow", everything()).await;
        } else {
            for uri in ["notes://all", "notes://by-id/7"] {
                peer.request("resources/subscribe", json!({ "uri": uri }))
                    .await;
            }
        }
        for number in 0..10_000_u32 {
            server.resource_updated("notes://all");
            if number % 100 == 0 {
                let name = format!("n{number}");
                server
                    .edit(|offer| offer.namespace(name, |inner| inner.tools(tools![first])))
                    .unwrap();
            }
            // The session may write whatever it wants to.
            tokio::task::yield_now().await;
        }
        // The peer's side of the pipe is full by now; what happens last is told all the same.
        server.resource_updated("notes://by-id/7");
        let mut told = vec![peer.told().await.0];
        let mut last = None;
        while last.is_none() {
            let (method, params) = peer.told().await;
            if params["uri"] == "notes://by-id/7" {
                last = Some(method.clone());
            }
            told.push(method);
        }
        assert_eq!(last.as_deref(), Some(UPDATED));
        // 64 KiB in the pipe and what is queued, in messages of about 100 bytes.
        assert!((2..1_000).contains(&told.len()), "{} messages", told.len());
        peer.request_told("tools/list", json!({})).await;
        peer.told_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_no_call_in_flight_and_keeps_no_session() {
    // SRV-STDIO-06
    let limits = Limits {
        calls_in_flight: 1,
        ..Limits::default()
    };
    let (server, _) = dynamic(limits);
    let mut peer = Peer::connect(&server, MODERN).await;
    for id in 0..5 {
        peer.listen(id, everything()).await;
    }
    assert_eq!(text(&peer.call("notes.count", json!({})).await), "0");
    let begin = tokio::time::Instant::now();
    assert_eq!(peer.finish().await, [] as [Value; 0]);
    assert_eq!(begin.elapsed(), Duration::ZERO, "nothing was waited for");
}

#[tokio::test]
async fn a_function_tells_of_what_it_has_changed() {
    let (server, _) = fixed(Limits::default());
    let mut peer = Peer::connect(&server, MODERN).await;
    peer.listen(1, everything()).await;
    let arguments = json!({"uri": "notes://all", "times": 3});
    let params = json!({"name": "notes.touch", "arguments": arguments});
    let (told, _) = peer.request_told("tools/call", params).await;
    assert!(told.iter().all(|told| told["method"] == UPDATED));
    // The last one may come after the answer.
    let (later, _) = peer.request_told("tools/list", json!({})).await;
    assert!((1..=3).contains(&(told.len() + later.len())));
}

#[tokio::test]
async fn a_server_that_closes_ends_each_subscription_with_its_result() {
    // SRV-SUB-05, SRV-SUB-07, SRV-SUB-08, SRV-META-05, SRV-CANC-01, AMB-01
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, MODERN).await;
    for id in [json!(1), json!("1")] {
        peer.listen(id, json!({"toolsListChanged": true})).await;
    }
    assert!(!server.is_closed());
    server.edit(extra).unwrap();
    server.close();
    server.close();
    assert!(server.is_closed());
    server.resource_updated("notes://all");
    let messages = peer.finish().await;
    assert_eq!(messages.len(), 6, "{messages:#?}");
    for id in [json!(1), json!("1")] {
        let of_id = |message: &&Value| {
            message["id"] == id
                || message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == id
        };
        let own: Vec<_> = messages.iter().filter(of_id).collect();
        let [changed, result, cancelled] = own[..] else {
            panic!("{own:#?}");
        };
        // What had happened before is told before the end.
        assert_eq!(changed["method"], TOOLS);
        validate(MODERN, "subscriptions/listen", result);
        assert_eq!(result["result"]["resultType"], "complete");
        let meta = &result["result"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], id);
        assert_eq!(
            meta["io.modelcontextprotocol/serverInfo"]["name"],
            "treenail"
        );
        validate_notification(MODERN, cancelled);
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], id);
    }
    // A server that is closed serves nobody any more.
    let late = Peer::silent(&server, MODERN);
    assert_eq!(late.finish().await, [] as [Value; 0]);
    server.closed().await;
}

#[tokio::test]
async fn a_server_that_closes_finishes_calls_and_reads_nothing_more() {
    for revision in Revision::ALL {
        let (server, gate) = dynamic(Limits::default());
        let mut peer = Peer::connect(&server, revision).await;
        let wait = json!({"name": "notes.wait"});
        let waiting = peer.begin("tools/call", wait.clone()).await;
        peer.told_nothing().await;
        server.close();
        tokio::task::yield_now().await;
        peer.begin("tools/call", json!({"name": "notes.count"}))
            .await;
        gate.add_permits(1);
        // The input stays open: it is the server that ends.
        let answer = peer.receive("tools/call").await;
        assert_eq!(answer["id"], waiting);
        assert_eq!(text(&answer["result"]), "waited");
        assert_eq!(peer.receive_any().await, None, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_does_not_wait_for_calls_that_never_end() {
    let limits = Limits {
        finish_calls_within: Duration::from_secs(5),
        ..Limits::default()
    };
    let (server, _) = dynamic(limits);
    let mut peer = Peer::connect(&server, MODERN).await;
    peer.begin("tools/call", json!({"name": "notes.wait"}))
        .await;
    peer.told_nothing().await;
    server.close();
    let begin = tokio::time::Instant::now();
    assert_eq!(peer.receive_any().await, None);
    assert_eq!(begin.elapsed().as_secs(), 5);
}
