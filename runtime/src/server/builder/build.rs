//! Building of a server: everything that does not depend on a call is prepared.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::Semaphore;
use treenail_schema::Revision;

use super::ServerBuilder;
use crate::ask::{ElicitConfig, NO_RANDOM_BYTES, RequestStateKey};
use crate::bus::{EventBus, EventQueue, StartBus, Supervised};
use crate::error::{Error, Result};
use crate::extension::{self, ExtensionFacts};
use crate::json::json_tree;
use crate::limits::Limits;
use crate::revision::ResultFormat;
use crate::server::budget::CallBudget;
use crate::server::config::ServerConfig;
use crate::server::registry::Registry;
use crate::server::subscriptions::{Hub, Kind, Kinds};
use crate::server::{Server, ServerState};
use crate::wrap::CallStack;

impl ServerBuilder {
    /// Builds the server, and prepares everything that does not depend on a call.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if two tools or prompts have the same name, two resources have the same URI, two extensions have the same
    /// identifier or method, a name, URI or identifier is invalid,
    /// the default of an argument cannot be written as JSON, or there is an event bus without a tokio runtime.
    pub fn build(self) -> Result<Server> {
        let info = json_tree(&self.info).map_err(|error| Error::Build(error.to_string()))?;
        let key = match self.request_state_key {
            Some(key) => key,
            None => {
                RequestStateKey::random().map_err(|_| Error::Build(NO_RANDOM_BYTES.to_owned()))?
            }
        };
        let stack = CallStack {
            call_timeout: self.limits.call_timeout,
        };
        let limits = self.limits;
        let elicit_config = ElicitConfig::new(&self.info.name, key, &limits);
        let parts = self.registry.into_parts().map_err(Error::Build)?;
        let extensions = parts.with_task_extensions(self.extensions);
        let (facts, handlers, on_build) = extension::build(extensions).map_err(Error::Build)?;
        let config = ServerConfig {
            styles: Revision::ALL
                .map(|revision| ResultFormat::new(revision, info.clone(), self.wrap_results)),
            info,
            instructions: self.instructions,
            separator: self.separator,
            dynamic: self.dynamic,
            changing: changing(self.dynamic, &facts),
            extensions: facts,
            caching: self.caching,
            page_size: limits.page_size,
            filtered: AtomicBool::new(!self.rules.is_empty()),
            rules: self.rules,
            cached_views: limits.cached_views,
        };
        let registry = Registry::new((parts, handlers), stack, &config).map_err(Error::Build)?;
        let (hub, bus) = connect(self.event_bus, &self.info.name, &limits)?;
        let server = Server {
            state: Arc::new(ServerState {
                blocking_permits: Arc::new(Semaphore::new(
                    limits.blocking_calls.clamp(1, Semaphore::MAX_PERMITS),
                )),
                calls: CallBudget::new(limits.server_calls_in_flight),
                registry: Arc::new(registry),
                hub,
                bus,
                config,
                limits,
                elicit_config: Arc::new(elicit_config),
                observer: self.observer,
                #[cfg(feature = "tower")]
                layers: self.layers.build(),
            }),
        };
        for started in on_build {
            started(&server).map_err(Error::Build)?;
        }
        Ok(server)
    }
}

/// Returns the lists that may change after the server is built.
fn changing(dynamic: bool, extensions: &ExtensionFacts) -> Kinds {
    if dynamic {
        Kinds::all()
    } else if extensions.changes_resources() {
        Kinds::default().with(Kind::Resources)
    } else {
        Kinds::default()
    }
}

/// Makes the hub of a server, and connects it with those of other replicas.
fn connect(
    bus: Option<(Arc<dyn EventBus>, StartBus)>,
    server: &str,
    limits: &Limits,
) -> Result<(Arc<Hub>, Option<Supervised>)> {
    let Some((bus, start)) = bus else {
        return Ok(Default::default());
    };
    let queue = Arc::new(EventQueue::new(limits));
    let hub = Arc::new(Hub::new(Some(Arc::clone(&queue))));
    let running = start(bus, server, (Arc::clone(&hub), queue), limits)?;
    Ok((hub, Some(running)))
}
