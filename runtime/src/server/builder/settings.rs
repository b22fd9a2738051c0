//! Settings of a server: its description, the format of its results, caching, and its bounds.

use std::time::Duration;

use treenail_schema::{CacheScope, Icon};

use super::ServerBuilder;
use crate::ask::RequestStateKey;
use crate::limits::Limits;
use crate::revision::WrapResults;
use crate::server::config::Caching;

impl ServerBuilder {
    /// Sets the display name of the server.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// Sets a one-sentence description of the server for users.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Sets the website of the server.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Sets the icons of the server.
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.info.icons = Some(icons.into_iter().collect());
        self
    }

    /// Adds instructions for the model. They precede those of mounted types.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions.insert(0, instructions.into());
        self
    }

    /// Sets when results other than JSON objects, such as numbers and lists, are wrapped as structured content
    /// `{"result": …}`. Default: [`WrapResults::Legacy`], for peers that accept only objects.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::tool::WrapResults;
    ///
    /// // For hosts that expect objects in every revision.
    /// let server = Server::builder("demo", "1.0.0").wrap_results(WrapResults::Always).build()?;
    /// # Ok::<(), treenail::Error>(())
    /// ```
    pub fn wrap_results(mut self, when: WrapResults) -> Self {
        self.wrap_results = when;
        self
    }

    /// Sets the time for which clients may cache lists (default: zero), and whether users may share them (default:
    /// [`CacheScope::Private`]). Revisions before 2026-07-28 do not transmit it.
    pub fn cache_lists(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.caching = Caching { ttl, scope };
        self
    }

    /// Sets the bounds of the server.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the key that encrypts the state of clients of the modern era between the rounds of a request, when a function
    /// [asks](crate::Context::elicit). Default: a random key for each server, unknown to other replicas and later processes.
    pub fn request_state_key(mut self, key: RequestStateKey) -> Self {
        self.request_state_key = Some(key);
        self
    }
}
