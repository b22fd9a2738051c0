//! Steps of an edit, prepared as far as that needs no lock.

use crate::server::config::ServerConfig;
use crate::server::edit::{Change, Component, Step};
use crate::server::namespace::Parts;
use crate::server::provider::Provider;
use crate::server::registry::catalog::Catalog;
use crate::wrap::CallStack;

/// Prepared step of an edit.
pub(super) enum Prepared {
    Add(Catalog),
    Replace(Catalog),
    Provide(Provider, Catalog),
    Change(Component, Change),
}

impl Prepared {
    #[inline]
    pub(super) fn new(
        step: Step,
        stack: &CallStack,
        config: &ServerConfig,
    ) -> Result<Self, String> {
        let content = |parts: Result<Parts, String>| {
            let parts = parts?.check_task_extensions(&config.extensions)?;
            Catalog::new(parts, config.separator.as_deref(), stack)
        };
        Ok(match step {
            Step::Add(parts) => Self::Add(content(parts)?),
            Step::Replace(parts) => Self::Replace(content(parts)?),
            Step::Provide(provider, parts) => Self::Provide(provider, content(parts)?),
            Step::Change(item, change) => Self::Change(item, change),
        })
    }

    /// Changes `catalog`, which is then [finished](Catalog::finish) once for all steps.
    #[inline]
    pub(super) fn apply(&self, catalog: &mut Catalog) -> Result<(), String> {
        match self {
            Self::Add(more) => catalog.merge(more.clone()),
            Self::Replace(more) => catalog.replace(more.clone()),
            Self::Provide(provider, content) => catalog.provide(provider, content.clone()),
            Self::Change(item, change) => return catalog.change(item, *change),
        }
        Ok(())
    }
}
