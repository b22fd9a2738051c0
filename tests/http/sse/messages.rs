//! Posted messages, and messages on the stream.

use serde_json::json;
use treenail::Limits;
use treenail::http::{SsePaths, http_service};
use treenail::observe::ObservedTransport;
use treenail::schema::Revision;

use super::{Client, SERVED, initialized, service, service_of, service_within};
use crate::client::Post;
use crate::fixture::{Desk, builder};
use crate::legacy::first_poll::{Computing, cancellation};
use crate::legacy::observed::Seen;

#[tokio::test]
async fn responses_are_sent_on_the_stream_in_every_revision() {
    let service = service();
    for revision in SERVED {
        let mut client = Client::start(&service, revision).await;
        client.tool(1, "add", &json!({"a": 2, "b": 3})).await;
        let response = client.stream().message().await;
        assert_eq!(response["id"], 1);
        assert_eq!(response["result"]["content"][0]["text"], "5", "SRV-SSE-03");
        client.call(2, "tools/list", &json!({})).await;
        assert_eq!(client.stream().message().await["id"], 2);
        client.call(3, "no/such", &json!({})).await;
        assert_eq!(client.stream().message().await["error"]["code"], -32601);
    }
}

#[tokio::test]
async fn messages_of_calls_precede_their_responses() {
    let service = service();
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    client.tool(1, "count", &json!({"to": 100})).await;
    for step in 1..=100 {
        let message = client.stream().message().await;
        assert_eq!(message["params"]["progress"], step, "{message}");
    }
    assert_eq!(client.stream().message().await["id"], 1);
}

#[tokio::test]
async fn many_calls_share_the_stream_and_none_is_lost() {
    let service = service();
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    let mut stream = client.take_stream();
    let reading = tokio::spawn(async move {
        let (mut progress, mut ids) = (0, Vec::new());
        while ids.len() < 100 {
            let message = stream.message().await;
            match message["id"].as_i64() {
                Some(id) => ids.push(id),
                None => progress += 1,
            }
        }
        (progress, ids, stream)
    });
    for id in 1..=100 {
        client.tool(id, "count", &json!({"to": 10})).await;
    }
    let (progress, mut ids, _stream) = reading.await.unwrap();
    ids.sort_unstable();
    assert_eq!(progress, 1_000);
    assert!(ids.into_iter().eq(1..=100));
}

#[tokio::test]
async fn server_requests_and_their_responses_are_exchanged() {
    let service = service();
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let mut client = Client::start(&service, revision).await;
        client.tool(1, "ask", &json!({})).await;
        let question = client.stream().message().await;
        assert_eq!(question["method"], "elicitation/create");
        let content = json!({"action": "accept", "content": {"confirmed": true}});
        let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": content});
        client.send(&reply).await.expect_accepted("SRV-SSE-03");
        let response = client.stream().message().await;
        assert_eq!(
            response["result"]["content"][0]["text"], "sure",
            "{response}"
        );
    }
}

#[tokio::test]
async fn a_malformed_response_ends_its_question() {
    let service = service();
    let mut client = Client::start(&service, Revision::V2025_06_18).await;
    client.tool(1, "ask", &json!({})).await;
    let question = client.stream().message().await;
    let malformed = json!({"jsonrpc": "2.0", "id": question["id"], "result": {}, "error": 1});
    let refused = client.send(&malformed).await;
    assert_eq!(refused.status, 400, "SRV-SSE-03: {refused:?}");
    let response = client.stream().message().await;
    assert_eq!(response["id"], 1, "{response}");
    let text = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("its response is not valid"), "{text}");
}

#[tokio::test]
async fn an_oversized_response_ends_its_question() {
    let service = service_within(Limits::default().message_bytes(1_000));
    let mut client = Client::start(&service, Revision::V2025_06_18).await;
    client.tool(1, "ask", &json!({})).await;
    let question = client.stream().message().await;
    let (id, padding) = (&question["id"], "x".repeat(2_000));
    let response = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"x":"{padding}"}}}}"#);
    let post = Post::raw(response).at(&client.endpoint);
    let refused = post.send(&service).await;
    assert_eq!(refused.status, 413, "CLI-HTTP-09: {refused:?}");
    let response = client.stream().message().await;
    assert_eq!(response["id"], 1, "{response}");
    let text = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("longer than 1000 bytes"), "{text}");
}

#[tokio::test]
async fn messages_unrelated_to_a_request_are_sent_on_the_stream() {
    let service = service();
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    client
        .call(1, "resources/subscribe", &json!({"uri": "notes://7"}))
        .await;
    assert_eq!(client.stream().message().await["result"], json!({}));
    service.server().resource_updated("notes://7");
    let notification = client.stream().message().await;
    assert_eq!(notification["method"], "notifications/resources/updated");
}

#[tokio::test]
async fn a_batch_has_one_response() {
    let service = service();
    let mut client = Client::start(&service, Revision::V2025_03_26).await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]);
    client.send(&batch).await.expect_accepted("SRV-BASE-07");
    assert_eq!(client.stream().message().await.as_array().unwrap().len(), 2);
    let client = Client::start(&service, Revision::V2024_11_05).await;
    assert_eq!(client.send(&batch).await.status, 400);
}

#[tokio::test]
async fn a_call_is_cancelled_by_a_notification() {
    let desk = Desk::default();
    let service = service_of(&desk);
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    client.tool(1, "wait", &json!({})).await;
    desk.begun.notified().await;
    let params = json!({"requestId": 1});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    client.send(&cancel).await.expect_accepted("SRV-CANC-03");
    desk.ended.notified().await;
    // The call has no response, and the session continues.
    client.ping().await.expect_accepted("");
    assert_eq!(client.stream().message().await["id"], 9, "SRV-CANC-03");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_cancelled_call_sends_no_further_messages() {
    for (late, returns) in [(false, false), (false, true), (true, false)] {
        let (computing, service, release) = Computing::start();
        let service = service.legacy_sse(SsePaths::default());
        let mut client = Client::start(&service, Revision::V2024_11_05).await;
        let arguments = json!({"late": late, "returns": returns});
        let params =
            json!({"name": "compute", "arguments": arguments, "_meta": {"progressToken": 7}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let call = client.post(&call);
        let call = tokio::spawn(async move { call.send(&service).await });
        computing.begun.notified().await;
        let cancelled = client.send(&cancellation()).await;
        cancelled.expect_accepted("SRV-CANC-03");
        release.send(()).unwrap();
        computing.ended().await;
        call.await.unwrap().expect_accepted("SRV-SSE-03");
        client.ping().await.expect_accepted("the session continues");
        let next = client.stream().message().await;
        assert_eq!(next["id"], 9, "SRV-CANC-03: {next}");
    }
}

#[tokio::test]
async fn the_end_of_the_stream_ends_the_session_and_its_calls() {
    let desk = Desk::default();
    let service = service_of(&desk);
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    let other = Client::start(&service, Revision::V2024_11_05).await;
    client.tool(1, "wait", &json!({})).await;
    desk.begun.notified().await;
    drop(client.take_stream());
    desk.ended.notified().await;
    assert_eq!(client.ping().await.status, 404);
    other.ping().await.expect_accepted("others stay");
}

#[tokio::test(start_paused = true)]
async fn a_closing_server_finishes_its_calls() {
    let service = service();
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    let mut idle = Client::start(&service, Revision::V2024_11_05).await;
    client.tool(1, "nap", &json!({"tell": false})).await;
    service.server().close();
    assert!(idle.stream().event().await.is_none());
    let response = client.stream().message().await;
    assert_eq!(response["result"]["content"][0]["text"], "rested");
    assert!(client.stream().event().await.is_none());
}

#[tokio::test]
async fn a_batch_may_finish_the_handshake() {
    let service = service();
    let mut client = Client::open(&service).await;
    client.initialize(Revision::V2025_03_26).await;
    let list = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
    let batch = json!([initialized(), list(1)]);
    client.send(&batch).await.expect_accepted("SRV-SSE-03");
    let response = client.stream().message().await;
    assert!(response[0]["result"].is_object(), "{response}");
    client.send(&list(2)).await.expect_accepted("SRV-SSE-03");
    let response = client.stream().message().await;
    assert!(response["result"].is_object(), "{response}");
}

#[tokio::test]
async fn observers_see_the_transport_and_the_id_of_a_session() {
    let seen = Seen::default();
    let server = builder().observe(seen.clone()).build().unwrap();
    let service = http_service(server).legacy_sse(SsePaths::default());
    let mut client = Client::start(&service, Revision::V2024_11_05).await;
    client.call(1, "tools/list", &json!({})).await;
    client.tool(2, "add", &json!({"a": 2, "b": 3})).await;
    for id in [1, 2] {
        assert_eq!(client.stream().message().await["id"], id);
    }
    let (_, id) = client.endpoint.split_once("sessionId=").unwrap();
    for (name, transport, session) in seen.take() {
        assert_eq!(transport, ObservedTransport::Http("1.1"), "{name}");
        let expected = (name != "session").then_some(id);
        assert_eq!(session.as_deref(), expected, "{name}");
    }
}
