//! Lists that are fetched in the background.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use treenail::client::{IncomingHandler, Session, SessionFuture, SessionRequest, SessionWrapper};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::tools;
use crate::script::{Reply, answer, scripted};

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

/// Returns the replies of a legacy server whose tools may change.
fn changing(
    mut list: impl FnMut(&Value) -> Reply + Send + 'static,
) -> impl FnMut(&Value) -> Reply + Send + 'static {
    move |message| match message["method"].as_str() {
        Some("initialize") => Reply::result(
            message,
            &json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "script", "version": "1"}}),
        ),
        Some("tools/list") => list(message),
        _ => Reply::nothing(),
    }
}

/// Counts lists, and panics if they are fetched without a pause.
fn count(lists: &mut usize) {
    *lists += 1;
    assert!(*lists < 100, "the lists are fetched without a pause");
}

fn list_changed() -> String {
    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}).to_string()
}

async fn refreshing(session: Arc<dyn Session>) -> McpClient {
    let builder = McpClient::builder().session(session).auto_refresh(true);
    let builder = builder.protocol_version(Revision::V2024_11_05);
    builder.build().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn fetches_have_a_backoff_if_the_stream_ends_after_each_list() {
    let mut lists = 0;
    let (session, received) = scripted(changing(move |message| {
        count(&mut lists);
        Reply::result(message, &json!({"tools": tools(&["a"])}))
    }));
    let incoming = OnceLock::new();
    let client = refreshing(Arc::new(Ending { session, incoming })).await;
    client.tools().await.unwrap();
    sleep(Duration::from_secs(60)).await;
    // The first fetch after a gap has no delay, and the others at least half of 500 ms, 1 s, 2 s and so on.
    let lists = received.methods().len() - 2;
    assert!((5..=11).contains(&lists), "{lists}");
}

#[tokio::test(start_paused = true)]
async fn fetches_have_a_backoff_if_a_change_follows_each_list() {
    let mut lists = 0;
    let (session, received) = scripted(changing(move |message| {
        count(&mut lists);
        let list = answer(message, &json!({"tools": tools(&["a"])}));
        Reply::Lines(vec![list, list_changed()])
    }));
    let client = refreshing(session).await;
    client.tools().await.unwrap();
    sleep(Duration::from_secs(60)).await;
    let lists = received.methods().len() - 2;
    assert!((5..=11).contains(&lists), "{lists}");
}

#[tokio::test(start_paused = true)]
async fn a_change_during_the_first_fetch_is_fetched() {
    let mut is_first = true;
    let (session, received) = scripted(changing(move |message| {
        let mut list = json!({"tools": tools(&["a"])});
        if !std::mem::take(&mut is_first) {
            return Reply::result(message, &list);
        }
        list["nextCursor"] = json!("2");
        Reply::Lines(vec![list_changed(), answer(message, &list)])
    }));
    let client = refreshing(session).await;
    client.tools().await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let lists = received.methods().len() - 2;
    assert_eq!(lists, 3, "two pages, and the changed list");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_refreshed_on_several_threads() {
    // The task that refreshes them may start before the client is complete.
    for _ in 0..32 {
        let (noted, mut lists) = mpsc::unbounded_channel();
        let (session, _) = scripted(changing(move |message| {
            noted.send(()).ok();
            let list = answer(message, &json!({"tools": tools(&["a"])}));
            Reply::Lines(vec![list, list_changed()])
        }));
        let client = refreshing(session).await;
        client.tools().await.unwrap();
        for _ in 0..2 {
            let fetched = timeout(Duration::from_secs(60), lists.recv()).await;
            fetched.expect("the changed list is fetched").unwrap();
        }
    }
}
