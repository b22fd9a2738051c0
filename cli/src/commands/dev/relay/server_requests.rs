//! Requests of servers to the client, in the legacy era.

use std::collections::HashMap;

use serde_json::{Value, json};
use treenail::RpcError;
use treenail::client::Responder;

use super::super::message::{member, notification};

/// Maximum number of requests that wait for an answer of the client.
const MAX_PENDING: usize = 256;

/// Requests that wait for an answer of the client. Ids are chosen here, because several servers may use the same ones.
#[derive(Debug, Default)]
pub(super) struct ServerRequests {
    pending: HashMap<String, Pending>,
    last_id: u64,
}

#[derive(Debug)]
struct Pending {
    generation: u64,
    server_id: String,
    responder: Responder,
}

impl ServerRequests {
    /// Adds a request and returns its id for the client, or `None` if there are too many.
    pub(super) fn insert(
        &mut self,
        generation: u64,
        server_id: String,
        responder: Responder,
    ) -> Option<String> {
        if self.pending.len() == MAX_PENDING {
            let message = "too many requests wait for an answer of the client";
            responder.respond(Err(RpcError::internal(message)));
            return None;
        }
        self.last_id += 1;
        let id = self.last_id.to_string();
        let pending = Pending {
            generation,
            server_id,
            responder,
        };
        self.pending.insert(id.clone(), pending);
        Some(id)
    }

    /// Passes an answer of the client to its server.
    pub(super) fn answer(&mut self, id: &str, result: Result<String, RpcError>) {
        if let Some(pending) = self.pending.remove(id) {
            pending.responder.respond(result);
        }
    }

    /// Returns the cancellation for the client, in place of one of a server.
    pub(super) fn cancel(&mut self, generation: u64, params: &str) -> Option<String> {
        let server_id = member(params, &["requestId"])?.to_string();
        let found = self.pending.iter().find(|(_, pending)| {
            (pending.generation, &*pending.server_id) == (generation, &*server_id)
        });
        let id = found?.0.clone();
        if let Some(pending) = self.pending.remove(&id) {
            pending.responder.discard();
        }
        let mut params: Value = serde_json::from_str(params).ok()?;
        params["requestId"] = serde_json::from_str(&id).ok()?;
        Some(notification("notifications/cancelled", &params.to_string()))
    }

    /// Returns the cancellations for the client after a server has ended.
    pub(super) fn cancel_all(&mut self, generation: u64) -> Vec<String> {
        let of_server = self
            .pending
            .iter()
            .filter(|it| it.1.generation == generation);
        let ended: Vec<_> = of_server.map(|(id, _)| id.clone()).collect();
        for id in &ended {
            if let Some(pending) = self.pending.remove(id) {
                pending.responder.discard();
            }
        }
        let cancelled = ended.into_iter().map(|id| {
            let id: Value = serde_json::from_str(&id).unwrap_or_default();
            let params = json!({"requestId": id, "reason": "the server was restarted"});
            notification("notifications/cancelled", &params.to_string())
        });
        cancelled.collect()
    }
}
