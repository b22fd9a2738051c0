//! Stream of the changes of the state.

use std::sync::Arc;
use std::time::Duration;

use http::Response;
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;

use crate::commands::inspect::http::ResponseBody;
use crate::commands::inspect::hub::{Event, Hub};

/// Interval of empty lines, which reveal a tab that has disconnected.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Number of lines that wait for a tab to read. A snapshot may be large, and events have a queue of their own.
const QUEUED_LINES: usize = 1;

/// Returns a response with a snapshot and all later events, as lines of JSON.
pub(super) fn stream(hub: &Arc<Hub>) -> Response<ResponseBody> {
    let (snapshot, mut events) = hub.subscribe();
    let (lines, received) = mpsc::channel(QUEUED_LINES);
    let hub = Arc::clone(hub);
    tokio::spawn(async move {
        let mut next = snapshot;
        while lines.send(next).await.is_ok() {
            next = match timeout(KEEP_ALIVE, events.recv()).await {
                Ok(Ok(Event::Change(json))) => json,
                Ok(Ok(Event::Snapshot) | Err(broadcast::error::RecvError::Lagged(_))) => {
                    hub.resubscribe(&mut events)
                }
                Ok(Err(broadcast::error::RecvError::Closed)) => return,
                Err(_) => "".into(),
            };
        }
    });
    Response::new(ResponseBody::Lines(received))
}
