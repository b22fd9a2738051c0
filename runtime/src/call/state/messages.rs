//! Messages of a call to its caller, none of which is sent after the end.

use treenail_schema::{Notification, Number};

use super::{CallState, Live};
use crate::outbox::notification;

impl CallState {
    /// Sends a notification, unless the call has ended. Waits for room in the queue.
    pub(crate) async fn notify<N: Notification>(&self, params: &N::Params) {
        self.send::<N>(params, |_| true).await;
    }

    /// Sends a notification of `progress`, unless as much has been sent already.
    pub(crate) async fn notify_progress<N: Notification>(&self, progress: f64, params: &N::Params) {
        self.send::<N>(params, |live| {
            let more = live.progress.is_none_or(|last| progress > last);
            if more {
                live.progress = Some(progress);
            }
            more
        })
        .await;
    }

    /// Sends the message for one more item. Its progress is `count`, or the last progress plus 1 if that is not less.
    pub(crate) async fn notify_item(
        &self,
        count: Number,
        message: impl FnOnce(&Number) -> Vec<u8>,
    ) {
        if let Some(link) = self.link() {
            return link.progress(&count, None, None);
        }
        let Some(permit) = self.outbox.reserve().await else {
            return;
        };
        let mut live = self.live();
        let progress = match live.progress {
            Some(last) if count.as_f64() <= last => Number::from(last + 1.0),
            _ => count,
        };
        if !live.finished && !self.is_task() {
            live.progress = Some(progress.as_f64());
            permit.send(message(&progress));
        }
    }

    /// Checks and sends under one lock, so that no message is out of order, or after the end. Nothing is sent for a task.
    async fn send<N: Notification>(
        &self,
        params: &N::Params,
        check: impl FnOnce(&mut Live) -> bool,
    ) {
        if self.is_task() {
            return;
        }
        let Some(permit) = self.outbox.reserve().await else {
            return;
        };
        let mut live = self.live();
        if !live.finished && !self.is_task() && check(&mut live) {
            permit.send(notification::<N>(params));
        }
    }

    /// Sends a message, unless the call has ended. Returns `true` if it was sent.
    pub(crate) async fn send_message(&self, message: Vec<u8>) -> bool {
        let Some(permit) = self.outbox.reserve().await else {
            return false;
        };
        let live = self.live();
        let open = !live.finished && !self.is_task();
        if open {
            permit.send(message);
        }
        open
    }
}
