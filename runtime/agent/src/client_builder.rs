//! Builders of clients, extended with models that respond to sampling.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use treenail_runtime::RpcError;
use treenail_runtime::client::{McpClientBuilder, McpClientSessionBuilder};
use treenail_schema::{CreateMessageRequestParams, CreateMessageResult};

use crate::SamplingModel;

/// Methods that this crate adds to the builders of clients. The prelude of `treenail` imports them.
pub trait ClientBuilderExt: Sized {
    /// Responds to sampling with a model, also if the server offers the model tools of its own (`sampling.tools`), which
    /// servers may do from revision 2025-11-25 on. See [`SamplingModel`].
    ///
    /// ```
    /// use treenail::agent::{ClientBuilderExt, Model};
    /// use treenail::client::McpClient;
    ///
    /// # async fn example(model: impl Model + 'static) -> Result<(), Box<dyn std::error::Error>> {
    /// let builder = McpClient::builder().command("research-server");
    /// let client = builder.enable_tool_use_for_sampling(model).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It replaces [`on_sample`](McpClientSessionBuilder::on_sample). The model is part of the builder because the
    /// handshake declares the capabilities of the client.
    #[must_use = "`build` connects"]
    fn enable_tool_use_for_sampling(self, model: impl Into<SamplingModel>) -> Self;
}

impl ClientBuilderExt for McpClientBuilder {
    fn enable_tool_use_for_sampling(self, model: impl Into<SamplingModel>) -> Self {
        self.on_sample_with_tools(responder(model.into()))
    }
}

impl ClientBuilderExt for McpClientSessionBuilder {
    fn enable_tool_use_for_sampling(self, model: impl Into<SamplingModel>) -> Self {
        self.on_sample_with_tools(responder(model.into()))
    }
}

type Response = Pin<Box<dyn Future<Output = Result<CreateMessageResult, RpcError>> + Send>>;

fn responder(model: SamplingModel) -> impl Fn(CreateMessageRequestParams) -> Response {
    let model = Arc::new(model);
    move |request| {
        let model = Arc::clone(&model);
        Box::pin(async move { model.respond(request).await })
    }
}
