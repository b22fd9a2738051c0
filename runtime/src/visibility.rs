//! Rules that decide which features of a server a caller sees and may use.

use std::fmt;
use std::sync::Arc;

use treenail_schema::{ClientCapabilities, Implementation, MetaObject, Tool};

use crate::extensions::{Extensions, Principal};
use crate::feature_descriptor::FeatureDescriptor;
use crate::panic::catch;
use crate::revision::Peer;
use crate::scope::{Access, RequiredScopes};

/// Caller of one request, for the rules of [`ServerBuilder::visible`](crate::ServerBuilder::visible).
///
/// A caller on standard streams has no principal and all scopes, unless the transport attaches them.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    extensions: &'a Extensions,
    peer: &'a Peer,
}

impl fmt::Debug for Caller<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Caller")
            .field("principal", &self.principal())
            .finish_non_exhaustive()
    }
}

impl<'a> Caller<'a> {
    pub(crate) fn new(extensions: &'a Extensions, peer: &'a Peer) -> Self {
        Self { extensions, peer }
    }

    /// Returns the authenticated principal, if a transport or a `tower` layer has attached one.
    pub fn principal(&self) -> Option<&'a Principal> {
        self.extensions.get()
    }

    /// Returns a value from outside of the protocol, such as the tenant that a `tower` layer has put into the extensions of the
    /// HTTP request. It finds the same values as [`Context::extension`](crate::Context::extension), except those that a layer
    /// around tools attaches to a call.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&'a T> {
        self.extensions.find()
    }

    /// Returns true if the caller's token grants `scope`, by itself or by implication. It is true for all scopes if requests
    /// are not authorized, such as on standard streams.
    pub fn has_scope(&self, scope: impl AsRef<str>) -> bool {
        let access = self.extension::<Access>();
        access.is_none_or(|access| access.has_scope(scope.as_ref()))
    }

    /// Returns true if the caller has the scopes that a feature [requires](FeatureRef::scopes).
    pub fn has_scopes(&self, scopes: &RequiredScopes) -> bool {
        let access = self.extension::<Access>();
        access.is_none_or(|access| scopes.are_met(|scope| access.has_scope(scope)))
    }

    /// Returns the name and version that the client declares. They are not authenticated: use them for compatibility only.
    pub fn client_info(&self) -> Option<&'a Implementation> {
        self.peer.info()
    }

    /// Returns the capabilities that the client declares.
    pub fn client_capabilities(&self) -> &'a ClientCapabilities {
        self.peer.capabilities()
    }
}

/// Tool, prompt, resource or template, for the rules of [`ServerBuilder::visible`](crate::ServerBuilder::visible).
#[derive(Clone, Copy, Debug)]
pub struct FeatureRef<'a> {
    pub(crate) name: &'a str,
    pub(crate) descriptor: FeatureDescriptor<'a>,
    pub(crate) scopes: &'a RequiredScopes,
}

impl<'a> FeatureRef<'a> {
    /// Returns the full name with dots, such as `admin.users.delete`, also on a server with another
    /// [separator](crate::ServerBuilder::name_separator).
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the URI of a resource, or the text of a template.
    pub fn uri(&self) -> Option<&'a str> {
        self.descriptor.uri()
    }

    /// Returns true if the feature is in `namespace`, or in a namespace nested in it.
    pub fn is_in(&self, namespace: impl AsRef<str>) -> bool {
        let rest = self.name.strip_prefix(namespace.as_ref());
        rest.is_some_and(|rest| rest.starts_with('.'))
    }

    /// Returns the descriptor.
    pub fn descriptor(&self) -> FeatureDescriptor<'a> {
        self.descriptor
    }

    /// Returns the descriptor of a tool, with its annotations.
    pub fn tool(&self) -> Option<&'a Tool> {
        self.descriptor.tool()
    }

    /// Returns the scopes that its requests require.
    pub fn scopes(&self) -> &'a RequiredScopes {
        self.scopes
    }

    /// Returns its `_meta` object.
    pub fn meta(&self) -> Option<&'a MetaObject> {
        self.descriptor.meta()
    }
}

/// Function of a rule: returns true if the caller sees the feature.
type IsVisible = dyn Fn(&FeatureRef<'_>, &Caller<'_>) -> bool + Send + Sync;

/// Rule of a server or a namespace.
#[derive(Clone)]
pub(crate) struct Rule(Arc<IsVisible>);

impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Rule")
    }
}

impl Rule {
    pub(crate) fn new(
        rule: impl Fn(&FeatureRef<'_>, &Caller<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(rule))
    }

    /// Returns true if the caller sees the feature. A rule that panics hides it.
    pub(crate) fn allows(&self, feature: &FeatureRef<'_>, caller: &Caller<'_>) -> bool {
        catch(|| (self.0)(feature, caller)).unwrap_or_else(|message| {
            tracing::error!(
                feature = feature.name,
                message,
                "a rule of `visible` panicked"
            );
            false
        })
    }
}
