//! Rules that decide which items of a server a caller sees and may use.

use std::fmt;
use std::sync::Arc;

use treenail_schema::{
    ClientCapabilities, Implementation, MetaObject, Prompt, Resource, ResourceTemplate, Tool,
};

use crate::extensions::{Extensions, Principal};
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

    /// Returns true if the caller has the scopes that an item [requires](Item::scopes).
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

/// Descriptor of an [`Item`], as peers receive it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ItemDescriptor<'a> {
    /// A tool.
    Tool(&'a Tool),
    /// A prompt.
    Prompt(&'a Prompt),
    /// A resource with a URI of its own.
    Resource(&'a Resource),
    /// A template of resources.
    Template(&'a ResourceTemplate),
}

/// Tool, prompt, resource or template, for the rules of [`ServerBuilder::visible`](crate::ServerBuilder::visible).
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    pub(crate) name: &'a str,
    pub(crate) descriptor: ItemDescriptor<'a>,
    pub(crate) scopes: &'a RequiredScopes,
}

impl<'a> Item<'a> {
    /// Returns the full name with dots, such as `admin.users.delete`, also on a server with another
    /// [separator](crate::ServerBuilder::name_separator).
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the URI of a resource, or the text of a template.
    pub fn uri(&self) -> Option<&'a str> {
        match self.descriptor {
            ItemDescriptor::Resource(resource) => Some(&resource.uri),
            ItemDescriptor::Template(template) => Some(&template.uri_template),
            ItemDescriptor::Tool(_) | ItemDescriptor::Prompt(_) => None,
        }
    }

    /// Returns true if the item is in `namespace`, or in a namespace nested in it.
    pub fn is_in(&self, namespace: impl AsRef<str>) -> bool {
        let rest = self.name.strip_prefix(namespace.as_ref());
        rest.is_some_and(|rest| rest.starts_with('.'))
    }

    /// Returns the descriptor.
    pub fn descriptor(&self) -> ItemDescriptor<'a> {
        self.descriptor
    }

    /// Returns the descriptor of a tool, with its annotations.
    pub fn tool(&self) -> Option<&'a Tool> {
        match self.descriptor {
            ItemDescriptor::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Returns the scopes that its requests require.
    pub fn scopes(&self) -> &'a RequiredScopes {
        self.scopes
    }

    /// Returns its `_meta` object.
    pub fn meta(&self) -> Option<&'a MetaObject> {
        match self.descriptor {
            ItemDescriptor::Tool(tool) => tool.meta.as_ref(),
            ItemDescriptor::Prompt(prompt) => prompt.meta.as_ref(),
            ItemDescriptor::Resource(resource) => resource.meta.as_ref(),
            ItemDescriptor::Template(template) => template.meta.as_ref(),
        }
    }
}

/// Function of a rule: returns true if the caller sees the item.
type IsVisible = dyn Fn(&Item<'_>, &Caller<'_>) -> bool + Send + Sync;

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
        rule: impl Fn(&Item<'_>, &Caller<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(rule))
    }

    /// Returns true if the caller sees the item. A rule that panics hides it.
    pub(crate) fn allows(&self, item: &Item<'_>, caller: &Caller<'_>) -> bool {
        catch(|| (self.0)(item, caller)).unwrap_or_else(|message| {
            tracing::error!(item = item.name, message, "a rule of `visible` panicked");
            false
        })
    }
}
