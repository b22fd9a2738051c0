//! Lists that are fetched in the background.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use treenail::client::{IncomingHandler, Session, SessionFuture, SessionRequest, SessionWrapper};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::tools;
use crate::script::{Reply, scripted};

/// Session whose stream ends after each of the first lists.
struct Ending {
    session: Arc<dyn Session>,
    incoming: OnceLock<Arc<dyn IncomingHandler>>,
}

impl std::fmt::Debug for Ending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ending").finish_non_exhaustive()
    }
}

impl SessionWrapper for Ending {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        let _ = self.incoming.set(Arc::clone(&incoming));
        self.session.listen(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            let is_list = request.method == "tools/list";
            let answer = self.session.request(request).await;
            if is_list {
                self.incoming.get().unwrap().missed_notifications();
            }
            answer
        })
    }
}

#[tokio::test(start_paused = true)]
async fn fetches_have_a_backoff_if_the_stream_ends_after_each_list() {
    let mut lists = 0;
    let (session, received) = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => Reply::result(
            message,
            &json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "script", "version": "1"}}),
        ),
        Some("tools/list") => {
            lists += 1;
            assert!(lists < 100, "the lists are fetched without a pause");
            Reply::result(message, &json!({"tools": tools(&["a"])}))
        }
        _ => Reply::nothing(),
    });
    let incoming = OnceLock::new();
    let builder = McpClient::builder().session(Arc::new(Ending { session, incoming }));
    let builder = builder.protocol_version(Revision::V2024_11_05);
    let client = builder.auto_refresh(true).build().await.unwrap();
    client.tools().await.unwrap();
    sleep(Duration::from_secs(60)).await;
    // The first fetch after a gap has no delay, and the others at least half of 500 ms, 1 s, 2 s and so on.
    let lists = received.methods().len() - 2;
    assert!((5..=11).contains(&lists), "{lists}");
}
