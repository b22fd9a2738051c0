//! Session of a client that records its requests and notifications.

use std::fmt;
use std::sync::Arc;

use treenail_runtime::client::{
    ClientError, IncomingHandler, IncomingRequest, Session, SessionFuture, SessionNotification,
    SessionRequest, SessionWrapper,
};

use crate::watch::waits_for_events;
use crate::world::World;

/// Session of a client that records its requests and notifications.
pub(crate) struct Recorder {
    pub(crate) inner: Arc<dyn Session>,
    pub(crate) world: Arc<World>,
    /// Number of the client.
    pub(crate) client: usize,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Recorder").finish_non_exhaustive()
    }
}

/// Request in flight, which notes its end.
struct InFlight<'a> {
    world: &'a World,
    client: usize,
    id: i64,
    method: String,
    since: u64,
    /// The client had a rough connection at the start.
    is_rough: bool,
    is_done: bool,
}

impl InFlight<'_> {
    /// Returns `true` if its response may be late for a reason outside of the server.
    fn is_excused(&self) -> bool {
        let has_rough = || self.world.network.has_rough(self.client, self.since);
        waits_for_events(&self.method) || self.is_rough || has_rough()
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.world.log(format!("gives #{} up", self.id));
        }
        let (world, method) = (self.world, &self.method);
        let waited = world
            .now()
            .saturating_sub(self.since.max(world.quiet_since()));
        if waited > world.options.patience && !self.is_excused() {
            let (client, id) = (self.client, self.id);
            world.violation(format!(
                "client-{client}: #{id} {method} had no response for {waited} ms"
            ));
        }
    }
}

impl SessionWrapper for Recorder {
    fn inner(&self) -> &dyn Session {
        &*self.inner
    }

    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        let world = Arc::clone(&self.world);
        self.inner.listen(Arc::new(Listening { incoming, world }));
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            let (id, world) = (request.id, &*self.world);
            world.log(format!("sends #{id} {} {}", request.method, request.params));
            let since = world.now();
            let mut in_flight = InFlight {
                world,
                client: self.client,
                id,
                method: request.method.to_string(),
                since,
                is_rough: world.network.has_rough(self.client, since),
                is_done: false,
            };
            let result = self.inner.request(request).await;
            in_flight.is_done = true;
            match &result {
                Ok(result) => world.log(format!("gets #{id} {result}")),
                Err(error) => world.log(format!("gets #{id} error: {}", outline(error))),
            }
            result
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        self.world.log(format!("sends {}", notification.method));
        self.inner.notify(notification)
    }
}

/// Returns the text of an error.
fn outline(error: &ClientError) -> String {
    error.to_string()
}

/// Handler that records the messages of a server.
struct Listening {
    incoming: Arc<dyn IncomingHandler>,
    world: Arc<World>,
}

impl IncomingHandler for Listening {
    fn notification(&self, method: &str, params: &str) {
        self.world.log(format!("gets {method} {params}"));
        self.incoming.notification(method, params);
    }

    fn related_notification(&self, method: &str, params: &str, request: i64) {
        self.world
            .log(format!("gets {method} {params} for #{request}"));
        self.incoming.related_notification(method, params, request);
    }

    fn missed_notifications(&self) {
        self.world.log("misses notifications");
        self.incoming.missed_notifications();
    }

    fn request(&self, request: IncomingRequest<'_>) {
        self.world
            .log(format!("is asked {} {}", request.id, request.method));
        self.incoming.request(request);
    }

    fn accepts_requests(&self) -> bool {
        self.incoming.accepts_requests()
    }

    fn closed(&self) {
        self.world.log("loses its session");
        self.incoming.closed();
    }
}
