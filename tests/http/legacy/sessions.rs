//! Sessions: creation, ownership and number.

use std::sync::Arc;

use serde_json::json;
use treenail::Limits;
use treenail::context::Principal;
use treenail::dynamic::Tool;
use treenail::http::{HttpService, http_service};
use treenail::limits::HttpLimits;
use treenail::schema::Revision;
use treenail::server::Component;

use super::{Client, SERVED, initialize, next_events};
use crate::client::{Post, next};
use crate::fixture::{builder, service, service_within};

#[tokio::test]
async fn a_session_serves_calls_in_every_revision() {
    let service = service();
    for revision in SERVED {
        let client = Client::start(&service, revision).await;
        let visible = client
            .session
            .bytes()
            .all(|byte| (0x21..=0x7e).contains(&byte));
        assert!(
            visible && client.session.len() >= 22,
            "SRV-LHTTP-17: {}",
            client.session
        );
        let response = client.send(client.add(1)).await;
        assert_eq!(response.status, 200, "{response:?}");
        assert_eq!(
            response.json()["result"]["content"][0]["text"],
            "5",
            "SRV-LHTTP-01"
        );
        let response = client
            .send(client.request("x", "tools/list", &json!({})))
            .await;
        assert_eq!(response.json()["id"], "x");
        // The status 404 would mean that the session has ended.
        let response = client
            .send(client.request(2, "server/discover", &json!({})))
            .await;
        assert_eq!(
            (response.status.as_u16(), &response.json()["error"]["code"]),
            (200, &json!(-32601))
        );
        let other = Client::start(&service, revision).await;
        assert_ne!(other.session, client.session, "SRV-LHTTP-23");
    }
}

#[tokio::test]
async fn requests_need_the_id_of_an_existing_session() {
    let service = service();
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    let add = || client.add(1);
    let get = || client.get();
    let delete = || client.delete();
    let all: [&dyn Fn() -> Post; 3] = [&add, &get, &delete];
    for post in all {
        let response = client.send(post().without("mcp-session-id")).await;
        assert_eq!(response.status, 400, "SRV-LHTTP-18: {response:?}");
        let response = client.send(post().with("mcp-session-id", "guessed")).await;
        assert_eq!(response.status, 404, "SRV-LHTTP-19: {response:?}");
        for wrong in ["1999-01-01", "x", "2024-13-13"] {
            let response = client
                .send(post().with("mcp-protocol-version", wrong))
                .await;
            assert_eq!(response.status, 400, "SRV-LHTTP-21: {response:?}");
        }
    }
    let response = client.send(add().without("mcp-protocol-version")).await;
    assert_eq!(
        response.status, 200,
        "SRV-LHTTP-20, SRV-ERA-06: {response:?}"
    );
    assert_eq!(client.send(delete()).await.status, 204, "CLI-LHTTP-09");
    for post in all {
        assert_eq!(client.send(post()).await.status, 404, "SRV-LHTTP-19");
    }
}

#[tokio::test]
async fn a_session_belongs_to_its_principal() {
    let service = service();
    let response = initialize(Revision::LATEST_LEGACY)
        .send_as(&service, Principal::new("ada"))
        .await;
    let session = response.header("mcp-session-id").unwrap().to_owned();
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
async fn a_flood_of_sessions_evicts_idle_ones() {
    let limits = Limits::default().http(HttpLimits::default().sessions(32));
    let service = service_within(limits);
    let idle = Client::start(&service, Revision::LATEST_LEGACY).await;
    let busy = Client::start(&service, Revision::LATEST_LEGACY).await;
    let listening = Client::start(&service, Revision::LATEST_LEGACY).await;
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
            "active sessions stay"
        );
    }
    assert_eq!(idle.send(idle.ping()).await.status, 404, "SRV-LHTTP-19");
    assert_eq!(listening.send(listening.ping()).await.status, 200);
}

#[tokio::test]
async fn active_sessions_are_not_evicted() {
    let limits = Limits::default().http(HttpLimits::default().sessions(1));
    let service = service_within(limits);
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    let stream = client.get().begin(&service).await;
    let response = initialize(Revision::LATEST_LEGACY).send(&service).await;
    assert_eq!(response.status, 503);
    drop(stream);
    assert_eq!(
        initialize(Revision::LATEST_LEGACY)
            .send(&service)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn an_idle_session_does_not_retain_removed_features() {
    for revision in SERVED {
        let (service, state) = service_with_a_state(false);
        let client = Client::start(&service, revision).await;
        let list = client.request("x", "tools/list", &json!({}));
        assert_eq!(client.send(list).await.status, 200);
        remove_old(&service);
        assert_eq!(Arc::strong_count(&state), 1, "{revision}");
    }
}

#[tokio::test]
async fn a_listening_stream_does_not_retain_removed_features() {
    let (service, state) = service_with_a_state(false);
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let listen = Post::modern("subscriptions/listen", filter);
    let mut body = listen.begin(&service).await.into_body();
    assert!(next(&mut body).await.is_some(), "the acknowledgement");
    remove_old(&service);
    assert_eq!(Arc::strong_count(&state), 1);
    assert!(next(&mut body).await.is_some(), "the notification");
}

/// Returns a service with the tool `old`, and the state of that tool.
fn service_with_a_state(is_filtered: bool) -> (HttpService, Arc<()>) {
    let state = Arc::new(());
    let own = Arc::clone(&state);
    let old = Tool::new("old").handler(move |_, _| {
        let _ = &own;
        async { "old" }
    });
    let mut builder = builder().dynamic().add(old);
    if is_filtered {
        builder = builder.visible(|_, _| true);
    }
    (http_service(builder.build().unwrap()), state)
}

fn remove_old(service: &HttpService) {
    let server = service.server();
    let removed = server.edit(|edit| edit.remove(Component::tool("old")));
    removed.unwrap();
}

#[tokio::test]
async fn a_session_that_only_calls_does_not_retain_removed_features() {
    for is_filtered in [false, true] {
        let (service, state) = service_with_a_state(is_filtered);
        let client = Client::start(&service, Revision::V2025_06_18).await;
        remove_old(&service);
        if is_filtered {
            // The old list is compared for the notification.
            let mut body = client.open(client.get()).await;
            let changed = &next_events(&mut body).await[0].1;
            assert!(changed.contains("tools/list_changed"), "{changed}");
        }
        for id in 1..3 {
            assert_eq!(client.send(client.add(id)).await.status, 200);
        }
        assert_eq!(Arc::strong_count(&state), 1, "{is_filtered}");
    }
}

#[tokio::test]
async fn listening_streams_of_sessions_are_limited() {
    let limits = Limits::default().http(HttpLimits::default().listen_streams(1));
    let service = service_within(limits).with_stream_permits();
    let first = Client::start(&service, Revision::LATEST_LEGACY).await;
    let second = Client::start(&service, Revision::LATEST_LEGACY).await;
    let stream = first.get().begin(&service).await;
    assert_eq!(stream.status(), 200);
    assert_eq!(second.get().begin(&service).await.status(), 503);
    drop(stream);
    assert_eq!(second.get().begin(&service).await.status(), 200);
}
