//! Handler for requests of the server.

use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use treenail_schema::{
    ClientCapabilities, ClientCapabilitiesElicitation, ClientCapabilitiesRoots,
    ClientCapabilitiesSampling, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, JsonObject, ListRootsResult, Root, error_code,
};

use crate::wire::{RpcError, quoted};

/// A future of a [`ClientHandler`].
pub type HandlerFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, RpcError>> + Send + 'a>>;

/// Handler for requests of the server: requests of the legacy era, and the input requests in modern results.
///
/// Closures on the builder are enough for most clients. An implementation of this trait can share state between requests.
///
/// A handler may send requests over its client. One that waits for a list whose fetch waits for a handler fails after its timeout.
///
/// The requests of an input round are answered concurrently. The first error drops the other questions of that round.
///
/// # Cancellation
///
/// A future is dropped when the server cancels its request, or when the caller drops the request that it belongs to.
pub trait ClientHandler: Send + Sync + 'static {
    /// Capabilities that are declared to the server. Other requests are rejected before they reach the handler.
    fn capabilities(&self) -> ClientCapabilities;

    /// Answers the elicitation of a form or a URL.
    ///
    /// The content of a form is checked against its schema. Fields without a value get their defaults.
    fn elicit(&self, params: ElicitRequestParams) -> HandlerFuture<'_, ElicitResult> {
        drop(params);
        Box::pin(ready(Err(unsupported_method("elicitation/create"))))
    }

    /// Answers a sampling request with the message of a model.
    fn create_message(
        &self,
        params: CreateMessageRequestParams,
    ) -> HandlerFuture<'_, CreateMessageResult> {
        drop(params);
        Box::pin(ready(Err(unsupported_method("sampling/createMessage"))))
    }

    /// Answers with the directories that the server may use.
    fn list_roots(&self) -> HandlerFuture<'_, ListRootsResult> {
        Box::pin(ready(Err(unsupported_method("roots/list"))))
    }
}

impl<T: ClientHandler + ?Sized> ClientHandler for Arc<T> {
    fn capabilities(&self) -> ClientCapabilities {
        (**self).capabilities()
    }

    fn elicit(&self, params: ElicitRequestParams) -> HandlerFuture<'_, ElicitResult> {
        (**self).elicit(params)
    }

    fn create_message(
        &self,
        params: CreateMessageRequestParams,
    ) -> HandlerFuture<'_, CreateMessageResult> {
        (**self).create_message(params)
    }

    fn list_roots(&self) -> HandlerFuture<'_, ListRootsResult> {
        (**self).list_roots()
    }
}

/// The error for a request that the client does not support.
pub(super) fn unsupported_method(method: &str) -> RpcError {
    let message = format!("this client does not answer {}", quoted(method));
    RpcError::new(error_code::METHOD_NOT_FOUND, message)
}

type Elicit = dyn Fn(ElicitRequestParams) -> HandlerFuture<'static, ElicitResult> + Send + Sync;
type Sample =
    dyn Fn(CreateMessageRequestParams) -> HandlerFuture<'static, CreateMessageResult> + Send + Sync;

/// Handler made of the closures of a builder.
#[derive(Clone, Default)]
pub(super) struct Closures {
    elicit: Option<Arc<Elicit>>,
    sample: Option<Arc<Sample>>,
    /// True if sampling supports tools.
    samples_with_tools: bool,
    roots: Option<Vec<Root>>,
}

impl Closures {
    pub(super) fn set_elicit<F, A>(&mut self, answer: F)
    where
        F: Fn(ElicitRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, RpcError>> + Send + 'static,
    {
        self.elicit = Some(Arc::new(move |params| Box::pin(answer(params))));
    }

    pub(super) fn set_sample<F, A>(&mut self, answer: F)
    where
        F: Fn(CreateMessageRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
    {
        self.sample = Some(Arc::new(move |params| Box::pin(answer(params))));
        self.samples_with_tools = false;
    }

    pub(super) fn sample_with_tools(&mut self) {
        self.samples_with_tools = true;
    }

    pub(super) fn set_roots(&mut self, roots: Vec<Root>) {
        self.roots = Some(roots);
    }
}

impl ClientHandler for Closures {
    fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::new();
        if self.elicit.is_some() {
            let mut elicitation = ClientCapabilitiesElicitation::new();
            elicitation.form = Some(JsonObject::new());
            elicitation.url = Some(JsonObject::new());
            capabilities.elicitation = Some(elicitation);
        }
        if self.sample.is_some() {
            let mut sampling = ClientCapabilitiesSampling::new();
            sampling.tools = self.samples_with_tools.then(JsonObject::new);
            capabilities.sampling = Some(sampling);
        }
        if self.roots.is_some() {
            capabilities.roots = Some(ClientCapabilitiesRoots::new());
        }
        capabilities
    }

    fn elicit(&self, params: ElicitRequestParams) -> HandlerFuture<'_, ElicitResult> {
        match &self.elicit {
            Some(elicit) => elicit(params),
            None => Box::pin(ready(Err(unsupported_method("elicitation/create")))),
        }
    }

    fn create_message(
        &self,
        params: CreateMessageRequestParams,
    ) -> HandlerFuture<'_, CreateMessageResult> {
        match &self.sample {
            Some(sample) => sample(params),
            None => Box::pin(ready(Err(unsupported_method("sampling/createMessage")))),
        }
    }

    fn list_roots(&self) -> HandlerFuture<'_, ListRootsResult> {
        let roots = self.roots.clone();
        let roots = roots.ok_or_else(|| unsupported_method("roots/list"));
        Box::pin(ready(roots.map(ListRootsResult::new)))
    }
}

impl fmt::Debug for Closures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Closures")
            .field("elicit", &self.elicit.is_some())
            .field("sample", &self.sample.is_some())
            .field("samples_with_tools", &self.samples_with_tools)
            .field("roots", &self.roots)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_handler_can_be_shared() {
        async fn roots(handler: impl ClientHandler) -> usize {
            assert!(handler.capabilities().roots.is_some());
            handler.list_roots().await.unwrap().roots.len()
        }
        let mut closures = Closures::default();
        closures.set_roots(vec![Root::new("file:///project")]);
        let shared: Arc<dyn ClientHandler> = Arc::new(closures);
        assert_eq!(roots(Arc::clone(&shared)).await, 1);
        assert_eq!(roots(shared).await, 1);
    }
}
