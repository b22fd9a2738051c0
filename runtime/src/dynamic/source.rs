//! Sources of features that change while a server runs.

use std::sync::Arc;

use super::IntoFeatures;
use crate::server::absence::Absence;
use crate::server::provider::{Provider, SourceId};
use crate::server::{Namespace, Parts};

/// Source of features that change while a server runs, such as another server or a folder of plug-ins. Needs the feature
/// `dynamic`.
///
/// [`Edit::provide`](crate::Edit::provide) sets all of its features. A clone is the same source.
///
/// ```
/// use treenail::Server;
/// use treenail::dynamic::{FeatureSource, Tool};
///
/// let server = Server::builder("demo", "1.0.0").dynamic().build()?;
/// let plugins = FeatureSource::new("plugins").instructions("The tools of all installed plug-ins.");
/// let clock = Tool::new("clock").handler(|_, _| async { "12:00" });
/// server.edit(|edit| edit.provide(&plugins, clock))?; // adds `plugins.clock`
/// server.edit(|edit| edit.provide(&plugins, []))?; // removes it
/// # Ok::<(), treenail::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FeatureSource {
    id: SourceId,
    namespace: Arc<str>,
    instructions: Arc<str>,
    absence: Option<Absence>,
}

impl FeatureSource {
    /// Creates a source whose features are in a namespace, or have no prefix if it is empty.
    pub fn new(namespace: impl AsRef<str>) -> Self {
        Self {
            id: SourceId::new(),
            namespace: namespace.as_ref().into(),
            instructions: "".into(),
            absence: None,
        }
    }

    /// Sets instructions for the model, which are a part of those of the server from the next
    /// [`Edit::provide`](crate::Edit::provide) on.
    #[must_use]
    pub fn instructions(mut self, instructions: impl AsRef<str>) -> Self {
        self.instructions = instructions.as_ref().into();
        self
    }

    /// Sets a function that returns the reason why the source does not have its features at present, if there is one. Errors of
    /// requests for unknown features of its namespace contain it, unless callers see different features.
    #[doc(hidden)]
    #[must_use]
    pub fn absence(mut self, explain: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.absence = Some(Absence::new(&self.namespace, explain));
        self
    }

    pub(crate) fn provider(&self) -> Provider {
        self.id.provider()
    }

    /// Returns the features as a part of a server.
    pub(crate) fn parts(&self, features: impl IntoFeatures) -> Result<Parts, String> {
        let fill = |namespace: Namespace| namespace.add(features);
        let root = Namespace::root();
        let filled = match &*self.namespace {
            "" => fill(root),
            namespace => root.namespace(namespace, fill),
        };
        let mut parts = filled.into_parts()?;
        for group in &mut parts.groups {
            group.provider = Some(self.provider());
            group.absence.clone_from(&self.absence);
            group.instructions = (*self.instructions).to_owned().into();
        }
        Ok(parts)
    }
}
