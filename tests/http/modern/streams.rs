//! Event streams: messages before a result, and subscriptions.

use treenail::http::http_service;
use treenail::prelude::*;

use super::fixture::service;
use crate::client::{Post, messages, next};

fn counting(to: u32) -> Post {
    Post::tool("count", json!({"to": to})).change(|body| {
        body["params"]["_meta"]["progressToken"] = "t".into();
    })
}

#[tokio::test]
async fn messages_before_the_result_make_the_response_a_stream() {
    let response = counting(3).send(&service()).await;
    assert_eq!(response.status, 200);
    assert_eq!(
        response.header("x-accel-buffering"),
        Some("no"),
        "SRV-HTTP-14"
    );
    let events = response.events();
    let progress: Vec<_> = events
        .iter()
        .map(|event| &event["params"]["progress"])
        .collect();
    assert_eq!(progress[..3], [1, 2, 3], "SRV-HTTP-09: {events:?}");
    assert_eq!(events.len(), 4, "SRV-HTTP-12: the result is the last event");
    assert_eq!(events[3]["id"], 1, "SRV-HTTP-12");
    assert!(
        !response.body.contains("id:"),
        "ALL-HTTP-01: events have no ids"
    );
    let quiet = Post::tool("count", json!({"to": 3})).send(&service()).await;
    assert_eq!(quiet.json()["result"]["content"][0]["text"], "counted");
    // More messages than the queue can hold.
    assert_eq!(counting(1_000).send(&service()).await.events().len(), 1_001);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_streams_until_the_server_closes() {
    let service = service();
    let filter = json!({"notifications": {"resourceSubscriptions": ["notes://7"]}});
    let response = Post::modern("subscriptions/listen", filter)
        .begin(&service)
        .await;
    assert_eq!(
        response.headers()["content-type"],
        "text/event-stream",
        "SRV-HTTP-08"
    );
    let mut body = response.into_body();
    let mut next_text = async || {
        let bytes = next(&mut body).await?;
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    };
    let method = |text: &str| messages(text)[0]["method"].clone();
    let first = next_text().await.unwrap();
    assert_eq!(
        method(&first),
        "notifications/subscriptions/acknowledged",
        "SRV-SUB-02"
    );
    service.server().resource_updated("notes://7");
    let second = next_text().await.unwrap();
    assert_eq!(method(&second), "notifications/resources/updated");
    // The paused clock advances, because all tasks wait.
    assert_eq!(next_text().await.unwrap(), ":\n\n", "SRV-HTTP-15");
    assert_eq!(next_text().await.unwrap(), ":\n\n", "SRV-HTTP-15");
    service.server().close();
    let last = messages(&next_text().await.unwrap());
    assert_eq!(last.len(), 1, "AMB-01: the result alone");
    assert_eq!(last[0]["result"]["resultType"], "complete", "SRV-SUB-07");
    assert_eq!(next_text().await, None, "SRV-SUB-07");
}

#[tokio::test]
async fn messages_of_a_request_are_on_its_stream_alone() {
    let service = service();
    let filter = json!({"notifications": {"resourceSubscriptions": ["notes://7"]}});
    let listen = Post::modern("subscriptions/listen", filter);
    let mut listening = listen.begin(&service).await.into_body();
    let mut listened = async || {
        let bytes = next(&mut listening).await.unwrap();
        messages(std::str::from_utf8(&bytes).unwrap())
    };
    assert_eq!(listened().await.len(), 1, "the acknowledgement");
    let with_token = |token: &'static str| {
        counting(3).change(|body| body["params"]["_meta"]["progressToken"] = token.into())
    };
    let (one, other) = (with_token("one"), with_token("other"));
    let (one, other) = tokio::join!(one.send(&service), other.send(&service));
    for (response, token) in [(one, "one"), (other, "other")] {
        let mut events = response.events();
        assert_eq!(events.pop().unwrap()["id"], 1, "SRV-HTTP-12");
        assert_eq!(events.len(), 3);
        for event in events {
            assert_eq!(event["params"]["progressToken"], token, "SRV-HTTP-10");
            assert!(event.get("id").is_none(), "SRV-HTTP-11: {event}");
        }
    }
    service.server().resource_updated("notes://7");
    let later = listened().await;
    let methods: Vec<_> = later.iter().map(|message| &message["method"]).collect();
    assert_eq!(methods, ["notifications/resources/updated"], "SRV-HTTP-16");
}

#[tokio::test]
async fn a_stream_has_no_requests_to_the_client() {
    let able = json!({"elicitation": {}});
    let params = json!({"name": "ask_later", "arguments": {}, "_meta": {"progressToken": "t"}});
    let post = Post::modern_as("tools/call", params, &able);
    let server = treenail::server!()
        .tools(tools![ask_later])
        .build()
        .unwrap();
    let events = post.send(&http_service(server)).await.events();
    assert_eq!(events[0]["method"], "notifications/progress");
    assert_eq!(events.len(), 2, "SRV-HTTP-11: {events:?}");
    let result = &events[1]["result"]["resultType"];
    assert_eq!(*result, "input_required", "SRV-HTTP-11: {events:?}");
}

/// Reports progress, then asks the client.
#[mcp_tool]
async fn ask_later(cx: &Context) -> Result<String, AskError> {
    cx.progress(1).await;
    cx.confirm("Sure?").await?;
    Ok("sure".to_owned())
}
