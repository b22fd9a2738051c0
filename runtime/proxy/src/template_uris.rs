//! URIs of one template of a server, at the proxy and at the server.

use std::sync::Arc;

use treenail_runtime::dynamic::RawResult;
use treenail_runtime::{Context, RpcError};

use crate::matcher::Matcher;
use crate::upstream::{Upstream, not_found};

/// URIs of one template of a server.
pub(crate) struct TemplateUris {
    upstream: Arc<Upstream>,
    /// The template at the proxy.
    listed: Matcher,
    /// The template at the server.
    own: Matcher,
    /// Set if the template at the proxy has the prefix of the mount in addition.
    is_prefixed: bool,
    /// Set if the template at the server starts with the prefix of the mount.
    has_prefix: bool,
}

impl TemplateUris {
    pub(crate) fn new(upstream: &Arc<Upstream>, own: &str, listed: &str) -> Arc<Self> {
        Arc::new(Self {
            upstream: Arc::clone(upstream),
            listed: Matcher::new(listed),
            own: Matcher::new(own),
            is_prefixed: own != listed,
            has_prefix: upstream.uris.without_prefix(own).is_some(),
        })
    }

    /// Returns the URI at the server of a URI at the proxy. `None` if it does not belong to the template, but to another server or
    /// to a resource in a list, which has a feature of its own unless it is not served.
    pub(crate) fn at_server<'a>(&self, uri: &'a str) -> Option<&'a str> {
        let uris = &self.upstream.uris;
        if !self.listed.matches(uri) || uris.is_foreign(uri) {
            return None;
        }
        let rest = uris.without_prefix(uri);
        let rest = rest.filter(|rest| !self.has_prefix && self.own.matches(rest));
        let own = rest.or_else(|| (!self.is_prefixed).then_some(uri))?;
        (!self.upstream.is_listed_resource(own)).then_some(own)
    }

    /// Passes on a request for a resource at a URI of the proxy.
    pub(crate) async fn read(&self, context: &Context, uri: &str) -> Result<RawResult, RpcError> {
        match self.at_server(uri) {
            Some(own) => self.upstream.read_resource(context, own).await,
            None => Err(not_found(context, uri)),
        }
    }
}
