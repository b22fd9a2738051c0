//! Options of a call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use treenail::client::{ClientError, TypedCall};
use treenail::prelude::*;
use treenail::schema::{CallToolResult, ElicitAction, ElicitResult, Revision};

use super::station::{Forecast, Station, WeatherApiClient, client, server};
use crate::fixture;
use crate::script::{Reply, discovered, scripted};

#[tokio::test(start_paused = true)]
async fn a_call_is_cancelled_after_its_timeout() {
    for revision in Revision::ALL {
        let station = Station::default();
        let dropped = Arc::clone(&station.dropped);
        let server = Server::builder("station", "1")
            .mount(station)
            .build()
            .unwrap();
        let weather = WeatherApiClient::new(&client(&server, revision).await);
        let within = Duration::from_millis(50);
        let outcome = weather.wait().timeout(within).await;
        assert!(
            matches!(outcome, Err(ClientError::Timeout(limit)) if limit == within),
            "{outcome:?}"
        );
        dropped.notified().await; // in the server
    }
}

#[tokio::test(start_paused = true)]
async fn calls_with_a_type_take_options() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let (server, _) = fixture::server();
        let client = client(&server, revision).await;
        let steps = || client.call_tool_as::<u32>("steps", json!({"count": 3}));
        let received = Arc::new(Mutex::new(0));
        let sink = Arc::clone(&received);
        let count = steps().on_progress(move |_| *sink.lock().unwrap() += 1);
        assert_eq!(count.await.unwrap(), 3);
        assert_eq!(*received.lock().unwrap(), 3, "{revision}");
        let late = steps().timeout(Duration::from_millis(1_500)).await;
        assert!(matches!(late, Err(ClientError::Timeout(_))), "{late:?}");
        let (mut progress, call) = steps().progress();
        let call = tokio::spawn(call.into_future());
        assert!(progress.next().await.is_some());
        assert_eq!(call.await.unwrap().unwrap(), 3);
    }
}

#[tokio::test]
async fn dropping_a_call_cancels_it_on_the_server() {
    // CLI-CANC: in each era.
    for revision in Revision::ALL {
        let station = Station::default();
        let (started, dropped) = (Arc::clone(&station.started), Arc::clone(&station.dropped));
        let server = Server::builder("station", "1")
            .mount(station)
            .build()
            .unwrap();
        let weather = WeatherApiClient::new(&client(&server, revision).await);
        let call = tokio::spawn(weather.wait().into_future());
        started.notified().await;
        call.abort();
        dropped.notified().await;
    }
}

#[tokio::test(start_paused = true)]
async fn progress_reaches_the_callback_and_the_stream() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let (server, _) = fixture::server();
        let client = client(&server, revision).await;
        let steps = || TypedCall::<u32>::new(&client, "steps", json!({"count": 3}));
        let received = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&received);
        let call = steps().on_progress(move |step| {
            sink.lock().unwrap().push(step.progress.as_f64());
        });
        assert_eq!(call.await.unwrap(), 3);
        assert_eq!(*received.lock().unwrap(), [1.0, 2.0, 3.0], "{revision}");

        let (mut progress, call) = steps().progress();
        let call = tokio::spawn(call.into_future());
        let mut count = 0;
        while tokio_stream::StreamExt::next(&mut progress).await.is_some() {
            count += 1;
        }
        assert_eq!((call.await.unwrap().unwrap(), count), (3, 3));

        // Each step takes one second, three seconds in total.
        let limit = Duration::from_millis(1_500);
        let outcome = steps().timeout(limit).await;
        assert!(matches!(outcome, Err(ClientError::Timeout(_))));
        let patient = steps()
            .timeout(limit)
            .reset_timeout_on_progress(Duration::from_secs(60));
        assert_eq!(patient.await.unwrap(), 3);
    }
}

#[tokio::test]
async fn added_meta_is_sent() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::result(
            message,
            &json!({"resultType": "complete", "content": [{"type": "text", "text": "7"}]}),
        ),
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    let call = TypedCall::<u8>::new(&client, "t", ()).meta("com.example/trace", "abc");
    assert_eq!(call.await.unwrap(), 7);
    let whole = TypedCall::<CallToolResult>::whole(&client, "t".to_owned(), json!({"a": 1}));
    assert_eq!(whole.await.unwrap().content, ["7".into()]);
    let sent = received.all();
    assert_eq!(sent[1]["params"]["_meta"]["com.example/trace"], "abc");
    assert_eq!(sent[2]["params"]["arguments"], json!({"a": 1}));
}

#[tokio::test]
async fn tool_failures_are_distinct_from_call_failures() {
    let server = server();
    for revision in Revision::ALL {
        let weather = WeatherApiClient::new(&client(&server, revision).await);
        let failed = weather.forecast(String::new(), 1).await.unwrap_err();
        assert_eq!(failed.to_string(), "the tool failed: no city");
        assert!(matches!(failed, ClientError::Tool(_)));
        let wrong = weather.forecast("Oslo".to_owned(), 9).await.unwrap_err();
        assert!(wrong.to_string().contains("days"), "{wrong}");
        let elsewhere = weather.with_namespace("town.weather");
        assert_eq!(elsewhere.namespace(), "town.weather");
        let unknown = elsewhere.forecast("Oslo".to_owned(), 1).await.unwrap_err();
        assert!(matches!(unknown, ClientError::Refused(_)), "{unknown}");
    }
    let (session, _) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::result(
            message,
            &json!({"resultType": "complete", "content": [], "structuredContent": {"city": 1}}),
        ),
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    let weather = WeatherApiClient::new(&client);
    let other: Result<Forecast, _> = weather.forecast("Oslo".to_owned(), 1).await;
    assert!(matches!(other, Err(ClientError::Output(_))), "{other:?}");
}

#[tokio::test]
async fn calls_use_the_configured_namespace() {
    let server = Server::builder("town", "1")
        .namespace("town", |town| town.mount(Station::default()))
        .build()
        .unwrap();
    let client = client(&server, Revision::LATEST).await;
    let weather = WeatherApiClient::new(&client).with_namespace("town.weather");
    assert_eq!(
        weather.forecast("Oslo".to_owned(), 1).await.unwrap().city,
        "Oslo"
    );
    assert_eq!(weather.alerts().below().depth(7).await.unwrap(), 7);
}

#[tokio::test]
async fn a_tool_can_elicit_from_its_caller() {
    let server = server();
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        for (action, agreed) in [(ElicitAction::Accept, true), (ElicitAction::Decline, false)] {
            let client = McpClient::builder()
                .server(&server)
                .protocol_version(revision)
                .on_elicit(move |_| async move { Ok(ElicitResult::new(action)) })
                .build()
                .await
                .unwrap();
            let forgotten = WeatherApiClient::new(&client)
                .forget("Oslo".to_owned())
                .await;
            assert_eq!(forgotten.is_ok(), agreed, "{revision}: {forgotten:?}");
        }
    }
}

#[allow(clippy::option_option, reason = "null differs from absence")]
#[tokio::test]
async fn null_arguments_are_omitted_where_none_is_the_default() {
    #[mcp_client]
    trait Nothing {
        async fn optional(&self, a: Option<u8>) -> Result<(), ToolError>;
        async fn with_default(
            &self,
            #[arg(default = Some(3))] a: Option<u8>,
        ) -> Result<(), ToolError>;
        async fn any(&self, a: Value) -> Result<(), ToolError>;
        async fn list(&self, a: Vec<Option<u8>>) -> Result<(), ToolError>;
        async fn cleared(&self, a: Option<Option<u8>>) -> Result<(), ToolError>;
    }
    let mock = MockNothing::new()
        .on_optional(|a| expect(a.is_none()))
        .on_with_default(|a| expect(a.is_none()))
        .on_any(|a| expect(a.is_null()))
        .on_list(|a| expect(a == [None, Some(1)]))
        .on_cleared(|a| expect(a != Some(Some(0))));
    let client = mock.client().await.unwrap();
    client.optional(None).await.unwrap();
    client.with_default(None).await.unwrap();
    client.any(Value::Null).await.unwrap();
    client.list(vec![None, Some(1)]).await.unwrap();
    for a in [None, Some(None), Some(Some(1))] {
        client.cleared(a).await.unwrap();
    }
    let sent: Vec<_> = mock
        .calls()
        .into_iter()
        .map(|call| call.arguments)
        .collect();
    assert_eq!(
        sent,
        [
            json!({}),
            json!({"a": null}),
            json!({"a": null}),
            json!({"a": [null, 1]}),
            json!({}),
            json!({"a": null}),
            json!({"a": 1}),
        ]
    );
}

fn expect(holds: bool) -> Result<(), ToolError> {
    holds
        .then_some(())
        .ok_or_else(|| ToolError::new("another argument"))
}
