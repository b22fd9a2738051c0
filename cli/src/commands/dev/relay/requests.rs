//! Messages of the client, and their way to a server.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::mpsc;
use treenail::client::{Session, SessionNotification, SessionRequest};
use treenail::{ClientError, RpcError};

use super::{Event, PendingCall, Relay, ServerState};
use crate::commands::dev::message::{self, ClientMessage, ClientRequest, InvalidMessage};

/// Maximum number of requests that wait for a server.
const MAX_WAITING: usize = 1_000;

impl Relay {
    pub(super) fn on_message(&mut self, message: Result<ClientMessage, InvalidMessage>) {
        match message {
            Ok(ClientMessage::Request(request)) => self.on_request(request),
            Ok(ClientMessage::Notification { method, params }) => {
                self.on_client_notification(method, params);
            }
            Ok(ClientMessage::Answer { id, result }) => self.server_requests.answer(&id, result),
            Err(InvalidMessage { error }) => {
                self.output.send(&message::answer("null", &Err(*error)));
            }
        }
    }

    fn on_request(&mut self, request: ClientRequest) {
        self.report_failure(Some(&request));
        match &*request.method {
            "subscriptions/listen" => self.subscriptions.insert(request.clone()),
            // The relay has declared log messages for its own.
            "logging/setLevel" if self.memory.initialize.is_some() && !self.memory.has_logging => {
                let result = self.memory.note_result(&request, "{}".to_owned());
                self.output.send(&message::answer(&request.id, &Ok(result)));
                return;
            }
            _ => {}
        }
        self.forward(request);
    }

    fn on_client_notification(&mut self, method: String, params: String) {
        match &*method {
            "notifications/initialized" => self.memory.is_initialized = true,
            "notifications/cancelled" => {
                let id = message::member(&params, &["requestId"]).unwrap_or_default();
                self.cancel(&id.to_string());
                return;
            }
            _ => {}
        }
        if let ServerState::Running(server) = &mut self.server {
            let session = Arc::clone(&server.session);
            server.calls.spawn(async move {
                let notification = SessionNotification::new(method, params);
                // A server that has exited needs no notification.
                let _ = session.notify(notification).await;
            });
        }
        self.report_failure(None);
    }

    /// Cancels a request. Dropping its future notifies the server.
    fn cancel(&mut self, id: &str) {
        self.subscriptions.remove(id);
        self.waiting.retain(|request| request.id != id);
        if let Some(call) = self.pending.remove(id) {
            call.abort.abort();
        }
    }

    /// Removes a request to the server of this generation.
    pub(super) fn take_call(&mut self, id: &str, generation: u64) -> Option<PendingCall> {
        let call = self.pending.get(id)?;
        if call.generation == generation {
            self.pending.remove(id)
        } else {
            None
        }
    }

    /// Passes a request to the server, or lets it wait for one.
    pub(super) fn forward(&mut self, request: ClientRequest) {
        match &self.server {
            ServerState::Running(_) => return self.send(request),
            ServerState::Failed(reason) if self.launching.is_none() => {
                let error = RpcError::internal(format!("there is no server: {reason}"));
                self.subscriptions.remove(&request.id);
                return self.output.send(&message::answer(&request.id, &Err(error)));
            }
            ServerState::Exited if self.launching.is_none() => self.launch(),
            _ => {}
        }
        if self.waiting.len() < MAX_WAITING {
            return self.waiting.push_back(request);
        }
        self.subscriptions.remove(&request.id);
        let error = RpcError::internal("too many requests wait for the server");
        self.output.send(&message::answer(&request.id, &Err(error)));
    }

    /// Sends a request to the running server.
    pub(super) fn send(&mut self, request: ClientRequest) {
        let ServerState::Running(server) = &mut self.server else {
            return;
        };
        let server_id = self.launcher.next_id();
        if self.subscriptions.contains(&request.id) {
            self.subscriptions.connect(&request.id, server_id);
        }
        let call = send_call(
            (Arc::clone(&server.session), server_id, server.generation),
            request.clone(),
            self.launcher.events.clone(),
        );
        while server.calls.try_join_next().is_some() {}
        let call = PendingCall {
            server_id,
            generation: server.generation,
            abort: server.calls.spawn(call),
            request,
        };
        self.pending.insert(call.request.id.clone(), call);
    }
}

/// Sends a request and reports the answer.
async fn send_call(
    (session, server_id, generation): (Arc<dyn Session>, i64, u64),
    request: ClientRequest,
    events: mpsc::UnboundedSender<Event>,
) {
    let (method, params) = (request.method.clone(), request.params.clone());
    let mut sent = SessionRequest::new(server_id, method, params);
    sent.cancellable = request.method != "initialize";
    let mut answer = session.request(sent);
    let first = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
    let event = match first {
        // The session was closed before the request was written.
        Poll::Ready(Err(ClientError::Closed(_) | ClientError::Unreachable(_))) => Event::Unsent {
            generation,
            request,
        },
        Poll::Ready(result) => Event::Answered {
            generation,
            id: request.id,
            result,
        },
        Poll::Pending => Event::Answered {
            generation,
            id: request.id,
            result: answer.await,
        },
    };
    // The relay has ended.
    let _ = events.send(event);
}
