//! Progress, timeouts and concurrent calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use treenail::client::ClientError;

use super::{Connect, client};
use crate::results::text;

const LONG: &str = "trigger-long-running-operation";

pub(super) async fn progress_is_reported(connect: Connect<'_>) {
    let client = client(connect).await;
    let reported = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reported);
    let result = client
        .session()
        .tools_call(LONG, json!({"duration": 0.4, "steps": 4}))
        .on_progress(move |progress| {
            let progress = json!(progress);
            let step = (progress["progress"].clone(), progress["total"].clone());
            sink.lock().unwrap().push(step);
        })
        .await
        .unwrap();
    let expected = "Long running operation completed. Duration: 0.4 seconds, Steps: 4.";
    assert_eq!(text(&result), expected);
    let steps: Vec<_> = (1..=4).map(|step| (json!(step), json!(4))).collect();
    assert_eq!(*reported.lock().unwrap(), steps, "CLI-PROG-01");
    client.close().await.unwrap();
}

pub(super) async fn slow_calls_time_out(connect: Connect<'_>) {
    let client = client(connect).await;
    let session = client.session();
    let limit = Duration::from_millis(300);
    // The call is abandoned long before it ends.
    let endless = json!({"duration": 3_600, "steps": 1});
    let error = session.tools_call(LONG, &endless).timeout(limit).await;
    let error = error.unwrap_err();
    assert!(matches!(error, ClientError::Timeout(given) if given == limit));

    // Each step is within the limit, even on a slow machine, but their sum exceeds it.
    let steps = json!({"duration": 3, "steps": 30});
    let call = session
        .tools_call(LONG, &steps)
        .timeout(Duration::from_millis(2_800));
    let result = call
        .reset_timeout_on_progress(Duration::from_secs(60))
        .await
        .unwrap();
    assert!(text(&result).contains("completed"), "ALL-CANC-05");
    client.close().await.unwrap();
}

pub(super) async fn many_calls_are_in_flight(connect: Connect<'_>) {
    let client = client(connect).await;
    let calls = (0..500).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let message = format!("{number} {}", "x".repeat(number));
            let echoed = client.call_tool("echo", json!({"message": message}));
            assert_eq!(text(&echoed.await.unwrap()), format!("Echo: {message}"));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    client.close().await.unwrap();
}
