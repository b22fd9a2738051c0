//! All requests of the protocol in each revision, with timeouts, progress and cancellation.

use std::time::Duration;

use std::sync::{Arc, Mutex};

use serde_json::json;
use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::{
    CompleteRequestParams, CompletionArgument, LoggingLevel, Number, PromptReference, Revision,
};

use tokio_stream::StreamExt;

use crate::fixture::{names, server, session};

#[tokio::test]
async fn every_request_works_in_every_revision() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let session = session(&server, revision).await;
        assert_eq!(session.protocol_version(), revision, "CLI-VER-01");
        assert_eq!(session.server_info().unwrap().name, "everything");

        let tools = session.tools_list(None).await.unwrap().tools;
        assert_eq!(names(&tools)[..2], ["add", "echo"], "{revision}");
        let sum = session
            .tools_call("add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum.content[0].as_text(), Some("3"), "{revision}");
        let failed = session.tools_call("fail", ()).await.unwrap();
        assert_eq!(failed.is_error, Some(true), "{revision}");

        let prompts = session.prompts_list(None).await.unwrap().prompts;
        assert_eq!(prompts[0].name, "greeting");
        let prompt = session
            .prompts_get("greeting", json!({"name": "Anna"}))
            .await
            .unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("Hello Anna"));

        let resources = session.resources_list(None).await.unwrap().resources;
        assert_eq!(resources[0].uri, "note://today");
        let templates = session.resources_templates_list(None).await.unwrap();
        assert_eq!(
            templates.resource_templates[0].uri_template,
            "note://{city}/{day}"
        );
        let read = session.resources_read("note://Oslo/3").await.unwrap();
        assert_eq!(read.contents[0].uri(), "note://Oslo/3");

        let reference = PromptReference::new("greeting");
        let argument = CompletionArgument::new("name", "An");
        let params = CompleteRequestParams::new(reference.clone(), argument);
        let completed = session.completion_complete(&params).await.unwrap();
        assert_eq!(completed.completion.values, ["Anna", "Anton"], "{revision}");
        let client = McpClient::builder().server(&server).build().await.unwrap();
        let completed = client.complete(reference, "name", "Ann").await.unwrap();
        assert_eq!(completed.completion.values, ["Anna"]);
        session.close().await.unwrap();
    }
}

/// The allocator of glibc keeps freed blocks of up to 1,032 bytes in a cache for each thread.
#[tokio::test]
async fn the_future_of_a_call_is_a_block_that_allocators_cache() {
    let (server, _) = server();
    let client = McpClient::builder().server(&server).build().await.unwrap();
    let call = client.call_tool("add", ()).into_future();
    let request = client.session().tools_call("add", ()).into_future();
    let sizes = [size_of_val(&*call), size_of_val(&*request)];
    assert!(sizes.iter().all(|size| *size <= 1_032), "{sizes:?}");
}

#[tokio::test]
async fn requests_unknown_to_an_era_are_not_sent() {
    let (server, _) = server();
    let legacy = session(&server, Revision::V2025_11_25).await;
    legacy.ping().await.unwrap();
    legacy
        .logging_set_level(LoggingLevel::Warning)
        .await
        .unwrap();
    let error = legacy.server_discover().await.unwrap_err();
    assert!(
        matches!(error, ClientError::Unsupported(_)),
        "ALL-LIFE-01: {error}"
    );

    let modern = session(&server, Revision::LATEST).await;
    let discovered = modern.server_discover().await.unwrap();
    assert!(
        discovered
            .supported_versions
            .contains(&"2026-07-28".to_owned()),
        "CLI-DISC-01"
    );
    for error in [
        modern.ping().await.unwrap_err(),
        modern
            .logging_set_level(LoggingLevel::Warning)
            .await
            .unwrap_err(),
        // The server does not declare subscriptions.
        legacy
            .resources_subscribe("note://today")
            .await
            .unwrap_err(),
    ] {
        assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    }
}

#[tokio::test]
async fn server_errors_are_distinct_from_client_errors() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let session = session(&server, revision).await;
        let error = session.tools_call("nothing", ()).await.unwrap_err();
        let refused = error
            .as_refused()
            .expect("ALL-ERR-09: the server's own words");
        assert_eq!(refused.code, -32602, "{revision}");
        let error = session.tools_call("add", [1, 2]).await.unwrap_err();
        assert!(matches!(error, ClientError::Invalid(_)), "{error}");
    }
}

#[tokio::test]
async fn arguments_can_be_any_type_that_serializes_to_an_object() {
    #[mcp_type]
    struct Sum {
        a: i64,
        b: i64,
    }

    let (server, _) = server();
    let session = session(&server, Revision::LATEST).await;
    let map = std::collections::BTreeMap::from([("a", 20), ("b", 22)]);
    for result in [
        session
            .tools_call("add", Sum { a: 20, b: 22 })
            .await
            .unwrap(),
        session.tools_call("add", &map).await.unwrap(),
        session
            .tools_call("add", json!({"a": 20, "b": 22}))
            .await
            .unwrap(),
    ] {
        assert_eq!(result.structured_content, Some(json!(42)));
    }
    // Any string is sent in a single line.
    let text = "one\ntwo\r\u{2028}\"\\ ü";
    let echoed = session
        .tools_call("echo", json!({"text": text}))
        .await
        .unwrap();
    assert_eq!(echoed.content[0].as_text(), Some(text), "ALL-STDIO-01");
}

#[tokio::test]
async fn dropping_a_request_cancels_it() {
    let (server, observer) = server();
    for revision in Revision::ALL {
        let session = session(&server, revision).await;
        let call = tokio::spawn(session.tools_call("wait", ()).into_future());
        observer.started.notified().await;
        call.abort();
        observer.dropped.notified().await;
        // CLI-CANC-01, CLI-STDIO-07: the connection stays usable.
        let sum = session
            .tools_call("add", json!({"a": 1, "b": 1}))
            .await
            .unwrap();
        assert_eq!(sum.content[0].as_text(), Some("2"), "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_is_cancelled_after_its_timeout() {
    let (server, observer) = server();
    for revision in Revision::ALL {
        let session = session(&server, revision).await;
        let started = tokio::time::Instant::now();
        let error = session.tools_call("wait", ()).await.unwrap_err();
        assert!(
            matches!(error, ClientError::Timeout(limit) if limit.as_secs() == 60),
            "ALL-CANC-03: {error}"
        );
        assert_eq!(started.elapsed().as_secs(), 60);
        observer.dropped.notified().await;
        let limit = Duration::from_secs(5);
        let error = session
            .tools_call("wait", ())
            .timeout(limit)
            .await
            .unwrap_err();
        assert!(
            matches!(error, ClientError::Timeout(given) if given == limit),
            "ALL-CANC-04"
        );
        observer.dropped.notified().await;
    }
}

#[tokio::test(start_paused = true)]
async fn progress_is_reported_and_restarts_the_timeout() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let session = session(&server, revision).await;
        let reported = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&reported);
        let steps = json!({"count": 10});
        let result = session
            .tools_call("steps", &steps)
            .timeout(Duration::from_secs(3))
            .reset_timeout_on_progress(Duration::from_secs(60))
            .on_progress(move |progress| sink.lock().unwrap().push(progress.progress))
            .await
            .unwrap();
        assert_eq!(
            result.content[0].as_text(),
            Some("10"),
            "ALL-CANC-05: {revision}"
        );
        assert_eq!(
            reported.lock().unwrap().len(),
            10,
            "CLI-PROG-01: {revision}"
        );

        let call = session
            .tools_call("steps", &steps)
            .timeout(Duration::from_secs(3));
        let call = call.reset_timeout_on_progress(Duration::from_secs(6));
        let error = call.await.unwrap_err();
        assert!(
            matches!(error, ClientError::Timeout(_)),
            "ALL-CANC-06: {error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn progress_is_available_as_a_stream() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let session = session(&server, revision).await;
        let call = session.tools_call("steps", json!({"count": 3}));
        let (progress, call) = call.progress();
        let call = tokio::spawn(call.into_future());
        let reported: Vec<_> = progress.map(|step| step.progress).collect().await;
        assert_eq!(reported, [1.0, 2.0, 3.0].map(Number::from), "{revision}");
        assert_eq!(call.await.unwrap().unwrap().content[0].as_text(), Some("3"));
    }
}

#[tokio::test]
async fn a_panic_in_a_progress_handler_does_not_end_the_session() {
    let (server, _) = server();
    let session = session(&server, Revision::LATEST).await;
    let call = session.tools_call("steps", json!({"count": 1}));
    let result = call.on_progress(|_| panic!("not my day")).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some("1"));
}

#[tokio::test]
async fn many_requests_run_concurrently() {
    let (server, _) = server();
    let session = Arc::new(session(&server, Revision::LATEST).await);
    let calls = (0..2_000_i64).map(|number| {
        let session = Arc::clone(&session);
        tokio::spawn(async move {
            let sum = session
                .tools_call("add", json!({"a": number, "b": 1}))
                .await
                .unwrap();
            assert_eq!(sum.structured_content, Some(json!(number + 1)));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}
