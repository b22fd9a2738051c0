//! Extensions of the protocol: capabilities with an identifier, and methods of their own.

mod context;
mod facts;
mod gate;
mod identifier;
mod method;
mod params;
mod publication;
mod set;
mod topic;

use std::error::Error;
use std::fmt;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use treenail_schema::{JsonObject, Revision};

pub(crate) use self::facts::ExtensionFacts;
pub(crate) use self::gate::require;
pub(crate) use self::identifier::validate_identifier;
pub use self::method::ExtensionMethod;
pub(crate) use self::method::is_task_method;
pub(crate) use self::publication::{Accepted, Accepting, Publication, Topics, topic_key};
pub(crate) use self::set::{ExtensionSet, build};

pub(crate) use self::topic::wanted_topics;
use self::topic::{Member, accept};
use crate::context::Context;
use crate::extensions::Extensions;
use crate::server::Server;
use crate::wire::RpcError;

/// Extension of the protocol that a server supports: an identifier, settings, and methods.
///
/// A server declares it to all clients, in `server/discover` or in the result of `initialize`, under
/// `capabilities.extensions`. Its methods are for clients that have declared it too: in each request (2026-07-28), or in
/// `initialize`. Without the extension, nothing changes: an extension must not alter the core of the protocol for clients that do
/// not declare it.
///
/// ```
/// use treenail::extension::Extension;
/// use treenail::prelude::*;
///
/// #[mcp_type]
/// struct Translate {
///     text: String,
/// }
///
/// #[mcp_type]
/// struct Translated {
///     text: String,
/// }
///
/// let translate = |_: Context, params: Translate| async move {
///     Ok::<_, ToolError>(Translated { text: params.text.to_uppercase() })
/// };
/// let extension = Extension::new("com.example/translation")
///     .settings(json!({"languages": ["en", "no"]}))
///     .method("translation/translate", translate);
/// let server = treenail::server!().extension(extension).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[must_use = "an extension is supported by the server that it is added to"]
pub struct Extension {
    id: Box<str>,
    settings: Value,
    methods: Vec<ExtensionMethod>,
    core_capabilities: Vec<(Revision, Box<str>, Value)>,
    members: Vec<Member>,
    changes_resources: bool,
    on_build: Vec<OnBuild>,
    states: Vec<SetState>,
}

/// Function that adds a state of an extension to those of its server.
type SetState = Box<dyn FnOnce(&mut Extensions) + Send + Sync>;

/// Function that runs once the server has been built. Its error is that of building.
pub(crate) type OnBuild = Box<dyn FnOnce(&Server) -> Result<(), String> + Send + Sync>;

impl fmt::Debug for Extension {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Extension")
            .field("id", &self.id)
            .field("settings", &self.settings)
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}

impl Extension {
    /// Creates an extension without settings and methods. Its identifier is the reversed domain of its author, `/`, and a name:
    /// `com.example/translation`. The prefix `io.modelcontextprotocol/` is for extensions of the protocol itself.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into().into(),
            settings: Value::Object(JsonObject::new()),
            methods: Vec::new(),
            core_capabilities: Vec::new(),
            members: Vec::new(),
            changes_resources: false,
            on_build: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Returns the identifier.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Sets the settings that the server declares, a JSON object. Default: an empty object.
    pub fn settings(mut self, settings: impl Into<Value>) -> Self {
        self.settings = settings.into();
        self
    }

    /// Adds the method `name`, whose requests `handler` answers.
    ///
    /// The handler takes the [`Context`] and the parameters of the request without `_meta`. It returns the result, which is
    /// serialized to a JSON object; `()` is an empty one. An [`RpcError`] is the response as it is, and any other error an
    /// internal error (-32603) with its message. The members that each result of a revision has are added.
    ///
    /// A request counts as a call of a tool does: towards [`Limits::calls_in_flight`](crate::Limits::calls_in_flight), for
    /// observers, and for shutdown. Layers do not see it, and rules of [`visible`](crate::ServerBuilder::visible) do not
    /// concern it. In revision 2026-07-28, the handler cannot ask the client for input.
    ///
    /// [`add_method`](Self::add_method) adds one with options.
    ///
    /// # Cancellation
    ///
    /// The future of the handler is dropped when the client cancels the request.
    pub fn method<P, R, E, F, A>(self, name: impl Into<String>, handler: F) -> Self
    where
        P: DeserializeOwned + 'static,
        R: Serialize + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
        F: Fn(Context, P) -> A + Send + Sync + 'static,
        A: Future<Output = Result<R, E>> + Send + 'static,
    {
        self.add_method(ExtensionMethod::new(name, handler))
    }

    /// Adds a method with options.
    pub fn add_method(mut self, method: ExtensionMethod) -> Self {
        self.methods.push(method);
        self
    }
}

/// Parts of the API for extensions that were, or become, a part of the protocol itself.
#[doc(hidden)]
impl Extension {
    /// Declares the capability `name` of the protocol itself to peers of `revision`.
    pub fn core_capability(mut self, revision: Revision, name: &str, value: Value) -> Self {
        self.core_capabilities.push((revision, name.into(), value));
        self
    }

    /// Adds a member of the filter of `subscriptions/listen`, a list of topics. `accepts` returns those that the caller may
    /// subscribe to; the acknowledgement waits for it. Topics are bounded like resources, see
    /// [`SubscriptionLimits`](crate::SubscriptionLimits), and each is passed once.
    ///
    /// Messages that are published while `accepts` runs are not lost.
    pub fn listen_member<F, A>(mut self, name: &str, accepts: F) -> Self
    where
        F: Fn(Context, Vec<String>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Vec<String>, RpcError>> + Send + 'static,
    {
        self.members.push(Member {
            name: name.into(),
            extension: self.id.clone(),
            accept: accept(accepts),
        });
        self
    }

    /// Adds a value of the server, which [`state`](crate::internal::extension::state) returns by its type.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.push(Box::new(|states| states.insert(value)));
        self
    }

    /// Declares resources whose list may change, for an extension that provides them with a
    /// [`ResourceSource`](crate::internal::resource_source::ResourceSource).
    pub fn changes_resources(mut self) -> Self {
        self.changes_resources = true;
        self
    }

    /// Runs `started` when the server has been built. Its error is that of building.
    pub fn on_build(
        mut self,
        started: impl FnOnce(&Server) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.on_build.push(Box::new(started));
        self
    }
}
