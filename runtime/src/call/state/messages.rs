//! Messages of a call to its caller, none of which is sent after the end.

use std::sync::Arc;

use treenail_schema::{Notification, Number};

use super::{CallState, Live, Report};
use crate::outbox::notification;
use crate::queue::QueuePermit;
use crate::task::TaskLink;

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

    /// Reports progress to the record of the task that the call has become. Returns `false` if it is none: the progress is
    /// retained then for the task that the call may become.
    pub(crate) fn report_to_task(
        &self,
        done: &Number,
        total: Option<&Number>,
        message: Option<&str>,
    ) -> bool {
        if !self.is_detachable() {
            return false;
        }
        // A call becomes a task under this lock.
        let mut live = self.live();
        if let Some(link) = self.message_link() {
            let is_open = !live.finished;
            drop(live);
            if is_open {
                link.progress(done, total, message);
            }
            return true;
        }
        if total.is_some() || message.is_some() {
            live.last_report = Some(Report {
                done: done.clone(),
                total: total.cloned(),
                message: message.map(Into::into),
            });
        }
        false
    }

    /// Returns the record that messages go to. A call whose record could not be stored sends them to its client.
    fn message_link(&self) -> Option<&Arc<dyn TaskLink>> {
        self.link().filter(|link| !link.is_plain())
    }

    /// Sends the message for one more item. Its progress is `count`, or the last progress plus 1 if that is not less.
    pub(crate) async fn notify_item(
        &self,
        count: Number,
        message: impl FnOnce(&Number) -> Vec<u8>,
    ) {
        if let Some(link) = self.message_link() {
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
        if self.may_send(&live) {
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
        if self.message_link().is_some() {
            return;
        }
        let Some(permit) = self.outbox.reserve().await else {
            return;
        };
        let mut live = self.live();
        if self.may_send(&live) && check(&mut live) {
            permit.send(notification::<N>(params));
        }
    }

    /// Sends the message of a notification, unless the call has ended.
    pub(crate) async fn notify_message(&self, message: Vec<u8>) {
        self.send_with(|permit| permit.send(message)).await;
    }

    /// Sends a request, unless the call has ended. Returns `true` if it was sent: a cancellation of the request may follow then.
    pub(crate) async fn send_message(&self, message: Vec<u8>) -> bool {
        self.send_with(|permit| permit.send_always(message)).await
    }

    async fn send_with(&self, send: impl FnOnce(QueuePermit<'_>)) -> bool {
        let Some(permit) = self.outbox.reserve().await else {
            return false;
        };
        let live = self.live();
        let open = self.may_send(&live);
        if open {
            send(permit);
        }
        open
    }

    /// Returns `true` if a message may follow: the call has not ended, is not cancelled, and has no record that messages go to.
    fn may_send(&self, live: &Live) -> bool {
        !live.finished && !self.outbox.is_cancelled() && self.message_link().is_none()
    }
}
