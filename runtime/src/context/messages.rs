//! Messages to the caller of a running call: its progress, and logs.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use serde_json::Value;
use treenail_schema::{
    LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParams,
    NotificationMetaObject, Number, ProgressNotification, ProgressNotificationParams,
};

use super::Context;
use crate::call::CallState;
use crate::environment;

impl Context {
    /// Reports the progress of the call, if the caller has requested that. It is sent when it is awaited. In a task, the message
    /// becomes its status, and the last one before the call becomes a task is its first status.
    ///
    /// Progress must increase: one that is not greater than the last one is not sent. Sending waits while the caller accepts no
    /// messages.
    ///
    /// ```
    /// # use treenail::Context;
    /// async fn import(cx: &Context, files: Vec<String>) -> usize {
    ///     for (done, file) in files.iter().enumerate() {
    ///         cx.progress(done).total(files.len()).message(format!("importing {file}")).await;
    ///     }
    ///     files.len()
    /// }
    /// ```
    pub fn progress(&self, done: impl Into<Number>) -> Progress<'_> {
        Progress {
            state: &self.state,
            done: done.into(),
            total: None,
            message: None,
            meta: None,
        }
    }

    /// Sends a log message to the client, if its level is enabled. In the legacy era, `logging/setLevel` sets the least level
    /// (initially [`LoggingLevel::Info`]). In the modern era, the request sets it.
    #[deprecated(
        note = "the protocol deprecates logging (SEP-2577; it may be removed from 2027-07-28 on); log to standard error, for example with `tracing`"
    )]
    pub async fn log(&self, level: LoggingLevel, data: impl Into<Value>) {
        self.send_log(&LoggingMessageNotificationParams::new(level, data))
            .await;
    }

    /// Sends a log message to the client, if its level is enabled.
    pub(crate) async fn send_log(&self, params: &LoggingMessageNotificationParams) {
        if self.state.peer.wants_logs(params.level) {
            self.state
                .notify::<LoggingMessageNotification>(params)
                .await;
        }
    }

    /// Returns the least level of log messages that the client wants now, or `None` if it wants none.
    pub fn log_level(&self) -> Option<LoggingLevel> {
        self.state.peer.log_level()
    }
}

/// Report of progress, made by [`Context::progress`]. It is sent when it is awaited.
#[derive(Debug)]
#[must_use = "progress is sent when it is awaited"]
pub struct Progress<'a> {
    state: &'a CallState,
    done: Number,
    total: Option<Number>,
    message: Option<String>,
    meta: Option<NotificationMetaObject>,
}

impl Progress<'_> {
    /// Sets the total amount.
    pub fn total(mut self, total: impl Into<Number>) -> Self {
        self.total = Some(total.into());
        self
    }

    /// Sets a message for users.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the metadata.
    #[cfg(feature = "client")]
    pub(crate) fn meta(mut self, meta: Option<NotificationMetaObject>) -> Self {
        self.meta = meta;
        self
    }

    /// Sends it from a blocking function.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous function, and outside of a tokio runtime.
    #[inline]
    pub fn send_blocking(self) {
        environment::block_on(self.send());
    }

    async fn send(self) {
        let (total, message) = (self.total.as_ref(), self.message.as_deref());
        if self.state.report_to_task(&self.done, total, message) {
            return;
        }
        let Some(token) = self.state.progress_token().cloned() else {
            return;
        };
        let done = self.done.as_f64();
        let mut params = ProgressNotificationParams::new(token, self.done);
        params.total = self.total;
        params.message = self.message;
        params.meta = self.meta;
        self.state
            .notify_progress::<ProgressNotification>(done, &params)
            .await;
    }
}

impl<'a> IntoFuture for Progress<'a> {
    type Output = ();
    type IntoFuture = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

    #[inline]
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
