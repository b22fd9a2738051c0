//! Streams of a session: routing of messages, and events stored for clients that reconnect.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use treenail::Limits;
use treenail::limits::HttpLimits;
use treenail::schema::Revision;

use super::{Client, SERVED, events, next_events};
use crate::client::{Chunks, messages, next};
use crate::fixture::{service, service_within};

#[tokio::test]
async fn messages_of_a_call_are_sent_on_its_own_stream() {
    let service = service();
    for revision in SERVED {
        let client = Client::start(&service, revision).await;
        let response = client
            .send(client.tool(1, "count", &json!({"to": 3})))
            .await;
        let primed = revision >= Revision::V2025_11_25;
        let found = events(&response.body.clone().into());
        assert_eq!(found.len(), 4 + usize::from(primed), "{response:?}");
        if primed {
            assert_eq!(found[0].1, "", "SRV-LHTTP-03");
        }
        let last: Value = serde_json::from_str(&found.last().unwrap().1).unwrap();
        assert_eq!(last["id"], 1, "SRV-LHTTP-09");
        let mut ids: Vec<_> = found.iter().map(|(id, _)| id).collect();
        ids.dedup();
        assert_eq!(ids.len(), found.len(), "SRV-LHTTP-14");
        // A second client of the service has its own stream throughout.
        let many = client
            .send(client.tool(2, "count", &json!({"to": 1_000})))
            .await;
        assert_eq!(many.body.matches("notifications/progress").count(), 1_000);
    }
}

#[tokio::test]
async fn a_lost_stream_is_resumed() {
    let service = service();
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let count = client.tool(1, "count", &json!({"to": 200}));
    let mut body = client.open(count).await;
    let first = next_events(&mut body).await;
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
        let response = client
            .send(client.get().with("last-event-id", unknown))
            .await;
        assert_eq!(response.status, 400, "{unknown}: {response:?}");
    }
}

#[tokio::test]
async fn requests_to_the_client_are_sent_on_the_stream_of_their_call() {
    let service = service();
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let client = Client::start(&service, revision).await;
        let mut body = client.open(client.tool(1, "ask", &json!({}))).await;
        let mut found = next_events(&mut body).await;
        let question: Value = serde_json::from_str(&found.pop().unwrap().1).unwrap();
        assert_eq!(
            question["method"], "elicitation/create",
            "SRV-LHTTP-07, SRV-LHTTP-08"
        );
        let content = json!({"action": "accept", "content": {"confirmed": true}});
        let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": content});
        client
            .send(client.post(&reply))
            .await
            .expect_accepted("SRV-LHTTP-02");
        let response: Value = serde_json::from_str(&next_events(&mut body).await[0].1).unwrap();
        assert_eq!(response["id"], 1, "SRV-LHTTP-09: {response}");
        assert!(next(&mut body).await.is_none(), "SRV-LHTTP-09");
    }
}

#[tokio::test]
async fn a_malformed_response_ends_its_question() {
    let service = service();
    let (client, other) = (
        Client::start(&service, Revision::V2025_11_25).await,
        Client::start(&service, Revision::V2025_11_25).await,
    );
    let mut body = client.open(client.tool(1, "ask", &json!({}))).await;
    let mut found = next_events(&mut body).await;
    let question: Value = serde_json::from_str(&found.pop().unwrap().1).unwrap();
    let malformed = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}, "error": 1});
    // The response of another session belongs to a question of that session.
    for sender in [&other, &client] {
        let refused = sender.send(sender.post(&malformed)).await;
        assert_eq!(refused.status, 400, "SRV-LHTTP-02: {refused:?}");
        assert_eq!(refused.json().get("id"), None, "{refused:?}");
    }
    let response: Value = serde_json::from_str(&next_events(&mut body).await[0].1).unwrap();
    assert_eq!(response["id"], 1, "{response}");
    assert_eq!(response["result"]["isError"], true, "{response}");
    let text = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("its response is not valid"), "{text}");
}

#[tokio::test]
async fn an_oversized_response_ends_its_question() {
    let service = service_within(Limits::default().message_bytes(1_000));
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let other = Client::start(&service, Revision::V2025_11_25).await;
    for declared_length in [0, 2_000] {
        let mut body = client.open(client.tool(1, "ask", &json!({}))).await;
        let mut found = next_events(&mut body).await;
        let question: Value = serde_json::from_str(&found.pop().unwrap().1).unwrap();
        let result = json!({"action": "accept", "x": "x".repeat(2_000)});
        let id = &question["id"];
        let response = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        // The response of another session belongs to a question of that session.
        for sender in [&other, &client] {
            let (chunks, _) = Chunks::endless(response.clone().into_bytes());
            let post = sender.post(&Value::Null);
            let chunks = chunks.of_length(declared_length);
            let refused = post.send_with(&service, chunks).await;
            assert_eq!(refused.status, 413, "CLI-HTTP-09: {refused:?}");
        }
        let answer: Value = serde_json::from_str(&next_events(&mut body).await[0].1).unwrap();
        assert_eq!(answer["id"], 1, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("longer than 1000 bytes"), "{text}");
    }
}

#[tokio::test]
async fn messages_unrelated_to_a_request_are_sent_on_the_stream_of_a_get() {
    let service = service();
    let client = Client::start(&service, Revision::V2025_06_18).await;
    let mut body = client.open(client.get()).await;
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
        let found = next_events(&mut body).await;
        (found, body)
    });
    tokio::task::yield_now().await;
    let subscribe = client.request(1, "resources/subscribe", &json!({"uri": "notes://7"}));
    assert_eq!(client.send(subscribe).await.json()["result"], json!({}));
    service.server().resource_updated("notes://7");
    let (found, body) = reading.await.unwrap();
    let message: Value = serde_json::from_str(&found[0].1).unwrap();
    assert_eq!(
        message["method"], "notifications/resources/updated",
        "SRV-LHTTP-11"
    );
    drop(body);
    // Notifications without an open stream are sent on the next one.
    service.server().resource_updated("notes://7");
    let mut body = client.open(client.get()).await;
    assert_eq!(next_events(&mut body).await.len(), 1);
    service.server().close();
    assert!(
        next(&mut body).await.is_none(),
        "the stream ends with the server"
    );
}

#[tokio::test(start_paused = true)]
async fn a_resumed_stream_is_woken_although_the_lost_one_is_still_open() {
    let service = service();
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let subscribe = client.request(1, "resources/subscribe", &json!({"uri": "notes://7"}));
    assert_eq!(client.send(subscribe).await.status, 200);
    let mut lost = client.open(client.get()).await;
    let read = next_events(&mut lost).await.remove(0).0;
    let lost = tokio::spawn(async move { next(&mut lost).await });
    tokio::task::yield_now().await;
    // As a connection of hyper does, one poll handles the request and polls its stream.
    let get = client.get().with("last-event-id", read);
    let resumed = tokio::spawn(async move {
        let mut resumed = client.open(get).await;
        next_events(&mut resumed).await;
        next_events(&mut resumed).await
    });
    assert_eq!(lost.await.unwrap(), None);
    tokio::task::yield_now().await;
    let start = Instant::now();
    service.server().resource_updated("notes://7");
    let found = resumed.await.unwrap();
    assert_eq!(found.len(), 1, "SRV-LHTTP-11: not only a keep-alive");
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn events_stored_for_lost_streams_are_bounded() {
    let limits = Limits::default().http(HttpLimits::default().session_events(10));
    let service = service_within(limits);
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let mut body = client
        .open(client.tool(1, "count", &json!({"to": 1_000})))
        .await;
    let first = next_events(&mut body).await;
    drop(body);
    // Read until the end of the call. Its response is the last event.
    let get = client.get().with("last-event-id", &first[0].0);
    let rest = client.send(get).await;
    let rest = messages(&rest.body);
    assert!(rest.len() <= 1_001, "{}", rest.len());
    assert_eq!(rest.last().unwrap()["id"], 1, "the response is not lost");
}

#[tokio::test(start_paused = true)]
async fn a_stalled_reader_loses_its_stream_but_not_its_call() {
    let service = service();
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let mut stalled = client
        .open(client.tool(1, "count", &json!({"to": 1_000})))
        .await;
    let first = next_events(&mut stalled).await;
    // The paused clock advances while all tasks wait: the call waits for its reader until the write timeout.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(next(&mut stalled).await.is_none());
    let get = client.get().with("last-event-id", &first[0].0);
    let rest = messages(&client.send(get).await.body);
    assert_eq!(rest.last().unwrap()["id"], 1, "SRV-LHTTP-10");
}
