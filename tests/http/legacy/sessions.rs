//! Sessions: who has one, and when it ends.

use std::time::Duration;

use serde_json::json;
use treenail::schema::Revision;
use treenail::{HttpLimits, Limits, Principal};

use super::{Client, SERVED, initialize};
use crate::client::Post;
use crate::fixture::{service, service_within};

#[tokio::test]
async fn a_session_serves_calls_in_every_revision() {
    let service = service();
    for revision in SERVED {
        let client = Client::begin(&service, revision).await;
        let visible = client
            .session
            .bytes()
            .all(|byte| (0x21..=0x7e).contains(&byte));
        assert!(
            visible && client.session.len() >= 22,
            "SRV-LHTTP-17: {}",
            client.session
        );
        let answer = client.send(client.add(1)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(
            answer.json()["result"]["content"][0]["text"],
            "5",
            "SRV-LHTTP-01"
        );
        let answer = client
            .send(client.request("x", "tools/list", &json!({})))
            .await;
        assert_eq!(answer.json()["id"], "x");
        // The status 404 would tell the client that its session has ended.
        let answer = client
            .send(client.request(2, "server/discover", &json!({})))
            .await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["error"]["code"]),
            (200, &json!(-32601))
        );
        let other = Client::begin(&service, revision).await;
        assert_ne!(other.session, client.session, "SRV-LHTTP-23");
    }
}

#[tokio::test]
async fn a_session_has_to_be_named_and_there() {
    let service = service();
    let client = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let add = || client.add(1);
    let get = || client.get();
    let delete = || client.delete();
    let all: [&dyn Fn() -> Post; 3] = [&add, &get, &delete];
    for post in all {
        let answer = client.send(post().without("mcp-session-id")).await;
        assert_eq!(answer.status, 400, "SRV-LHTTP-18: {answer:?}");
        let answer = client.send(post().with("mcp-session-id", "guessed")).await;
        assert_eq!(answer.status, 404, "SRV-LHTTP-19: {answer:?}");
        for wrong in ["1999-01-01", "x", "2024-13-13"] {
            let answer = client
                .send(post().with("mcp-protocol-version", wrong))
                .await;
            assert_eq!(answer.status, 400, "SRV-LHTTP-21: {answer:?}");
        }
    }
    let answer = client.send(add().without("mcp-protocol-version")).await;
    assert_eq!(answer.status, 200, "SRV-LHTTP-20, SRV-ERA-06: {answer:?}");
    assert_eq!(client.send(delete()).await.status, 204, "CLI-LHTTP-09");
    for post in all {
        assert_eq!(client.send(post()).await.status, 404, "SRV-LHTTP-19");
    }
}

#[tokio::test]
async fn a_session_belongs_to_who_began_it() {
    let service = service();
    let answer = initialize(Revision::LATEST_LEGACY)
        .send_as(&service, Principal::new("ada"))
        .await;
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let ping = || {
        Post::raw(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).with("mcp-session-id", &session)
    };
    assert_eq!(
        ping().send_as(&service, Principal::new("ada")).await.status,
        200
    );
    let other = ping().send_as(&service, Principal::new("bob")).await;
    assert_eq!(other.status, 404, "SRV-LHTTP-22, SRV-LHTTP-23");
    assert_eq!(ping().send(&service).await.status, 404, "SRV-LHTTP-22");
}

#[tokio::test]
async fn a_flood_of_sessions_ends_the_idle_ones() {
    let limits = Limits::default().http(HttpLimits::default().sessions(32));
    let service = service_within(limits);
    let idle = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let busy = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let listening = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let _stream = listening.get().begin(&service).await;
    for _ in 0..1_000 {
        assert_eq!(
            initialize(Revision::LATEST_LEGACY)
                .send(&service)
                .await
                .status,
            200
        );
        assert_eq!(
            busy.send(busy.ping()).await.status,
            200,
            "who is at work stays"
        );
    }
    assert_eq!(idle.send(idle.ping()).await.status, 404, "SRV-LHTTP-19");
    assert_eq!(listening.send(listening.ping()).await.status, 200);
}

#[tokio::test]
async fn sessions_that_are_all_at_work_are_no_prey() {
    let limits = Limits::default().http(HttpLimits::default().sessions(1));
    let service = service_within(limits);
    let client = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let stream = client.get().begin(&service).await;
    let answer = initialize(Revision::LATEST_LEGACY).send(&service).await;
    assert_eq!(answer.status, 503);
    drop(stream);
    assert_eq!(
        initialize(Revision::LATEST_LEGACY)
            .send(&service)
            .await
            .status,
        200
    );
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_ends() {
    let service = service();
    let client = Client::begin(&service, Revision::LATEST_LEGACY).await;
    tokio::time::advance(Duration::from_secs(29 * 60)).await;
    assert_eq!(client.send(client.ping()).await.status, 200);
    tokio::time::advance(Duration::from_secs(31 * 60)).await;
    assert_eq!(client.send(client.ping()).await.status, 404, "SRV-LHTTP-19");
}
