//! Requests in the background, for which no user is asked.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use treenail::client::{McpClientBuilder, Session, SessionFuture, SessionRequest, SessionWrapper};
use treenail::prelude::*;
use treenail_runtime::internal::is_in_background;

use super::{expiring_builder, listening, next};
use crate::script::{Reply, answer, scripted};

/// Methods of the requests of a client, each with true if it is in the background.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<(String, bool)>>>);

impl Log {
    /// Records the requests of the client.
    fn of(builder: McpClientBuilder) -> (McpClientBuilder, Self) {
        let log = Self::default();
        let shared = log.clone();
        let builder = builder.wrap_session(move |session| {
            let log = shared.clone();
            Arc::new(Recorded { session, log })
        });
        (builder, log)
    }

    fn of_method(&self, method: &str) -> Vec<bool> {
        let log = self.0.lock().unwrap();
        let found = log.iter().filter(|(name, _)| name == method);
        found
            .map(|(_, is_in_background)| *is_in_background)
            .collect()
    }
}

#[derive(Debug)]
struct Recorded {
    session: Arc<dyn Session>,
    log: Log,
}

impl SessionWrapper for Recorded {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            let entry = (request.method.to_string(), is_in_background());
            self.log.0.lock().unwrap().push(entry);
            self.session.request(request).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn subscriptions_that_the_program_has_not_asked_for_are_in_the_background() {
    for is_watched in [false, true] {
        let (session, _) = scripted(|message| match message["method"].as_str() {
            Some("server/discover") => Reply::result(
                message,
                &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": {"resources": {"subscribe": true, "listChanged": true}}}),
            ),
            Some("subscriptions/listen") => {
                let mut lines = listening(message);
                lines.push(answer(message, &json!({"resultType": "complete"})));
                Reply::Lines(lines)
            }
            _ => Reply::nothing(),
        });
        let builder = McpClient::builder().session(session);
        let (builder, log) = Log::of(builder.subscribe_to_changes(is_watched));
        let client = builder.build().await.unwrap();
        if is_watched {
            tokio::time::sleep(Duration::from_secs(10)).await;
        } else {
            let mut updates = client.resource_updates(["a://1"]).await.unwrap();
            for _ in 0..2 {
                next(&mut updates).await;
            }
        }
        let opened = log.of_method("subscriptions/listen");
        assert_eq!(opened[..3], [is_watched, true, true]);
        assert_eq!(log.of_method("server/discover"), [false]);
    }
}

#[tokio::test(start_paused = true)]
async fn renewed_subscriptions_of_the_legacy_era_are_in_the_background() {
    let (builder, times, _) = expiring_builder();
    let (builder, log) = Log::of(builder);
    let client = builder.build().await.unwrap();
    let mut updates = client.resource_updates(["a://1"]).await.unwrap();
    times.store(1, Ordering::SeqCst);
    client.session().tools_list(None).await.unwrap();
    next(&mut updates).await;
    drop(updates);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(log.of_method("resources/subscribe"), [false, true]);
    assert_eq!(log.of_method("resources/unsubscribe"), [true]);
    assert_eq!(log.of_method("initialize"), [false, false]);
}
