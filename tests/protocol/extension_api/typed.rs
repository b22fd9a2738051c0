//! An extension of a third party, used from both sides by types.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use tokio_stream::StreamExt as _;
use treenail::prelude::*;
use treenail::schema::Revision;

use super::jobs::{ID, Sum, server};

#[derive(serde::Serialize)]
struct Add {
    a: i64,
    more: Vec<i64>,
}

#[derive(Debug, PartialEq, serde::Deserialize)]
struct Job {
    id: String,
}

async fn connect(server: &Server, revision: Revision) -> McpClient {
    let builder = McpClient::builder()
        .server(server)
        .protocol_version(revision);
    let builder = builder.extension(ID, json!({"color": {"dark": [true]}}));
    builder.build().await.unwrap()
}

#[tokio::test]
async fn both_sides_use_types() {
    for revision in Revision::ALL {
        let client = connect(&server(), revision).await;
        let settings = client.server_extension(ID).unwrap();
        assert_eq!(
            json!(settings),
            json!({"max": 3, "nested": {"deep": [1, {"a": true}]}}),
            "EXT-B-04"
        );
        assert_eq!(client.server_extension("com.example/other"), None);
        let add = Add {
            a: 1,
            more: vec![2, 3],
        };
        let sum: Sum = client
            .extension_request(ID, "jobs/add", &add)
            .await
            .unwrap();
        assert_eq!(sum, Sum { sum: 6 });
        let request = client.extension_request::<Value>(ID, "jobs/caller", &());
        let seen = request.meta("com.example/a", 1).await.unwrap();
        assert_eq!(
            seen["settings"],
            json!({"color": {"dark": [true]}}),
            "EXT-B-03, EXT-C-01"
        );
        let other: Value = client
            .extension_request(ID, "jobs/other", ())
            .await
            .unwrap();
        assert_eq!(other["resultType"], "job", "EXT-B-08");
    }
}

#[tokio::test]
async fn notifications_are_read_as_types() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = connect(&server(), revision).await;
        let mut notifications = pin!(client.session().notifications());
        let steps = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&steps);
        let request = client.extension_request::<Value>(ID, "jobs/report", &());
        let request = request.on_progress(move |_| {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        });
        request.await.unwrap();
        assert_eq!(steps.load(std::sync::atomic::Ordering::Relaxed), 1);
        let request = client.extension_request::<Value>(ID, "jobs/report", &());
        let request = request.reset_timeout_on_progress(Duration::from_secs(60));
        let (stream, request) = request.progress();
        request.await.unwrap();
        assert_eq!(stream.collect::<Vec<_>>().await.len(), 1);
        loop {
            let next = poll_fn(|cx| notifications.as_mut().poll_next(cx))
                .await
                .unwrap();
            assert_eq!(next.decode_as::<Job>("notifications/others"), None);
            if let Some(job) = next.decode_as::<Job>("notifications/jobs") {
                assert_eq!(
                    job,
                    Job {
                        id: "j1".to_owned()
                    }
                );
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_request_needs_the_declaration_of_the_server() {
    let plain = treenail::server!().build().unwrap();
    for revision in Revision::ALL {
        let client = connect(&plain, revision).await;
        let sent = client
            .extension_request::<Value>(ID, "jobs/add", &json!({"a": 1}))
            .await;
        let Err(ClientError::Unsupported(reason)) = sent else {
            panic!("EXT-B-05: {sent:?}");
        };
        assert!(
            reason.contains(ID) && reason.contains("jobs/add"),
            "{reason}"
        );
    }
}

#[tokio::test]
async fn refusals_reach_the_caller() {
    for revision in Revision::ALL {
        let builder = McpClient::builder()
            .server(&server())
            .protocol_version(revision);
        let undeclared = builder.build().await.unwrap();
        let add = json!({"a": 1});
        let refused = undeclared
            .extension_request::<Value>(ID, "jobs/add", &add)
            .await;
        let refused = refused.unwrap_err();
        assert_eq!(
            refused.as_refused().unwrap().code,
            -32021,
            "EXT-B-05: {refused}"
        );
        let client = connect(&server(), revision).await;
        let unknown = client
            .extension_request::<Value>(ID, "jobs/unknown", &add)
            .await;
        assert_eq!(unknown.unwrap_err().as_refused().unwrap().code, -32601);
        let misread = client.extension_request::<Job>(ID, "jobs/add", &add).await;
        assert!(
            matches!(misread, Err(ClientError::Protocol(_))),
            "{misread:?}"
        );
        let invalid = client
            .extension_request::<Value>(ID, "jobs/add", &[1])
            .await;
        assert!(
            matches!(invalid, Err(ClientError::Invalid(_))),
            "{invalid:?}"
        );
        let unnamed = client
            .extension_request::<Value>(ID, "jobs/add", &add)
            .name_header("b");
        assert!(matches!(unnamed.await, Err(ClientError::Invalid(_))));
    }
}

#[tokio::test]
async fn invalid_declarations_are_refused_before_connecting() {
    for (id, settings) in [
        ("jobs", json!({})),
        (ID, json!([])),
        ("com.example/", json!({})),
    ] {
        let builder = McpClientSession::builder().server(&server());
        let built = builder.extension(id, settings).build().await;
        assert!(
            matches!(built, Err(ClientError::Invalid(_))),
            "EXT-B-01: {built:?}"
        );
    }
}
