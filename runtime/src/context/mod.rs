//! Context of a call: its caller, its metadata, and its end.

mod messages;

use std::fmt;
use std::sync::{Arc, Weak};

use treenail_schema::{ClientCapabilities, Implementation, MetaObject, RequestId};

pub use self::messages::Progress;
use crate::ask::{Asker, Level, Requests};
use crate::call::CallState;
use crate::extensions::{Extensions, Principal};
use crate::scope::{Access, MissingScope};
use crate::server::Server;

/// Context of one call, for its function: the caller, the metadata of the call, and messages to the caller.
///
/// A function takes it by reference; the model does not see it as an argument. A clone may be moved to another task or thread. It
/// may outlive the call, but sends nothing after the call has ended.
///
/// ```
/// use treenail::Context;
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
    state: Arc<CallState>,
    extensions: Extensions,
    level: Level,
}

impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Context")
            .field("id", &self.state.id)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Inlined, so that the state is constructed in its allocation.
    #[inline]
    pub(crate) fn new(state: CallState, extensions: Extensions) -> Self {
        Self {
            state: Arc::new(state),
            extensions,
            level: Level::FUNCTION,
        }
    }

    pub(crate) fn state(&self) -> &Arc<CallState> {
        &self.state
    }

    /// Returns the code that uses this context, for questions to the client.
    pub(crate) fn asker(&self) -> Asker<'_> {
        Asker {
            level: self.level,
            principal: self.principal().map(Principal::as_str),
        }
    }

    #[cfg(feature = "tower")]
    pub(crate) fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    pub(crate) fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    #[cfg(feature = "tower")]
    pub(crate) fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    /// Returns a value from outside of the protocol, which a transport has attached to the connection or a layer to the call.
    /// See [`Extensions`]. Over HTTP, it also finds the values that a `tower` layer has put into the extensions of the HTTP
    /// request.
    ///
    /// A task that runs again after the end of its process has its principal and scopes, and no other value.
    /// `treenail::tasks::runs_again` returns `true` in such a run.
    ///
    /// ```
    /// use treenail::Context;
    ///
    /// struct Tenant(u32);
    ///
    /// async fn bills(cx: &Context) -> Result<u32, &'static str> {
    ///     let tenant = cx.extension::<Tenant>().ok_or("unknown tenant")?;
    ///     Ok(tenant.0)
    /// }
    /// ```
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.find()
    }

    /// Returns the principal of the caller, if a transport or a layer has authenticated it.
    ///
    /// [`Context::client_info`] is not authenticated.
    pub fn principal(&self) -> Option<&Principal> {
        // Not that of the HTTP request: a layer may have removed it.
        self.extensions.get()
    }

    /// Fails if the caller's token does not grant `scope`. The client then receives a request for the scope.
    ///
    /// It is for scopes that depend on arguments; `scope = "…"` declares those that do not. Call it before anything is sent to
    /// the client: status 403 is possible only then, and clients obtain more scopes after this status. Scopes are not enforced
    /// where no request is authorized, such as on standard streams. They do not replace the access checks of a function.
    ///
    /// ```
    /// use treenail::{Context, ToolError};
    ///
    /// async fn write(cx: &Context, path: String) -> Result<(), ToolError> {
    ///     if path.starts_with("/etc/") {
    ///         cx.require_scope("files:admin")?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`MissingScope`] if the scope is not granted. If the function fails after that, its error is replaced.
    pub fn require_scope(&self, scope: impl AsRef<str>) -> Result<(), MissingScope> {
        let scope = scope.as_ref();
        let access = self.extension::<Access>();
        let checked = access.map_or(Ok(()), |access| access.require(scope));
        checked.map_err(|error| {
            let (principal, scopes) = (self.principal(), &error.message);
            tracing::info!(?principal, %scopes, "refused a call");
            self.state.set_fault(error);
            MissingScope(scope.into())
        })
    }

    /// Returns the name and version that the client declares: unverified, for display only.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.state.peer.info()
    }

    /// Returns the capabilities that the client has declared for this call.
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        self.state.peer.capabilities()
    }

    /// Returns the id of the request, unique among the client's calls in flight.
    pub fn request_id(&self) -> &RequestId {
        self.state.id.get()
    }

    /// Returns the server, to [edit](Server::edit) it or to notify subscribers of an [update](Server::resource_updated).
    ///
    /// A mounted type must not store it: the server owns the type, so neither would ever be dropped.
    pub fn server(&self) -> &Server {
        &self.state.server
    }

    /// Returns the `_meta` of the request, with its trace context (`traceparent`, `tracestate`, `baggage`), or an empty object.
    pub fn meta(&self) -> MetaObject {
        self.state
            .meta()
            .and_then(|meta| serde_json::from_str(meta).ok())
            .unwrap_or_default()
    }

    /// Returns the identity of the client, to find out if two calls are of the same one.
    pub fn client_identity(&self) -> ClientIdentity {
        ClientIdentity {
            connection: Arc::downgrade(self.state.outbox().requests()),
            principal: self.principal().cloned(),
        }
    }

    /// Returns `true` if the call has ended: its function has returned, or the client has cancelled it.
    ///
    /// An asynchronous function is dropped when its call is cancelled. A blocking function, and tasks that a function has
    /// spawned, should check this.
    pub fn is_finished(&self) -> bool {
        self.state.is_finished()
    }

    /// Waits until the call has ended, see [`Context::is_finished`].
    pub async fn finished(&self) {
        self.state.finished().await;
    }
}

/// Identity of the client of a call, from [`Context::client_identity`]: its principal, or else its connection.
///
/// Over HTTP, each request of the modern era has a connection of its own, so without principals no two of them are known to be
/// of the same client.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    connection: Weak<Requests>,
    principal: Option<Principal>,
}

impl ClientIdentity {
    /// Returns `true` if both calls are certainly of the same client.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.principal, &other.principal) {
            (Some(one), Some(other)) => one == other,
            (None, None) => Weak::ptr_eq(&self.connection, &other.connection),
            _ => false,
        }
    }
}
