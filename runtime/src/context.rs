//! What a tool may know of the call it answers, and tell its caller while it runs.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use treenail_schema::{
    ClientCapabilities, Implementation, LoggingLevel, LoggingMessageNotification,
    LoggingMessageNotificationParams, MetaObject, Number, ProgressNotification,
    ProgressNotificationParams, RequestId,
};

use crate::call::CallState;
use crate::extensions::{Extensions, Principal};
use crate::server::Server;

/// One call of a tool, as the tool's function sees it: who calls, what came with the call, and how the caller can be
/// told of it while it runs.
///
/// A function takes it by reference, and it is no argument for the model. A clone may go to another task or thread; it
/// outlives the call, but sends nothing any more once the call has ended.
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
    state: Arc<CallState>,
    extensions: Extensions,
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
    pub(crate) fn new(state: CallState, extensions: Extensions) -> Self {
        Self {
            state: Arc::new(state),
            extensions,
        }
    }

    pub(crate) fn state(&self) -> &Arc<CallState> {
        &self.state
    }

    #[cfg(feature = "tower")]
    pub(crate) fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    #[cfg(feature = "tower")]
    pub(crate) fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    /// A value that came with the call from outside of the protocol: a transport put it on the connection, or a layer on
    /// the call. See [`Extensions`].
    ///
    /// ```
    /// use treenail_runtime::Context;
    ///
    /// struct Tenant(u32);
    ///
    /// async fn bills(cx: &Context) -> Result<u32, &'static str> {
    ///     let tenant = cx.extension::<Tenant>().ok_or("who are you?")?;
    ///     Ok(tenant.0)
    /// }
    /// ```
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// Who is calling, if a transport or a layer has authenticated the caller.
    ///
    /// What the client says of itself, [`Context::client_info`], is no proof of anything.
    pub fn principal(&self) -> Option<&Principal> {
        self.extension()
    }

    /// The name and version that the client gives itself; unverified, for display only.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.state.peer.info()
    }

    /// What the client can do, as it declared for this call.
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        self.state.peer.capabilities()
    }

    /// The id of the request, unique among the client's calls that are not answered yet.
    pub fn request_id(&self) -> &RequestId {
        self.state.id.get()
    }

    /// The server that the call is answered by, to [edit](Server::edit) it or to tell of an
    /// [update](Server::resource_updated).
    ///
    /// A type that is mounted must not keep it, or the two keep each other alive.
    pub fn server(&self) -> &Server {
        &self.state.server
    }

    /// The `_meta` of the request, with its trace context (`traceparent`, `tracestate`, `baggage`); empty if there was
    /// none.
    pub fn meta(&self) -> MetaObject {
        let meta = self.state.meta.as_deref();
        meta.and_then(|meta| serde_json::from_str(meta).ok())
            .unwrap_or_default()
    }

    /// Tells the caller how far the call is, if the caller asked for that; awaiting it sends it.
    ///
    /// What is told must grow; a progress that is not greater than the last one is not sent. Sending waits while the
    /// caller takes no messages.
    ///
    /// ```
    /// # use treenail_runtime::Context;
    /// async fn import(cx: &Context, files: Vec<String>) -> usize {
    ///     for (done, file) in files.iter().enumerate() {
    ///         cx.progress(done).total(files.len()).message(format!("importing {file}")).await;
    ///     }
    ///     files.len()
    /// }
    /// ```
    pub fn progress(&self, done: impl Into<Number>) -> Progress<'_> {
        Progress {
            state: &self.state,
            done: done.into(),
            total: None,
            message: None,
        }
    }

    /// Sends a log message to the client, if it wants messages of this level: in the legacy era those that
    /// `logging/setLevel` asked for (before that, from [`LoggingLevel::Info`] up), in the modern era those that the
    /// request asked for.
    #[deprecated(
        note = "the protocol deprecates logging (SEP-2577; it may be removed from 2027-07-28 on); log to standard error, for example with `tracing`"
    )]
    pub async fn log(&self, level: LoggingLevel, data: impl Into<Value>) {
        if self.state.peer.wants_logs(level) {
            let params = LoggingMessageNotificationParams::new(level, data);
            self.state
                .notify::<LoggingMessageNotification>(&params)
                .await;
        }
    }

    /// Whether the call has ended: its function has returned, or the client has cancelled it.
    ///
    /// An asynchronous function is dropped when its call is cancelled and need not ask; one that blocks, and what a
    /// function has spawned, should.
    pub fn is_finished(&self) -> bool {
        self.state.is_finished()
    }

    /// Waits until the call has ended, see [`Context::is_finished`].
    pub async fn finished(&self) {
        self.state.finished().await;
    }
}

/// A report of progress; awaiting it sends it. Made by [`Context::progress`].
#[derive(Debug)]
#[must_use = "progress is sent when it is awaited"]
pub struct Progress<'a> {
    state: &'a CallState,
    done: Number,
    total: Option<Number>,
    message: Option<String>,
}

impl Progress<'_> {
    /// How much there is in all.
    pub fn total(mut self, total: impl Into<Number>) -> Self {
        self.total = Some(total.into());
        self
    }

    /// What is being done, for people.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sends it from a function that blocks, where nothing can be awaited.
    ///
    /// # Panics
    ///
    /// In an asynchronous function, and outside of a tokio runtime.
    pub fn send_blocking(self) {
        tokio::runtime::Handle::current().block_on(self.send());
    }

    async fn send(self) {
        let Some(token) = self.state.progress_token.clone() else {
            return;
        };
        let done = self.done.as_f64();
        let mut params = ProgressNotificationParams::new(token, self.done);
        params.total = self.total;
        params.message = self.message;
        self.state
            .notify_progress::<ProgressNotification>(done, &params)
            .await;
    }
}

impl<'a> IntoFuture for Progress<'a> {
    type Output = ();
    type IntoFuture = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
