//! Hidden items: answers, names and descriptions are those of a server without them.

use serde_json::{Value, json};
use treenail::Limits;
use treenail::layer::{Request, only};
use treenail::schema::Revision;

use super::{HAS_INSTRUCTIONS, add_desk, builder, connection, office, peer};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{Peer, initialize, text};

/// Requests that name hidden items, unknown items, and visible ones.
fn requests() -> Vec<(&'static str, Value)> {
    let mut requests = vec![
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
    ];
    let lists = [
        ("tools/list", "desk_close.opens"),
        ("tools/list", "desk.close_drawer"),
        ("tools/list", "nothing"),
        ("prompts/list", "desk_close.greet_all"),
        ("resources/list", "desk://lamps"),
        ("resources/templates/list", "desk://drawers/{name}"),
    ];
    requests.push(("tools/list", json!({})));
    requests.extend(lists.map(|(list, cursor)| (list, json!({"cursor": cursor}))));
    for name in [
        "desk_close",
        "desk_close.opens",
        "desk_close.open",
        "desk_close.drawer",
        "desk_close_drawer",
        "desk__close_drawer",
        "desk_close__opens",
        "desk.opens",
        "late",
        "desk.open",
    ] {
        requests.push(("tools/call", json!({"name": name, "arguments": {}})));
    }
    for name in ["desk_close.greet_all", "desk.greet_all", "desk.greet"] {
        requests.push((
            "prompts/get",
            json!({"name": name, "arguments": {"name": "a"}}),
        ));
        requests.push((
            "completion/complete",
            complete(&json!({"type": "ref/prompt", "name": name})),
        ));
    }
    for uri in [
        "desk://lamps",
        "desk://lampe",
        "desk://drawers/a",
        "desk://drawers/{name}",
        "desk://drawer/a",
        "desk://lamp",
    ] {
        requests.push(("resources/read", json!({"uri": uri})));
        requests.push((
            "completion/complete",
            complete(&json!({"type": "ref/resource", "uri": uri})),
        ));
    }
    requests
}

fn complete(reference: &Value) -> Value {
    json!({"ref": reference, "argument": {"name": "name", "value": "a"}})
}

#[tokio::test]
async fn a_hidden_item_is_answered_as_one_that_does_not_exist() {
    let full = office().build().unwrap();
    let plain = add_desk(builder()).build().unwrap();
    for revision in covering(
        "SRV-STATE-04, SRV-CACHE-05 in 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28",
    ) {
        let mut guest = peer(&full, "", revision).await;
        let mut expected = peer(&plain, "", revision).await;
        for (method, params) in requests() {
            if method == "completion/complete" && revision == Revision::V2024_11_05 {
                continue;
            }
            let answer = guest.request(method, params.clone()).await;
            let plain = expected.request(method, params.clone()).await;
            assert_eq!(answer, plain, "{revision} {method} {params}");
        }
        if !revision.is_modern() {
            for uri in [
                "desk://lamps",
                "desk://drawers/a",
                "desk://x",
                "desk://lamp",
            ] {
                let params = json!({"uri": uri});
                let answer = guest.request("resources/subscribe", params.clone()).await;
                let plain = expected.request("resources/subscribe", params).await;
                assert_eq!(answer, plain, "{revision} {uri}");
            }
        }
    }
}

#[tokio::test]
async fn the_description_of_the_server_has_no_instructions_of_hidden_types() {
    let full = office().build().unwrap();
    let plain = add_desk(builder()).build().unwrap();
    for revision in covering("SRV-LIFE-01, SRV-DISC-02 in 2025-06-18, 2026-07-28") {
        let (method, params) = if revision.is_modern() {
            ("server/discover", json!({}))
        } else {
            ("initialize", initialize(revision.as_str()))
        };
        let mut answers = Vec::new();
        for (server, principal) in [(&plain, ""), (&full, ""), (&full, "admin")] {
            let mut peer = Peer::over(connection(server, principal), revision);
            answers.push(peer.request(method, params.clone()).await);
        }
        assert_eq!(answers[0], answers[1]);
        let instructions = &answers[2]["result"]["instructions"];
        let has = instructions.to_string().contains("secret");
        assert_eq!(has, HAS_INSTRUCTIONS, "{instructions}");
    }
}

#[tokio::test]
async fn two_callers_of_one_server_see_their_own_lists() {
    let server = office().limits(Limits::default()).build().unwrap();
    for revision in covering("SRV-TOOL-03, SRV-PRM-03, SRV-RES-03") {
        let mut guest = peer(&server, "guest", revision).await;
        let mut admin = peer(&server, "admin", revision).await;
        for _ in 0..2 {
            assert_eq!(guest.tools().await, ["desk.open", "desk.close_drawer"]);
            let all = [
                "desk_close.drawer",
                "desk_close.opens",
                "desk.open",
                "desk.close_drawer",
            ];
            assert_eq!(admin.tools().await, all);
        }
        let opened = admin.call("desk_close.opens", json!({})).await;
        assert_eq!(text(&opened), "opened");
        let read = admin
            .request("resources/read", json!({"uri": "desk://drawers/a"}))
            .await;
        assert_eq!(read["result"]["contents"][0]["text"], "a");
    }
}

#[tokio::test]
async fn a_form_without_dots_is_ambiguous_only_among_visible_tools() {
    let server = office().build().unwrap();
    let revision = covering_one("SRV-TOOL-07 in 2026-07-28");
    let mut guest = peer(&server, "guest", revision).await;
    let closed = guest.call("desk_close_drawer", json!({})).await;
    assert_eq!(text(&closed), "closed");
    let mut admin = peer(&server, "admin", revision).await;
    let params = json!({"name": "desk_close_drawer"});
    assert_eq!(admin.refused("tools/call", params).await.0, -32602);
}

#[tokio::test]
async fn a_layer_cannot_reach_a_hidden_item() {
    let server = office()
        .layer(only(
            Request::is_tool_call,
            tower::layer::util::Identity::new(),
        ))
        .build()
        .unwrap();
    for revision in covering("SRV-TOOL-09") {
        let mut guest = peer(&server, "guest", revision).await;
        let mut names = Vec::new();
        for name in ["desk_close.opens", "desk_close.nothing"] {
            let (_, message) = guest.refused("tools/call", json!({"name": name})).await;
            names.push(message.replace(name, "?"));
        }
        assert!(names[0].contains("there is no namespace"), "{names:?}");
        assert_eq!(guest.tools().await, ["desk.open"], "the first page");
    }
}

#[tokio::test]
async fn a_batch_has_one_caller() {
    let revision = covering_one("SRV-BASE-01 in 2025-03-26");
    let server = office().limits(Limits::default()).build().unwrap();
    let mut guest = peer(&server, "guest", revision).await;
    let list = guest.message(&json!(1), "tools/list", json!({}));
    let call = guest.message(&json!(2), "tools/call", json!({"name": "desk_close.opens"}));
    guest.send(&json!([list, call])).await;
    let answers = guest.receive_any().await.unwrap();
    let of = |id: i64| {
        let mut all = answers.as_array().unwrap().iter();
        all.find(|answer| answer["id"] == id).unwrap().clone()
    };
    assert_eq!(of(1)["result"]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(of(2)["error"]["code"], -32602);
}
