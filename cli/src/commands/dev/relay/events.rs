//! Reactions of the relay to builds and servers.

use std::mem;

use serde_json::json;
use treenail::{ClientError, RpcError};

use super::memory::includes_errors;
use super::server::RunningServer;
use super::{Event, Relay, ServerState};
use crate::commands::dev::build::BuildOutcome;
use crate::commands::dev::message::{self, ClientRequest, member};

/// Maximum length of a failure in a log message or an error, in characters.
const MAX_FAILURE_CHARS: usize = 8_000;

/// Key of the level of log messages, in `_meta` of requests of the modern era.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

impl Relay {
    pub(super) fn on_build(&mut self, outcome: BuildOutcome) {
        match outcome {
            BuildOutcome::Built {
                program,
                is_changed,
            } => {
                self.unreported = None;
                self.command = Some(program.to_server_command());
                if is_changed || !matches!(self.server, ServerState::Running(_)) {
                    self.launch();
                }
            }
            BuildOutcome::Failed(reason) => {
                let stays = matches!(self.server, ServerState::Running(_));
                let stays = if stays { "; the old server stays" } else { "" };
                self.note(&format!("the build failed{stays}"));
                self.fail(&format!("the build failed:\n{reason}"));
            }
        }
    }

    /// Notifies the client that all lists may have changed.
    pub(super) fn announce_changes(&self) {
        if self.memory.is_initialized {
            for kind in &self.memory.kinds {
                let method = format!("notifications/{kind}/list_changed");
                self.output.send(&message::notification(&method, "{}"));
            }
        }
        for change in self.subscriptions.list_changes() {
            self.output.send(&change);
        }
    }

    pub(super) fn take_server(&mut self) -> Option<RunningServer> {
        match mem::replace(&mut self.server, ServerState::Exited) {
            ServerState::Running(server) => Some(server),
            other => {
                self.server = other;
                None
            }
        }
    }

    pub(super) fn retire(&mut self, old: RunningServer) {
        let events = self.launcher.events.clone();
        self.background.spawn(async move {
            let retired = Event::Retired(old.generation);
            old.retire().await;
            // The relay has ended.
            let _ = events.send(retired);
        });
    }

    pub(super) fn on_notification(&mut self, generation: u64, method: &str, params: &str) {
        if method == "notifications/cancelled" {
            let cancelled = self.server_requests.cancel(generation, params);
            return cancelled.iter().for_each(|it| self.output.send(it));
        }
        if let Some(message) = self.subscriptions.translate(method, params) {
            self.output.send(&message);
        }
    }

    pub(super) fn on_answer(
        &mut self,
        generation: u64,
        id: &str,
        result: Result<String, ClientError>,
    ) {
        let Some(call) = self.take_call(id, generation) else {
            return;
        };
        if self.subscriptions.contains(id) {
            // The server has ended it, or does not support it. It stays open for the changes of restarts.
            let acknowledged = self.subscriptions.acknowledge(id);
            return acknowledged.iter().for_each(|it| self.output.send(it));
        }
        let result = match result {
            Ok(result) => Ok(self.memory.note_result(&call.request, result)),
            Err(ClientError::Refused(error)) => Err(error),
            Err(ClientError::Closed(reason) | ClientError::Unreachable(reason))
                if self.crashed == generation =>
            {
                return self.orphans.push((id.to_owned(), reason.to_string()));
            }
            Err(ClientError::Closed(_) | ClientError::Unreachable(_)) => Err(RpcError::internal(
                "`treenail dev` has restarted the server during this request; it may have had effects, so it was not repeated",
            )),
            Err(error) => Err(RpcError::internal(error.to_string())),
        };
        self.output.send(&message::answer(id, &result));
    }

    /// Forwards a request again that did not reach its server.
    pub(super) fn on_unsent(&mut self, generation: u64, request: ClientRequest) {
        // The client may have cancelled it since, or another server may have got it.
        if self.take_call(&request.id, generation).is_some() {
            self.forward(request);
        }
    }

    pub(super) fn on_exit(&mut self, generation: u64) {
        self.exited = self.exited.max(generation);
        let is_running =
            matches!(&self.server, ServerState::Running(server) if server.generation == generation);
        if !is_running {
            return;
        }
        let Some(mut server) = self.take_server() else {
            return;
        };
        self.crashed = generation;
        let events = self.launcher.events.clone();
        self.background.spawn(async move {
            while server.calls.join_next().await.is_some() {}
            let lines = server.last_lines().await;
            // The relay has ended.
            let _ = events.send(Event::Explained { generation, lines });
        });
        self.note("the server has exited; the next request or build starts it again");
    }

    /// Answers the calls of a server that has exited.
    pub(super) fn on_explained(&mut self, generation: u64, lines: &str) {
        for (id, reason) in mem::take(&mut self.orphans) {
            let text = format!("the server did not answer: {reason}\n{lines}");
            let error = RpcError::internal(shorten(text.trim_end()));
            self.output.send(&message::answer(&id, &Err(error)));
        }
        self.cancel_server_requests(generation);
    }

    /// Cancels the requests of a server to the client.
    pub(super) fn cancel_server_requests(&mut self, generation: u64) {
        for cancellation in self.server_requests.cancel_all(generation) {
            self.output.send(&cancellation);
        }
    }

    /// Records a failed build or start. Without a server, requests fail with its reason.
    pub(super) fn fail(&mut self, reason: &str) {
        let reason = shorten(reason);
        self.unreported = Some(reason.clone());
        self.report_failure(None);
        if self.launching.is_some() || matches!(self.server, ServerState::Running(_)) {
            return;
        }
        self.server = ServerState::Failed(reason);
        for request in mem::take(&mut self.waiting) {
            self.forward(request);
        }
    }

    /// Sends the last failure to the client as a log message, unless it is known. In the modern era, log messages are sent
    /// during requests that ask for them: `request` or those in flight.
    pub(super) fn report_failure(&mut self, request: Option<&ClientRequest>) {
        let Some(reason) = &self.unreported else {
            return;
        };
        let calls = self.pending.values().map(|call| &call.request);
        let has_request = calls.chain(request).any(|request| {
            let level = member(&request.params, &["_meta", LOG_LEVEL]);
            level.is_some_and(|level| includes_errors(&level))
        });
        if !has_request && !self.memory.wants_errors() {
            return;
        }
        let params = json!({"level": "error", "logger": "treenail dev", "data": reason});
        let message = message::notification("notifications/message", &params.to_string());
        self.output.send(&message);
        self.unreported = None;
    }

    pub(super) fn note(&self, text: &str) {
        self.options
            .terminal
            .print_note(&format!("treenail dev: {text}"));
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_FAILURE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
