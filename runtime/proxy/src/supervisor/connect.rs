//! Connections to a mounted server: attempts to connect, and their graceful end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::{Instant, timeout};
use treenail_runtime::client::{ClientError, McpClientBuilder, Session};
use treenail_runtime::internal::catch_panic;
use treenail_runtime::internal::deadline::from as after;
use treenail_runtime::internal::timeout::timeout_at;
use treenail_schema::internal::shortened;

use super::Supervisor;
use crate::link::{Link, all_capabilities};
use crate::tap::Tap;
use crate::tapped::tapped;

/// Session of the latest attempt to connect, with its tap. It is closed gracefully in every state of the attempt.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatestSession(Arc<Mutex<Option<Opened>>>);

#[derive(Debug)]
struct Opened {
    session: Arc<dyn Session>,
    tap: Arc<Tap>,
}

impl LatestSession {
    fn lock(&self) -> MutexGuard<'_, Option<Opened>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self) -> Option<Arc<dyn Session>> {
        self.lock()
            .as_ref()
            .map(|opened| Arc::clone(&opened.session))
    }
}

impl Supervisor {
    /// Connects, and serves the features of the server. Returns the cause of a failure.
    pub(super) async fn connect(&mut self) -> Result<Arc<Link>, Arc<str>> {
        *self.latest.lock() = None;
        let builder = self.client_builder()?;
        let mut deadline = self.deadline();
        // The future is boxed because it is large.
        let connecting = Box::pin(self.shake_hands(builder));
        let Some(link) = timeout_at(&mut deadline, connecting).await else {
            let limit = self.upstream.limits.connect_timeout;
            return Err(format!("it did not answer within {limit:?}").into());
        };
        let link = link.map_err(|error| error.to_string())?;
        let refreshed = self.refresh(&link, deadline).await;
        refreshed.map_err(|error| error.to_string())?;
        self.upstream.set_up(Arc::clone(&link));
        self.send_status();
        Ok(link)
    }

    /// Returns the time until which a connection is established, or its lists are fetched.
    pub(super) fn deadline(&self) -> Instant {
        after(Instant::now(), self.upstream.limits.connect_timeout)
    }

    /// Makes the builder of a client. A panic of the user's function is the cause of a failure like any other.
    fn client_builder(&self) -> Result<McpClientBuilder, Arc<str>> {
        catch_panic(|| (self.remote.connect)()).map_err(|message| {
            let (server, message) = (&self.upstream.name, shortened(&message));
            tracing::error!(%server, %message, "the function that makes the client of a server panicked");
            "the function that makes its client failed unexpectedly".into()
        })
    }

    /// Connects a client.
    async fn shake_hands(&self, builder: McpClientBuilder) -> Result<Arc<Link>, ClientError> {
        let (name, limits) = (
            Arc::clone(&self.upstream.name),
            self.upstream.limits.clone(),
        );
        let latest = self.latest.clone();
        let capabilities = self.remote.capabilities.clone();
        let builder = builder
            .client_capabilities(capabilities.unwrap_or_else(all_capabilities))
            .subscribe_to_changes(false)
            .wrap_session(move |session| {
                let tap = Tap::new(Arc::clone(&name), limits.clone());
                let session = tapped(session, &tap);
                let opened = Arc::clone(&session);
                *latest.lock() = Some(Opened {
                    session: opened,
                    tap,
                });
                session
            });
        let client = builder.build().await?;
        let tap = {
            let latest = self.latest.lock();
            latest.as_ref().map(|opened| Arc::clone(&opened.tap))
        };
        let tap = tap.ok_or_else(|| ClientError::closed("its session was not opened"))?;
        Ok(Arc::new(Link::new(client, tap, self.remote.meta.clone())))
    }

    /// Closes the connection of the latest attempt gracefully: a process sees the end of its input, and a session over HTTP is
    /// deleted. `ClientLimits::shutdown_timeout` bounds the steps of that.
    pub(super) async fn close_session(&self) {
        let Some(session) = self.latest.session() else {
            return;
        };
        let server = &self.upstream.name;
        // A stream of the program may accept nothing more.
        match timeout(self.upstream.limits.connect_timeout, session.close()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let error = shortened(&error.to_string());
                tracing::debug!(%server, %error, "a server was not closed gracefully");
            }
            Err(_) => tracing::debug!(%server, "a server was not closed in time"),
        }
    }
}
