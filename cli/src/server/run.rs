//! Waiting for a request, while log messages and progress are shown, the clock runs, and Ctrl-C is heard.

use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;

use console::Style;
use tokio_stream::StreamExt;
use treenail::ClientError;
use treenail::client::{ClientRequest, Notifications, ServerNotification};
use treenail::schema::{
    CallToolRequest, GetPromptRequest, LoggingLevel, LoggingMessageNotification,
    ReadResourceRequest, Request,
};

use super::{Connected, UNBOUNDED};
use crate::exit::{Exit, Failure};
use crate::screen::Screen;

/// Requests that take as long as they take, and that tell of it.
pub(crate) trait LongRequest: Request {}

impl LongRequest for CallToolRequest {}
impl LongRequest for GetPromptRequest {}
impl LongRequest for ReadResourceRequest {}

impl Connected {
    /// Sends a request, and waits for its result.
    ///
    /// It is cancelled on the wire when the time is over, or the user does not want to wait any longer.
    pub(crate) async fn finish<R: LongRequest + 'static>(
        &self,
        request: ClientRequest<R>,
    ) -> Result<R::Result, Failure> {
        let (clock, screen) = (Arc::clone(&self.clock), self.screen.clone());
        let mut request = request.timeout(UNBOUNDED).on_progress(move |progress| {
            clock.restart();
            // A bar would be drawn over what is typed.
            if !clock.is_stopped() {
                screen.progress(&progress);
            }
        });
        if let Some(level) = self.log_level() {
            request = request.log_level(level);
        }
        self.bounded(request.into_future()).await
    }

    /// Waits for what a server is asked, for as long as the clock allows.
    pub(crate) async fn bounded<T>(
        &self,
        asked: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, Failure> {
        self.clock.restart();
        let mut notifications = self.client.session().notifications();
        let mut asked = pin!(asked);
        let waiting = async {
            loop {
                tokio::select! {
                    biased;
                    () = self.log(&mut notifications) => {}
                    result = &mut asked => return Ok(result?),
                    () = self.clock.is_over() => {
                        return Err(ClientError::Timeout(self.clock.limit()).into());
                    }
                }
            }
        };
        let result = until_told_to_end(waiting).await;
        self.screen.end_progress();
        match result {
            Ok(result) => Ok(result),
            Err(failure) => Err(self.tail.explain(failure).await),
        }
    }

    /// Says which lists the server has declared and does not know; they are shown as empty.
    pub(crate) fn note_missing_lists(&self) {
        for method in self.client.missing_lists() {
            self.screen.note(&format!(
                "the server does not know `{method}`, which its capabilities promise; the list is taken to be empty"
            ));
        }
    }

    /// Shows the next log message; without `-v` there are none.
    async fn log(&self, notifications: &mut Notifications) {
        match notifications.next().await {
            Some(notification) if self.screen.verbose() > 0 => show(&self.screen, &notification),
            Some(_) => {}
            None => pending().await,
        }
    }
}

fn show(screen: &Screen, notification: &ServerNotification) {
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
    screen.say_under(&heading, &style, &text);
}

/// Waits, unless the user or the system wants the program to end.
pub(crate) async fn until_told_to_end<T>(
    future: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        result = future => result,
        () = interrupted() => Err(Failure::new(Exit::Interrupted, "cancelled")),
        () = terminated() => Err(Failure::new(Exit::Terminated, "told to terminate")),
    }
}

/// Ready when Ctrl-C was pressed; never where that cannot be heard.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        pending::<()>().await;
    }
}

/// Ready when the system wants the program to end.
#[cfg(unix)]
pub(crate) async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};

    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => pending().await,
    }
}

/// It does not tell programs so here.
#[cfg(not(unix))]
pub(crate) async fn terminated() {
    pending().await
}
