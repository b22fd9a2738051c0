//! Rules of a server and its namespaces, which decide what a caller sees.

use crate::server::{Namespace, Server, ServerBuilder};
use crate::visibility::{Caller, FeatureRef, Rule};

impl ServerBuilder {
    /// Adds a rule that decides which tools, prompts, resources and templates a caller sees and may use. It applies to all of
    /// the server, also to additions of [`Server::edit`]; [`Namespace::visible`] adds one to a namespace. A feature exists only
    /// for callers for which all of its rules return true.
    ///
    /// ```
    /// use treenail::Server;
    ///
    /// struct Tenant { plan: &'static str } // which a `tower` layer puts into the extensions of the HTTP request
    ///
    /// let server = Server::builder("demo", "1.0.0")
    ///     .visible(|feature, caller| {
    ///         let plan = caller.extension::<Tenant>().map_or("free", |tenant| tenant.plan);
    ///         !feature.is_in("reports") || plan == "enterprise"
    ///     })
    ///     .build()?;
    /// # Ok::<(), treenail::Error>(())
    /// ```
    ///
    /// - A hidden feature is answered as one that does not exist: lists, calls, suggestions, completions, subscriptions, and the
    ///   instructions of mounted types without a visible feature. Capabilities are those of the whole server.
    /// - Lists become [private](treenail_schema::CacheScope::Private), whatever [`ServerBuilder::cache_lists`] sets, and so do resources.
    /// - Scopes do not hide features by themselves: a client learns from the challenge that it may ask its user for a scope. The
    ///   rule `|feature, caller| caller.has_scopes(feature.scopes())` hides what the caller's token does not grant.
    /// - An edit notifies a subscriber only if the features that it sees have changed. When the rule has other results for a
    ///   reason of its own, such as a new role, call [`Server::visibility_changed`].
    /// - The rule runs for each feature of a list request and for the feature of a call, without a lock. It must be fast, and must
    ///   not depend on the connection or on earlier requests. If it panics, the feature is hidden.
    pub fn visible(
        mut self,
        rule: impl Fn(&FeatureRef<'_>, &Caller<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.rules.push(Rule::new(rule));
        self
    }
}

impl Namespace {
    /// Adds a rule for everything in the namespace, also in those nested in it: a feature exists only for callers for which the rule
    /// returns true. See [`ServerBuilder::visible`](crate::ServerBuilder::visible).
    ///
    /// The rule belongs to the features that the closure adds, and not to the name: a later edit that adds to the same namespace, or
    /// replaces a feature in it, brings its own rules. For a rule about a name, use [`FeatureRef::is_in`] in a rule of the server.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::tool::ToolSet;
    ///
    /// let admin_tools = ToolSet::new();
    /// let server = Server::builder("demo", "1.0.0")
    ///     .namespace("admin", |admin| {
    ///         admin.tools(admin_tools).visible(|_, caller| caller.has_scope("admin"))
    ///     })
    ///     .build()?;
    /// # Ok::<(), treenail::Error>(())
    /// ```
    pub fn visible(
        mut self,
        rule: impl Fn(&FeatureRef<'_>, &Caller<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.rules.push(Rule::new(rule));
        self
    }
}

impl Server {
    /// Notifies all subscribers that their lists may have changed, because the [rules](crate::ServerBuilder::visible) have
    /// other results now, for example after a user has got a role. The server must be [dynamic](crate::ServerBuilder::dynamic):
    /// otherwise clients do not expect changes, and this has no effect. (Skills of a folder make the list of resources one that
    /// changes.)
    ///
    /// After [`Server::edit`] it is not necessary. With an [event bus](crate::ServerBuilder::event_bus), the subscribers at
    /// other replicas are notified too.
    #[inline]
    pub fn visibility_changed(&self) {
        let mut kinds = self.state.config.changing;
        while let Some(kind) = kinds.take() {
            self.state.hub.publish(&kind.into());
        }
    }

    /// Returns true if callers may see different features.
    #[doc(hidden)]
    pub fn has_private_items(&self) -> bool {
        self.state.config.is_filtered()
    }
}
