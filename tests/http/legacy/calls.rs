//! Calls of a session: cancellation, batches and limits.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use treenail::Limits;
use treenail::http::http_service;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::server::Component;

use super::{Client, SERVED, events, initialized, next_events};
use crate::client::Post;
use crate::fixture::{Desk, builder, builder_of, service};

#[tokio::test]
async fn a_call_is_cancelled_by_a_notification() {
    let params = json!({"requestId": 1});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    for (revision, cancel) in [
        (Revision::V2025_03_26, json!([cancel])),
        (Revision::LATEST_LEGACY, cancel),
    ] {
        let desk = Desk::default();
        let service = http_service(builder_of(&desk).build().unwrap());
        let client = Client::start(&service, revision).await;
        let waiting = client.spawn_send(client.tool(1, "wait", &json!({})));
        desk.begun.notified().await;
        assert_eq!(client.send(client.post(&cancel)).await.status, 202);
        desk.ended.notified().await;
        assert_eq!(waiting.await.unwrap().body, "", "SRV-CANC-03");
    }
}

#[tokio::test]
async fn a_call_is_cancelled_by_the_end_of_its_session() {
    let desk = Desk::default();
    let service = http_service(builder_of(&desk).build().unwrap());
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    let waiting = client.spawn_send(client.tool(2, "wait", &json!({})));
    desk.begun.notified().await;
    assert_eq!(client.send(client.delete()).await.status, 204);
    desk.ended.notified().await;
    waiting.await.unwrap();
}

#[tokio::test]
async fn batches_exist_in_one_revision() {
    let service = service();
    for revision in SERVED {
        let client = Client::start(&service, revision).await;
        let batch = json!([
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 2, "b": 3}}},
            {"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": "notes://7"}},
            {"jsonrpc": "2.0", "method": "notifications/x"},
        ]);
        let response = client.send(client.post(&batch)).await;
        if revision == Revision::V2025_03_26 {
            assert_eq!(
                response.json().as_array().unwrap().len(),
                2,
                "SRV-BASE-07: {response:?}"
            );
            service.server().resource_updated("notes://7");
            let mut body = client.open(client.get()).await;
            assert_eq!(
                next_events(&mut body).await.len(),
                1,
                "the subscription is the session's"
            );
        } else {
            assert_eq!(response.status, 400, "{response:?}");
        }
        let notification = json!([{"jsonrpc": "2.0", "method": "notifications/x"}]);
        let status = if revision == Revision::V2025_03_26 {
            202
        } else {
            400
        };
        assert_eq!(
            client.send(client.post(&notification)).await.status,
            status,
            "SRV-LHTTP-02"
        );
    }
}

#[tokio::test]
async fn a_batch_has_no_requests_of_the_modern_era() {
    let (service, without_sessions) = (service(), service().without_sessions());
    let client = Client::start(&service, Revision::V2025_03_26).await;
    let message = |id: i64, method: &str| -> Value {
        let post = Post::modern(method, json!({})).change(|body| body["id"] = id.into());
        serde_json::from_str(&post.body).unwrap()
    };
    let batch = json!([message(1, "tools/list"), message(2, "subscriptions/listen")]);
    let batch = client.post(&batch);
    let alone = batch.clone().without("mcp-session-id");
    for response in [
        client.send(batch).await,
        alone.send(&without_sessions).await,
    ] {
        let answers = response.json();
        let codes = answers.as_array().unwrap().iter();
        let codes: Vec<_> = codes.map(|answer| &answer["error"]["code"]).collect();
        assert_eq!(codes, [-32600, -32600], "SRV-ERA-11: {answers}");
    }
}

#[tokio::test]
async fn a_batch_may_finish_the_handshake() {
    for is_filtered in [false, true] {
        let mut builder = builder().dynamic();
        if is_filtered {
            builder = builder.visible(|_, _| true);
        }
        let service = http_service(builder.build().unwrap());
        let client = Client::initialize(&service, Revision::V2025_03_26).await;
        let list = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
        let params = json!({"name": "add", "arguments": {"a": 2, "b": 3}});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let batch = json!([initialized(), list(1), call]);
        let responses = client.send(client.post(&batch)).await.json();
        for response in responses.as_array().unwrap() {
            assert!(response["result"].is_object(), "{is_filtered}: {response}");
        }
        let response = client.send(client.post(&list(3))).await.json();
        assert!(response["result"].is_object(), "{is_filtered}: {response}");
        let edited = service
            .server()
            .edit(|edit| edit.disable(Component::tool("add")));
        edited.unwrap();
        let mut body = client.open(client.get()).await;
        let changed = &next_events(&mut body).await[0].1;
        assert!(changed.contains("tools/list_changed"), "{changed}");
    }
}

/// Tool that blocks until its session has handled other requests.
struct Slow {
    begun: Arc<Notify>,
    others: Mutex<mpsc::Receiver<()>>,
}

#[mcp_tool]
impl Slow {
    /// Waits until it is released.
    #[tool]
    fn hold(&self) -> bool {
        self.begun.notify_one();
        let others = self.others.lock().unwrap();
        // Long enough for a machine under load. The wait is short unless the session is blocked.
        others.recv_timeout(Duration::from_secs(20)).is_ok()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_long_batch_does_not_block_its_session() {
    let (release, others) = mpsc::channel();
    let begun = Arc::<Notify>::default();
    let slow = Slow {
        begun: Arc::clone(&begun),
        others: Mutex::new(others),
    };
    let server = Server::builder("slow", "1").mount(slow).build().unwrap();
    let service = http_service(server);
    let client = Client::start(&service, Revision::V2025_03_26).await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "hold"}},
    ]);
    let batch = client.spawn_send(client.post(&batch));
    begun.notified().await;
    // More requests than workers: none waits for the batch.
    let pings: Vec<_> = (0..8).map(|_| client.spawn_send(client.ping())).collect();
    for ping in pings {
        assert_eq!(ping.await.unwrap().status, 200);
    }
    release.send(()).unwrap();
    let response = batch.await.unwrap().json();
    assert_eq!(
        response[1]["result"]["content"][0]["text"], "true",
        "{response}"
    );
}

#[tokio::test]
async fn calls_of_a_session_are_limited() {
    let desk = Desk::default();
    let limits = Limits::default().calls_in_flight(1);
    let service = http_service(builder_of(&desk).limits(limits).build().unwrap());
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    let waiting = client.spawn_send(client.tool(1, "wait", &json!({})));
    desk.begun.notified().await;
    let response = client.send(client.add(2)).await;
    assert_eq!(
        (response.status.as_u16(), &response.json()["id"]),
        (503, &json!(2))
    );
    waiting.abort();
}

#[tokio::test]
async fn overlong_ids_are_not_stored() {
    let desk = Desk::default();
    let service = http_service(builder_of(&desk).build().unwrap());
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    // Abandoned calls would continue, each with its id.
    for bytes in std::iter::repeat_n(16 << 10, 200).chain([4_000_000]) {
        let params = json!({"name": "wait", "arguments": {}});
        let post = client.request("x".repeat(bytes), "tools/call", &params);
        let response = client.send(post).await;
        assert_eq!(response.status, 400);
        let response = response.json();
        assert_eq!(response["error"]["code"], -32600, "{response}");
        assert_eq!(response.get("id"), None, "{response}");
    }
    let ids = ["x".repeat(4_094), "é".repeat(2_047)];
    for id in ids {
        let params = json!({"name": "wait", "arguments": {}});
        let waiting = client.spawn_send(client.request(&*id, "tools/call", &params));
        desk.begun.notified().await;
        let cancelled = format!("\"{id}\"").replace('é', "\\u00e9");
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":@}}"#;
        let mut post = client.post(&json!({}));
        post.body = cancel.replace('@', &cancelled);
        assert_eq!(client.send(post).await.status, 202);
        desk.ended.notified().await;
        waiting.await.unwrap();
    }
}

#[tokio::test]
async fn a_session_has_one_handshake() {
    let service = service();
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let again = client.send(client.request(5, "initialize", &params)).await;
    assert_eq!(again.json()["error"]["code"], -32600, "{again:?}");
    assert_eq!(client.send(client.add(6)).await.json()["id"], 6);
}

/// Tool that returns the task in which it has ended.
#[derive(Default)]
struct Tasks {
    begun: Notify,
    released: Notify,
}

#[mcp_tool]
impl Tasks {
    /// Waits, and returns the id of its task.
    #[tool]
    async fn task(&self) -> String {
        self.begun.notify_one();
        self.released.notified().await;
        tokio::task::id().to_string()
    }
}

fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_call_is_a_task_only_if_it_outlives_its_request() {
    let tasks = Arc::new(Tasks::default());
    let server = Server::builder("tasks", "1").mount(Arc::clone(&tasks));
    let service = http_service(server.build().unwrap());
    let client = Client::start(&service, Revision::V2025_11_25).await;

    let request = client.spawn_send(client.tool(1, "task", &json!({})));
    let expected = request.id().to_string();
    tasks.begun.notified().await;
    tasks.released.notify_one();
    let response = request.await.unwrap();
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(text(&response.json()), expected);

    // Its client disconnects. The call continues, and its result is stored for the client.
    let request = client.spawn_send(client.tool(2, "task", &json!({})));
    let left = request.id().to_string();
    tasks.begun.notified().await;
    request.abort();
    assert!(request.await.unwrap_err().is_cancelled());
    tasks.released.notify_one();
    let get = client.get().with("last-event-id", "3-0");
    let rest = events(&client.send(get).await.body.into());
    let response: Value = serde_json::from_str(&rest.last().unwrap().1).unwrap();
    assert_eq!(response["id"], 2, "SRV-LHTTP-10");
    assert_ne!(text(&response), left);
}
