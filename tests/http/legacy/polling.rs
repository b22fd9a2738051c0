//! Polling: clients that reconnect for the rest of a stream, so that no connection stays open for long (SEP-1699).

use std::time::Duration;

use serde_json::{Value, json};
use treenail::Limits;
use treenail::http::http_service;
use treenail::limits::HttpLimits;
use treenail::schema::Revision;

use super::{Client, events, next_events};
use crate::client::next;
use crate::fixture::{Desk, builder_of, service, service_within};

const OLDER: [Revision; 2] = [Revision::V2025_03_26, Revision::V2025_06_18];

fn polling() -> Limits {
    Limits::default().http(HttpLimits::default().stream_max_age(Some(Duration::from_secs(10))))
}

#[tokio::test(start_paused = true)]
async fn a_client_reconnects_to_a_long_call() {
    let desk = Desk::default();
    let service = http_service(builder_of(&desk).limits(polling()).build().unwrap());
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let response = client.send(client.tool(1, "wait", &json!({}))).await;
    assert_eq!(response.status, 200);
    assert!(
        response.body.starts_with("retry: 1000\nid: "),
        "SRV-LHTTP-05: {response:?}"
    );
    let mut found = events(&response.body.into());
    // The call continues, no matter how often the client reconnects.
    for _ in 0..3 {
        assert_eq!(found.len(), 1, "SRV-LHTTP-04");
        let (id, data) = found.remove(0);
        assert_eq!(data, "", "SRV-LHTTP-03");
        let get = client.get().with("last-event-id", id);
        found = events(&client.send(get).await.body.into());
    }
    let params = json!({"requestId": 1});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    client.send(client.post(&cancel)).await.expect_accepted("");
    desk.ended.notified().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_lost_between_the_requests_of_a_polling_client() {
    let service = service_within(polling());
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let mut body = client.open(client.tool(1, "ask", &json!({}))).await;
    let found = next_events(&mut body).await;
    let question: Value = serde_json::from_str(&found[1].1).unwrap();
    assert!(next(&mut body).await.is_none(), "SRV-LHTTP-04");
    let content = json!({"action": "accept", "content": {"confirmed": true}});
    let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": content});
    client.send(client.post(&reply)).await.expect_accepted("");
    let get = client.get().with("last-event-id", &found[1].0);
    let rest = events(&client.send(get).await.body.into());
    assert_eq!(rest.len(), 2, "SRV-LHTTP-15: {rest:?}");
    let response: Value = serde_json::from_str(&rest[1].1).unwrap();
    assert_eq!(response["id"], 1, "{response}");
}

#[tokio::test(start_paused = true)]
async fn a_function_can_close_its_stream() {
    let service = service();
    let client = Client::start(&service, Revision::V2025_11_25).await;
    for started in [false, true] {
        let call = client.tool(1, "nap", &json!({"tell": started}));
        let found = events(&client.send(call).await.body.into());
        let last = found.last().unwrap();
        assert_eq!(found[0].1, "", "SRV-LHTTP-03");
        assert!(!last.1.contains(r#""result""#), "SRV-LHTTP-04: {found:?}");
        let get = client.get().with("last-event-id", &last.0);
        let rest = events(&client.send(get).await.body.into());
        let (_, response) = rest.last().unwrap();
        let response: Value = serde_json::from_str(response).unwrap();
        assert_eq!(
            response["result"]["content"][0]["text"], "rested",
            "{response}"
        );
        // Earlier messages are sent once, on either connection.
        assert_eq!(found.len() + rest.len(), 3 + usize::from(started));
    }
}

#[tokio::test(start_paused = true)]
async fn streams_of_clients_without_polling_stay_open() {
    let service = service_within(polling());
    for revision in OLDER {
        let client = Client::start(&service, revision).await;
        let response = client
            .send(client.tool(1, "nap", &json!({"tell": false})))
            .await;
        assert_eq!(response.status, 200);
        assert!(
            response.body.contains("rested"),
            "SRV-LHTTP-06: {response:?}"
        );
        let response = client
            .send(client.tool(1, "nap", &json!({"tell": true})))
            .await;
        assert!(
            response.body.contains("rested"),
            "SRV-LHTTP-06: {response:?}"
        );
    }
}
