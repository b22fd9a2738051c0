//! Sessions around other sessions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use treenail_schema::JsonObject;

use super::{
    IncomingHandler, Session, SessionFuture, SessionNotification, SessionRequest, TransportKind,
};

/// A [`Session`] around another one, which receives all that an implementation does not replace.
///
/// ```
/// use std::sync::Arc;
///
/// use treenail::McpClient;
/// use treenail::client::{Session, SessionFuture, SessionRequest, SessionWrapper};
///
/// #[derive(Debug)]
/// struct Printing(Arc<dyn Session>);
///
/// impl SessionWrapper for Printing {
///     fn inner(&self) -> &dyn Session {
///         &*self.0
///     }
///
///     fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
///         eprintln!("{} {}", request.method, request.params);
///         self.inner().request(request)
///     }
/// }
///
/// let client = McpClient::builder()
///     .command("my-server")
///     .wrap_session(|session| Arc::new(Printing(session)));
/// # let _ = client;
/// ```
pub trait SessionWrapper: fmt::Debug + Send + Sync {
    /// Returns the session inside.
    fn inner(&self) -> &dyn Session;

    /// Sets the handler, see [`Session::listen`]. The inner session may get another one, which passes messages on to it.
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.inner().listen(incoming);
    }

    /// Sends a request, see [`Session::request`].
    ///
    /// # Errors
    ///
    /// Those of [`Session::request`].
    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        self.inner().request(request)
    }

    /// Sends a notification, see [`Session::notify`].
    ///
    /// # Errors
    ///
    /// Those of [`Session::notify`].
    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        self.inner().notify(notification)
    }

    /// Closes the connection, see [`Session::close`].
    ///
    /// # Errors
    ///
    /// Those of [`Session::close`].
    fn close(&self) -> SessionFuture<'_, ()> {
        self.inner().close()
    }
}

#[diagnostic::do_not_recommend]
impl<W: SessionWrapper> Session for W {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        SessionWrapper::listen(self, incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        SessionWrapper::request(self, request)
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        SessionWrapper::notify(self, notification)
    }

    fn transport(&self) -> TransportKind {
        self.inner().transport()
    }

    fn stray_line(&self) -> Option<String> {
        self.inner().stray_line()
    }

    fn credentials_version(&self) -> u64 {
        self.inner().credentials_version()
    }

    fn extensions(&self) -> BTreeMap<String, JsonObject> {
        self.inner().extensions()
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        SessionWrapper::close(self)
    }
}
