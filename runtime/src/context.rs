//! What a tool may know of the call it answers.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Semaphore;
use treenail_schema::{ClientCapabilities, Implementation, MetaObject, RequestId};

use crate::revision::Peer;

/// One call of a tool, as the tool's function sees it: who calls, and what came with the call.
///
/// A function takes it by reference, and it is no argument for the model:
///
/// ```
/// use treenail_runtime::Context;
///
/// async fn greet(cx: &Context, name: String) -> String {
///     match cx.client_info() {
///         Some(client) => format!("Hello {name}, from {}", client.name),
///         None => format!("Hello {name}"),
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Context {
    peer: Arc<Peer>,
    id: RequestId,
    meta: Option<Box<str>>,
}

impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Context")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// The name and version that the client gives itself; unverified, for display only.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.peer.info()
    }

    /// What the client can do, as it declared for this call.
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        self.peer.capabilities()
    }

    /// The id of the request, unique among the client's calls that are not answered yet.
    pub fn request_id(&self) -> &RequestId {
        &self.id
    }

    /// The `_meta` of the request; empty if there was none.
    pub fn meta(&self) -> MetaObject {
        self.meta
            .as_deref()
            .and_then(|meta| serde_json::from_str(meta).ok())
            .unwrap_or_default()
    }
}

/// One request for a tool, as the code that the macros write gets it.
#[derive(Debug)]
pub struct Call<'a> {
    pub(crate) peer: &'a Arc<Peer>,
    /// The text of the request's id.
    pub(crate) id: &'a str,
    /// The text of the `arguments` object.
    pub(crate) arguments: Option<&'a str>,
    /// The text of the `_meta` object.
    pub(crate) meta: Option<&'a str>,
    /// The turns of functions that block.
    pub(crate) blocking: &'a Arc<Semaphore>,
}

/// What a function may take by reference instead of an argument: [`Context`].
#[diagnostic::on_unimplemented(
    message = "`&{Self}` cannot be an argument of a tool",
    label = "an argument is owned: write `String` for `&str`, `Vec<T>` for `&[T]`, `T` for `&T`",
    note = "only `&Context` is taken by reference"
)]
pub trait FromCall {
    /// Takes it from the call.
    fn from_call(context: &Context) -> &Self;
}

#[diagnostic::do_not_recommend]
impl FromCall for Context {
    fn from_call(context: &Context) -> &Self {
        context
    }
}

/// What is made of a call before the function runs.
pub trait CallValue: Send + 'static {
    /// Takes it from the call.
    fn from_call(call: &Call<'_>) -> Self;
}

impl CallValue for () {
    fn from_call(_: &Call<'_>) -> Self {}
}

impl CallValue for Context {
    fn from_call(call: &Call<'_>) -> Self {
        Self {
            peer: Arc::clone(call.peer),
            // The text has been checked to be a string or an integer; one beyond 64 bits is kept as its digits.
            id: serde_json::from_str(call.id)
                .unwrap_or_else(|_| RequestId::String(call.id.to_owned())),
            meta: call.meta.map(Into::into),
        }
    }
}
