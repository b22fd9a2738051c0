//! Answers to requests of the server, given by the user in the page.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use treenail::RpcError;
use treenail::client::{ClientHandler, HandlerFuture};
use treenail::schema::{
    ClientCapabilities, ClientCapabilitiesElicitation, ClientCapabilitiesRoots,
    ClientCapabilitiesSampling, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, JsonObject, ListRootsResult,
};

use super::hub::{AskKind, Hub};

/// Error code for a request that the user has rejected, as in the examples of the protocol.
const REJECTED: i64 = -1;

/// Handler that shows requests to the user.
#[derive(Debug)]
pub(super) struct PageHandler(pub(super) Arc<Hub>);

impl PageHandler {
    fn ask<T: DeserializeOwned + Send>(
        &self,
        kind: AskKind,
        params: &impl Serialize,
    ) -> HandlerFuture<'_, T> {
        let asking = Arc::clone(&self.0).ask(kind, json!(params));
        Box::pin(async move {
            let answer = asking.await;
            let answer = answer.map_err(|message| RpcError::new(REJECTED, message))?;
            serde_json::from_value(answer)
                .map_err(|error| RpcError::internal(format!("the answer of the user: {error}")))
        })
    }
}

impl ClientHandler for PageHandler {
    fn capabilities(&self) -> ClientCapabilities {
        let mut elicitation = ClientCapabilitiesElicitation::new();
        elicitation.form = Some(JsonObject::new());
        elicitation.url = Some(JsonObject::new());
        let mut sampling = ClientCapabilitiesSampling::new();
        sampling.tools = Some(JsonObject::new());
        let mut roots = ClientCapabilitiesRoots::new();
        roots.list_changed = Some(true);
        let mut capabilities = ClientCapabilities::new();
        capabilities.elicitation = Some(elicitation);
        capabilities.sampling = Some(sampling);
        capabilities.roots = Some(roots);
        capabilities
    }

    fn elicit(&self, params: ElicitRequestParams) -> HandlerFuture<'_, ElicitResult> {
        self.ask(AskKind::Elicitation, &params)
    }

    fn create_message(
        &self,
        params: CreateMessageRequestParams,
    ) -> HandlerFuture<'_, CreateMessageResult> {
        self.ask(AskKind::Sampling, &params)
    }

    fn list_roots(&self) -> HandlerFuture<'_, ListRootsResult> {
        let roots = self.0.state().roots.clone();
        Box::pin(async move { Ok(ListRootsResult::new(roots)) })
    }
}
