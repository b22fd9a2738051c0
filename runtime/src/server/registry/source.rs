//! Source of entries: a mounted type, a set of functions, or a provider.

use std::any::TypeId;
use std::borrow::Cow;

use crate::panic::drop_values;
use crate::scope::RequiredScopes;
use crate::server::absence::Absence;
use crate::server::provider::Provider;
use crate::visibility::Rule;

/// Mounted type or set of functions that entries were added with.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) mounted: Option<TypeId>,
    pub(crate) instructions: Cow<'static, str>,
    /// The scopes of entries that declare none.
    pub(crate) scopes: RequiredScopes,
    /// The [`FeatureSource`](crate::FeatureSource) whose content it is.
    pub(crate) provider: Option<Provider>,
    pub(crate) absence: Option<Absence>,
    /// The rules of its namespaces.
    pub(crate) rules: Vec<Rule>,
    /// Set if it has instructions but no entries.
    pub(crate) bare: bool,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.rules.drain(..).for_each(drop_values);
    }
}
