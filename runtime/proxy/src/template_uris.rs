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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ProxyLimits;
    use crate::matcher::Comparisons;
    use crate::upstream::KnownResources;
    use crate::uris::{Owners, Uris};
    use crate::waiting::WaitingCalls;

    fn upstream(owners: &Owners, mount: u64, name: &str, own: &[&str]) -> Arc<Upstream> {
        let uris = Uris::new(owners.clone(), mount, name);
        uris.claim(own.iter().copied());
        let limits = ProxyLimits::default();
        let upstream = Upstream::new(name.into(), limits, uris, WaitingCalls::default());
        let templates: Vec<_> = own.iter().filter(|uri| uri.contains('{')).collect();
        upstream.set_known(KnownResources {
            uris: own.iter().map(|uri| (*uri).to_owned()).collect(),
            templates: templates.iter().map(|uri| Matcher::new(uri)).collect(),
            served: templates.iter().map(|uri| Matcher::new(uri)).collect(),
        });
        upstream
    }

    #[test]
    fn subscriptions_and_updates_are_those_of_the_servers_own_resources() {
        let owners = Owners::default();
        let one = upstream(
            &owners,
            1,
            "one",
            &["data://a", "data://t/{x}", "one+b:{x}"],
        );
        let two = upstream(&owners, 2, "two", &["data://b"]);
        for (uri, of_one, of_two) in [
            ("data://a", Some("data://a"), None),
            ("data://t/1", Some("data://t/1"), None),
            ("one+data://c", Some("data://c"), None),
            ("one+b:c", Some("one+b:c"), None),
            ("two+data://a", None, Some("data://a")),
            ("data://b", None, Some("data://b")),
            ("data://other", None, None),
        ] {
            assert_eq!(
                one.subscribed(uri, &mut Comparisons::default()),
                of_one,
                "{uri}"
            );
            assert_eq!(
                two.subscribed(uri, &mut Comparisons::default()),
                of_two,
                "{uri}"
            );
        }
        let at_proxy = |of: &Upstream, uri| of.at_proxy(uri, &mut Comparisons::default());
        assert_eq!(at_proxy(&one, "data://a"), ["data://a", "one+data://a"]);
        assert_eq!(at_proxy(&two, "data://a"), ["two+data://a"]);
        assert_eq!(at_proxy(&two, "data://t/1"), ["two+data://t/1"]);
        assert_eq!(at_proxy(&two, "one+b:c"), ["two+one+b:c"]);
    }

    #[test]
    fn a_template_has_no_uris_of_lists_or_of_other_servers() {
        let owners = Owners::default();
        let one = upstream(&owners, 1, "one", &["data://a", "{+x}"]);
        let _two = upstream(&owners, 2, "two", &["data://b"]);
        let all = TemplateUris::new(&one, "{+x}", "{+x}");
        for (uri, expected) in [
            ("data://c", Some("data://c")),
            ("one+data://c", Some("data://c")),
            ("data://a", None),
            ("one+data://a", None),
            ("data://b", None),
            ("one+data://b", Some("data://b")),
            ("two+data://c", None),
        ] {
            assert_eq!(all.at_server(uri), expected, "{uri}");
        }
    }
}
