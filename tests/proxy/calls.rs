//! Calls through a proxy: results, failures, progress, log messages, metadata and cancellation.

use std::sync::{Arc, Mutex};

use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::{LoggingLevel, PromptReference};

use crate::script::{legacy_server, text, tools};
use crate::station::{ERAS, LEGACY, MODERN, client_of, gateway, proxied, station};

#[tokio::test]
async fn results_and_failures_pass_in_every_era() {
    for (caller, remote) in ERAS {
        let (station, _) = station();
        let (gateway, _mounted) = proxied(&station, remote).await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let sum = client
            .call_tool("st.add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        // A server of the legacy era has only objects as structured content.
        let older = caller.min(remote);
        let direct = client_of(&station, older).build().await.unwrap();
        let expected = direct
            .call_tool("add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum.content, expected.content, "{caller} {remote}");
        assert_eq!(
            sum.structured_content, expected.structured_content,
            "{caller} {remote}"
        );
        let failed = client.call_tool("st.fail", ()).await.unwrap();
        assert_eq!(failed.is_error, Some(true));
        assert_eq!(failed.content[0].as_text(), Some("out of order"));
        // The server judges the arguments.
        let wrong = client.call_tool("st.add", json!({"a": "x"})).await.unwrap();
        assert!(wrong.as_text().unwrap().contains("b: missing"), "{wrong:?}");
    }
}

#[tokio::test]
async fn prompts_resources_and_completions_pass_in_every_era() {
    for (caller, remote) in ERAS {
        let (station, _) = station();
        let (gateway, _mounted) = proxied(&station, remote).await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let prompt = client
            .get_prompt("st.trip", json!({"city": "Oslo"}))
            .await
            .unwrap();
        assert_eq!(
            prompt.messages[0].content.as_text(),
            Some("Plan a trip to Oslo.")
        );
        for (uri, text) in [
            ("station://report", "sunny"),
            ("station://reports/7", "report 7"),
        ] {
            let read = client.read_resource(uri).await.unwrap();
            assert_eq!(read.contents[0].as_text(), Some(text), "{caller} {remote}");
            assert_eq!(read.contents[0].uri(), uri);
        }
        let cities = client
            .complete(PromptReference::new("st.trip"), "city", "Os")
            .await
            .unwrap();
        assert_eq!(cities.completion.values, ["Oslo", "Osaka"]);
        let reference = treenail::schema::ResourceTemplateReference::new("station://reports/{id}");
        let ids = client.complete(reference, "id", "").await.unwrap();
        assert_eq!(ids.completion.values, ["1", "2"]);
    }
}

#[tokio::test]
async fn progress_and_log_messages_arrive_before_the_result() {
    for (caller, remote) in ERAS {
        let (station, counters) = station();
        let (gateway, _mounted) = proxied(&station, remote).await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        counters.finish.add_permits(1);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let mut notifications = Box::pin(client.session().notifications());
        let request = client.session().tools_call("st.work", ());
        let result = request
            .log_level(LoggingLevel::Info)
            .on_progress(move |progress| {
                noted
                    .lock()
                    .unwrap()
                    .push((progress.progress.as_f64(), progress.message));
            })
            .await
            .unwrap();
        assert_eq!(result.as_text(), Some("done"), "{caller} {remote}");
        assert_eq!(
            *seen.lock().unwrap(),
            [(1.0, Some("half".to_owned()))],
            "{caller} {remote}"
        );
        let mut logged = false;
        while let std::task::Poll::Ready(Some(next)) = futures_poll(notifications.as_mut()).await {
            logged |= next.method == "notifications/message" && next.params.contains("hot");
        }
        assert!(logged, "{caller} {remote}");
    }
}

#[tokio::test]
async fn the_logger_of_a_log_message_passes() {
    for caller in [LEGACY, MODERN] {
        let server = legacy_server(&tools(&["log"]), |message, line| {
            if message["method"] == "tools/call" {
                line.send(&json!({
                    "jsonrpc": "2.0", "method": "notifications/message",
                    "params": {"level": "warning", "logger": "database", "data": {"rows": 3}},
                }));
                line.answer(message, &text("done"));
            }
            true
        });
        let (gateway, proxy) = gateway();
        proxy.mount(server).unwrap().connected().await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let mut notifications = Box::pin(client.session().notifications());
        let call = client.session().tools_call("script.log", ());
        call.log_level(LoggingLevel::Info).await.unwrap();
        let logged = loop {
            let next = std::future::poll_fn(|task| notifications.as_mut().poll_next(task)).await;
            let next = next.unwrap();
            if next.method == "notifications/message" {
                break serde_json::from_str::<Value>(&next.params).unwrap();
            }
        };
        assert_eq!(logged["level"], "warning", "{caller}");
        assert_eq!(logged["logger"], "database", "{caller}");
        assert_eq!(logged["data"], json!({"rows": 3}), "{caller}");
    }
}

/// Polls a stream once.
async fn futures_poll<S: Stream>(
    mut stream: std::pin::Pin<&mut S>,
) -> std::task::Poll<Option<S::Item>> {
    std::future::poll_fn(|task| std::task::Poll::Ready(stream.as_mut().poll_next(task))).await
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_its_server() {
    for (caller, remote) in ERAS {
        let (station, counters) = station();
        let (gateway, _mounted) = proxied(&station, remote).await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let call = tokio::spawn(client.session().tools_call("st.work", ()).into_future());
        counters.started.notified().await;
        call.abort();
        counters.dropped.notified().await;
    }
}

#[tokio::test]
async fn trace_context_passes_and_other_metadata_of_the_hop_does_not() {
    for (caller, remote) in ERAS {
        let (station, _) = station();
        let (gateway, _mounted) = proxied(&station, remote).await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let request = client.session().tools_call("st.greet", ());
        let result = request.meta("traceparent", "00-aa-bb-01").await.unwrap();
        assert_eq!(result.as_text(), Some("00-aa-bb-01"), "{caller} {remote}");
    }
}

#[tokio::test]
async fn an_error_of_the_server_passes_unchanged() {
    let (station, _) = station();
    let (gateway, _mounted) = proxied(&station, MODERN).await;
    let client = client_of(&gateway, LEGACY).build().await.unwrap();
    let direct = client_of(&station, LEGACY).build().await.unwrap();
    let through = client
        .get_prompt("st.trip", json!({"town": "Oslo"}))
        .await
        .unwrap_err();
    let expected = direct
        .get_prompt("trip", json!({"town": "Oslo"}))
        .await
        .unwrap_err();
    let (ClientError::Refused(through), ClientError::Refused(expected)) = (through, expected)
    else {
        panic!("both servers refuse");
    };
    assert_eq!(through.code, expected.code);
    assert_eq!(through.message, expected.message);
}
use std::future::IntoFuture;
