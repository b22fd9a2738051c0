//! Sessions of the legacy era.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use treenail::schema::Revision;
use treenail::{HttpBody, HttpService, Limits, Principal, http_service};

use crate::client::{Answer, Post, messages, next};
use crate::fixture::{Desk, builder, builder_of, service, service_within};

const SERVED: [Revision; 3] = [
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
];

/// A client that has a session.
struct Client {
    service: HttpService,
    revision: Revision,
    session: String,
}

fn initialize(revision: Revision) -> Post {
    let params = json!({
        "protocolVersion": revision.as_str(),
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    Post::raw(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string(),
    )
}

impl Client {
    async fn begin(service: &HttpService, revision: Revision) -> Self {
        let answer = initialize(revision).send(service).await;
        assert_eq!(answer.status, 200, "SRV-LHTTP-16: {answer:?}");
        assert_eq!(
            answer.json()["result"]["protocolVersion"],
            revision.as_str()
        );
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let client = Self {
            service: service.clone(),
            revision,
            session,
        };
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let answer = client.post(&done).send(service).await;
        assert_eq!(
            (answer.status.as_u16(), &*answer.body),
            (202, ""),
            "SRV-LHTTP-02"
        );
        client
    }

    fn post(&self, message: &Value) -> Post {
        let post = Post::raw(message.to_string()).with("mcp-session-id", &self.session);
        if self.revision >= Revision::V2025_06_18 {
            return post.with("mcp-protocol-version", self.revision.as_str());
        }
        post
    }

    fn request(&self, id: impl Into<Value>, method: &str, params: &Value) -> Post {
        let id = id.into();
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    fn tool(&self, id: i64, name: &str, arguments: &Value) -> Post {
        let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": 7}});
        self.request(id, "tools/call", &params)
    }

    fn get(&self) -> Post {
        let get = self
            .post(&Value::Null)
            .method("GET")
            .with("accept", "text/event-stream");
        Post {
            body: String::new(),
            ..get
        }
    }

    async fn send(&self, post: Post) -> Answer {
        post.send(&self.service).await
    }
}

/// The id and the data of the events in some bytes.
fn events(bytes: &Bytes) -> Vec<(String, String)> {
    let text = std::str::from_utf8(bytes).unwrap();
    let events = text
        .split_terminator("\n\n")
        .filter(|event| !event.starts_with(':'));
    let event = |event: &str| {
        let event = event.strip_prefix("retry: 1000\n").unwrap_or(event);
        let (id, data) = event.split_once('\n').unwrap();
        let data = data.strip_prefix("data:").unwrap().trim_start();
        (id.strip_prefix("id: ").unwrap().to_owned(), data.to_owned())
    };
    events.map(event).collect()
}

async fn more(body: &mut HttpBody) -> Vec<(String, String)> {
    next(body)
        .await
        .map_or_else(Vec::new, |bytes| events(&bytes))
}

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
        let answer = client
            .send(client.tool(1, "add", &json!({"a": 2, "b": 3})))
            .await;
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
    let add = || client.tool(1, "add", &json!({"a": 2, "b": 3}));
    let get = || client.get();
    let delete = || client.get().method("DELETE");
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
async fn messages_of_a_call_go_to_its_own_stream() {
    let service = service();
    for revision in SERVED {
        let client = Client::begin(&service, revision).await;
        let answer = client
            .send(client.tool(1, "count", &json!({"to": 3})))
            .await;
        let primed = revision >= Revision::V2025_11_25;
        let found = events(&answer.body.clone().into());
        assert_eq!(found.len(), 4 + usize::from(primed), "{answer:?}");
        if primed {
            assert_eq!(found[0].1, "", "SRV-LHTTP-03");
        }
        let last: Value = serde_json::from_str(&found.last().unwrap().1).unwrap();
        assert_eq!(last["id"], 1, "SRV-LHTTP-09");
        let mut ids: Vec<_> = found.iter().map(|(id, _)| id).collect();
        ids.dedup();
        assert_eq!(ids.len(), found.len(), "SRV-LHTTP-14");
        // A second client of the service has a stream of its own all the while.
        let many = client
            .send(client.tool(2, "count", &json!({"to": 1_000})))
            .await;
        assert_eq!(many.body.matches("notifications/progress").count(), 1_000);
    }
}

#[tokio::test]
async fn a_lost_stream_is_resumed() {
    let service = service();
    let client = Client::begin(&service, Revision::V2025_11_25).await;
    let count = client.tool(1, "count", &json!({"to": 200}));
    let mut body = count.begin(&service).await.into_body();
    let first = more(&mut body).await;
    drop(body);
    let (last, _) = first.last().unwrap();
    assert!(
        first.len() < 201,
        "there is something left: {}",
        first.len()
    );
    let get = client.get().with("last-event-id", last);
    let rest = client.send(get).await;
    let rest = events(&rest.body.into());
    let progress: Vec<Value> = first[1..]
        .iter()
        .chain(&rest[1..])
        .map(|(_, data)| serde_json::from_str(data).unwrap())
        .collect();
    assert_eq!(progress.len(), 201, "SRV-LHTTP-10: the call has gone on");
    for (index, message) in progress[..200].iter().enumerate() {
        assert_eq!(message["params"]["progress"], index + 1, "SRV-LHTTP-15");
    }
    assert_eq!(progress[200]["id"], 1, "SRV-LHTTP-12");
    for unknown in ["99-1", "x", "", "-", "1-99999999999999999999"] {
        let answer = client
            .send(client.get().with("last-event-id", unknown))
            .await;
        assert_eq!(answer.status, 400, "{unknown}: {answer:?}");
    }
}

#[tokio::test]
async fn questions_go_out_on_the_stream_of_their_call() {
    let service = service();
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let client = Client::begin(&service, revision).await;
        let mut body = client
            .tool(1, "ask", &json!({}))
            .begin(&service)
            .await
            .into_body();
        let mut found = more(&mut body).await;
        let question: Value = serde_json::from_str(&found.pop().unwrap().1).unwrap();
        assert_eq!(
            question["method"], "elicitation/create",
            "SRV-LHTTP-07, SRV-LHTTP-08"
        );
        let content = json!({"action": "accept", "content": {"confirmed": true}});
        let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": content});
        let answer = client.send(client.post(&reply)).await;
        assert_eq!(
            (answer.status.as_u16(), &*answer.body),
            (202, ""),
            "SRV-LHTTP-02"
        );
        let answer: Value = serde_json::from_str(&more(&mut body).await[0].1).unwrap();
        assert_eq!(answer["id"], 1, "SRV-LHTTP-09: {answer}");
        assert!(next(&mut body).await.is_none(), "SRV-LHTTP-09");
    }
}

#[tokio::test]
async fn a_call_is_cancelled_by_a_notification() {
    let desk = Desk::default();
    let service = http_service(builder_of(&desk).build().unwrap());
    let client = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let waiting = tokio::spawn({
        let (post, service) = (client.tool(1, "wait", &json!({})), service.clone());
        async move { post.send(&service).await }
    });
    desk.begun.notified().await;
    let params = json!({"requestId": 1});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    assert_eq!(client.send(client.post(&cancel)).await.status, 202);
    desk.ended.notified().await;
    assert_eq!(waiting.await.unwrap().body, "", "SRV-CANC-03");
    // So is it by the end of its session.
    let waiting = client.tool(2, "wait", &json!({}));
    let waiting = tokio::spawn({
        let service = service.clone();
        async move { waiting.send(&service).await }
    });
    desk.begun.notified().await;
    assert_eq!(client.send(client.get().method("DELETE")).await.status, 204);
    desk.ended.notified().await;
    waiting.await.unwrap();
}

#[tokio::test]
async fn what_belongs_to_no_request_goes_to_the_stream_of_a_get() {
    let service = service();
    let client = Client::begin(&service, Revision::V2025_06_18).await;
    let mut body = client.get().begin(&service).await.into_body();
    assert_eq!(
        client.send(client.get()).await.status,
        409,
        "SRV-LHTTP-13: one stream"
    );
    assert_eq!(
        client
            .send(client.get().with("accept", "application/json"))
            .await
            .status,
        406
    );
    let reading = tokio::spawn(async move {
        let told = more(&mut body).await;
        (told, body)
    });
    tokio::task::yield_now().await;
    let subscribe = client.request(1, "resources/subscribe", &json!({"uri": "notes://7"}));
    assert_eq!(client.send(subscribe).await.json()["result"], json!({}));
    service.server().resource_updated("notes://7");
    let (told, body) = reading.await.unwrap();
    let message: Value = serde_json::from_str(&told[0].1).unwrap();
    assert_eq!(
        message["method"], "notifications/resources/updated",
        "SRV-LHTTP-11"
    );
    drop(body);
    // What happens while nobody listens is told to the next stream.
    service.server().resource_updated("notes://7");
    let mut body = client.get().begin(&service).await.into_body();
    assert_eq!(more(&mut body).await.len(), 1);
    service.server().close();
    assert!(
        next(&mut body).await.is_none(),
        "the stream ends with the server"
    );
}

#[tokio::test]
async fn batches_belong_to_one_revision() {
    let service = service();
    for revision in SERVED {
        let client = Client::begin(&service, revision).await;
        let batch = json!([
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 2, "b": 3}}},
            {"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": "notes://7"}},
            {"jsonrpc": "2.0", "method": "notifications/x"},
        ]);
        let answer = client.send(client.post(&batch)).await;
        if revision == Revision::V2025_03_26 {
            assert_eq!(
                answer.json().as_array().unwrap().len(),
                2,
                "SRV-BASE-07: {answer:?}"
            );
            service.server().resource_updated("notes://7");
            let mut body = client.get().begin(&service).await.into_body();
            assert_eq!(
                more(&mut body).await.len(),
                1,
                "the subscription is the session's"
            );
        } else {
            assert_eq!(answer.status, 400, "{answer:?}");
        }
        let told = json!([{"jsonrpc": "2.0", "method": "notifications/x"}]);
        let status = if revision == Revision::V2025_03_26 {
            202
        } else {
            400
        };
        assert_eq!(
            client.send(client.post(&told)).await.status,
            status,
            "SRV-LHTTP-02"
        );
    }
}

#[tokio::test]
async fn a_flood_of_sessions_ends_the_idle_ones() {
    let limits = Limits {
        http_sessions: 32,
        ..Limits::default()
    };
    let service = service_within(limits);
    let idle = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let busy = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let listening = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let _stream = listening.get().begin(&service).await;
    let ping = |client: &Client| client.request(1, "ping", &json!({}));
    for _ in 0..1_000 {
        assert_eq!(
            initialize(Revision::LATEST_LEGACY)
                .send(&service)
                .await
                .status,
            200
        );
        assert_eq!(
            busy.send(ping(&busy)).await.status,
            200,
            "who is at work stays"
        );
    }
    assert_eq!(idle.send(ping(&idle)).await.status, 404, "SRV-LHTTP-19");
    assert_eq!(listening.send(ping(&listening)).await.status, 200);
}

#[tokio::test]
async fn sessions_that_are_all_at_work_are_no_prey() {
    let limits = Limits {
        http_sessions: 1,
        ..Limits::default()
    };
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
    let ping = || client.request(1, "ping", &json!({}));
    tokio::time::advance(Duration::from_secs(29 * 60)).await;
    assert_eq!(client.send(ping()).await.status, 200);
    tokio::time::advance(Duration::from_secs(31 * 60)).await;
    assert_eq!(client.send(ping()).await.status, 404, "SRV-LHTTP-19");
}

#[tokio::test]
async fn what_is_kept_for_lost_streams_is_bounded() {
    let limits = Limits {
        http_session_events: 10,
        ..Limits::default()
    };
    let service = http_service(builder().limits(limits).build().unwrap());
    let client = Client::begin(&service, Revision::V2025_11_25).await;
    let mut body = client
        .tool(1, "count", &json!({"to": 1_000}))
        .begin(&service)
        .await
        .into_body();
    let first = more(&mut body).await;
    drop(body);
    // Until the call is over: its answer is the last event.
    let get = client.get().with("last-event-id", &first[0].0);
    let rest = client.send(get).await;
    let rest = messages(&rest.body);
    assert!(rest.len() <= 1_001, "{}", rest.len());
    assert_eq!(rest.last().unwrap()["id"], 1, "the answer is not lost");
}

#[tokio::test]
async fn calls_of_a_session_are_bounded() {
    let desk = Desk::default();
    let limits = Limits {
        calls_in_flight: 1,
        ..Limits::default()
    };
    let service = http_service(builder_of(&desk).limits(limits).build().unwrap());
    let client = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let waiting = tokio::spawn({
        let (post, service) = (client.tool(1, "wait", &json!({})), service.clone());
        async move { post.send(&service).await }
    });
    desk.begun.notified().await;
    let answer = client
        .send(client.tool(2, "add", &json!({"a": 2, "b": 3})))
        .await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["id"]),
        (503, &json!(2))
    );
    waiting.abort();
}
