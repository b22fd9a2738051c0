//! Status messages of tasks, as progress of their calls.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Number;
use treenail_schema::{ProgressNotificationParams, ProgressToken};

use crate::client::protocol::router::{ProgressSink, Router};
use crate::client::protocol::task_driver::StatusSink;

/// Registers a sink for progress. Returns a callback for the status messages of a task, which become progress too. The sink is
/// registered until the callback is dropped.
pub(super) fn relay_status(router: &Arc<Router>, token: i64, sink: ProgressSink) -> StatusSink {
    let latest = Arc::new(Mutex::new(None::<ProgressNotificationParams>));
    let (recorded, progress_sink) = (Arc::clone(&latest), Arc::clone(&sink));
    let record = move |progress: ProgressNotificationParams| {
        *recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress.clone());
        progress_sink(progress);
    };
    let registration = router.on_progress(token, Arc::new(record));
    Arc::new(move |message| {
        let _registered = &registration;
        let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
        // A task reports no numbers, so those of the last progress are repeated.
        let progress = latest.get_or_insert_with(|| {
            ProgressNotificationParams::new(ProgressToken::Number(token), Number::from(0))
        });
        // The progress of a call is the status of its task too.
        if progress.message.as_deref() == Some(message) {
            return;
        }
        progress.message = Some(message.to_owned());
        let progress = progress.clone();
        drop(latest);
        sink(progress);
    })
}
