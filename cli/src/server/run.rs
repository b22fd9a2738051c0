//! Sending of requests, with timeout, cancellation by signals, and display of log messages and progress.

use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;

use console::Style;
use serde::Serialize;
use treenail::ClientError;
use treenail::client::{ClientRequest, Notifications, ServerNotification};
use treenail::schema::{
    CallToolRequest, CallToolResult, GetPromptRequest, LoggingLevel, LoggingMessageNotification,
    ReadResourceRequest, Request,
};
use treenail::tasks::{TaskCallExt as _, TaskHandle};

use super::{Connection, UNBOUNDED};
use crate::exit::Failure;
use crate::signals::until_interrupted;
use crate::terminal::Terminal;

/// Requests that may take long and report progress.
pub(crate) trait LongRequest: Request {}

impl LongRequest for CallToolRequest {}
impl LongRequest for GetPromptRequest {}
impl LongRequest for ReadResourceRequest {}

impl Connection {
    /// Sends a request and returns its result.
    ///
    /// On timeout or interrupt, the server receives a cancellation.
    pub(crate) async fn send<R: LongRequest + 'static>(
        &self,
        request: ClientRequest<R>,
    ) -> Result<R::Result, Failure> {
        let (timer, terminal) = (Arc::clone(&self.timer), self.terminal.clone());
        let mut request = request.timeout(UNBOUNDED).on_progress(move |progress| {
            timer.restart();
            // The bar would overwrite the line that the user is typing.
            if !timer.is_paused() {
                terminal.show_progress(&progress);
            }
        });
        if let Some(level) = self.log_level() {
            request = request.log_level(level);
        }
        self.with_timeout(request.into_future()).await
    }

    /// Sends a call whose task is returned.
    pub(crate) async fn start_task(
        &self,
        tool: &str,
        arguments: impl Serialize,
    ) -> Result<TaskHandle<CallToolResult>, Failure> {
        let (timer, terminal) = (Arc::clone(&self.timer), self.terminal.clone());
        let call = self.client.call_tool(tool, arguments).timeout(UNBOUNDED);
        let mut call = call.on_progress(move |progress| {
            timer.restart();
            if !timer.is_paused() {
                terminal.show_progress(&progress);
            }
        });
        if let Some(level) = self.log_level() {
            call = call.log_level(level);
        }
        self.with_timeout(call.task()).await
    }

    /// Waits for a request until the timeout expires.
    pub(crate) async fn with_timeout<T>(
        &self,
        request: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, Failure> {
        self.timer.restart();
        let mut notifications = self.client.session().notifications();
        let mut request = pin!(request);
        let waiting = async {
            loop {
                tokio::select! {
                    biased;
                    () = self.print_next_log_message(&mut notifications) => {}
                    result = &mut request => return Ok(result?),
                    () = self.timer.expired() => {
                        return Err(ClientError::Timeout(self.timer.limit()).into());
                    }
                }
            }
        };
        let result = until_interrupted(waiting).await;
        self.terminal.clear_progress();
        match result {
            Ok(result) => Ok(result),
            Err(failure) => Err(self.tail.add_to(failure).await),
        }
    }

    /// Reports the lists that the server declares but does not implement; they are treated as empty.
    pub(crate) fn note_missing_lists(&self) {
        for method in self.client.missing_lists() {
            self.terminal.print_note(&format!(
                "the server declares the capability for `{method}` but does not implement it; treating the list as empty"
            ));
        }
    }

    /// Prints the next log message, if `-v` is set.
    async fn print_next_log_message(&self, notifications: &mut Notifications) {
        match notifications.next().await {
            Some(notification) if self.terminal.verbose() > 0 => {
                print_log_message(&self.terminal, &notification);
            }
            Some(_) => {}
            None => pending().await,
        }
    }
}

fn print_log_message(terminal: &Terminal, notification: &ServerNotification) {
    let Some(message) = notification.decode::<LoggingMessageNotification>() else {
        return;
    };
    let style = match message.level {
        LoggingLevel::Debug | LoggingLevel::Info | LoggingLevel::Notice => Style::new().dim(),
        LoggingLevel::Warning => Style::new().yellow(),
        _ => Style::new().red(),
    };
    let level = serde_json::to_value(message.level).unwrap_or_default();
    let level = level.as_str().unwrap_or("log");
    let text = match message.data.as_str() {
        Some(text) => text.to_owned(),
        None => message.data.to_string(),
    };
    let heading = match &message.logger {
        Some(logger) => format!("{level} {logger}:"),
        None => format!("{level}:"),
    };
    terminal.print_labeled(&heading, &style, &text);
}
