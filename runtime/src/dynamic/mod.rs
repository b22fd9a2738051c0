//! Tools, prompts, resources and templates that are made at run time: the feature `dynamic`.
//!
//! A builder of this module holds the descriptor that peers see. Its handler completes it to a [`Feature`], which
//! [`ServerBuilder::add`](crate::ServerBuilder::add), [`Namespace::add`](crate::Namespace::add) and
//! [`Edit::add`](crate::Edit::add) register. From there on it is treated like a macro-made one.

mod arguments;
mod checked;
mod common;
mod prompt;
mod raw;
mod read;
mod resource;
mod resource_template;
mod results;
mod source;
mod template;
mod texts;
mod tool;

use std::fmt;

pub use self::arguments::{ArgumentError, Arguments};
pub use self::prompt::Prompt;
pub use self::raw::RawResult;
pub use self::read::ReadRequest;
pub use self::resource::Resource;
pub use self::resource_template::ResourceTemplate;
pub use self::source::FeatureSource;
pub use self::tool::Tool;
use crate::registered::Registered;
use crate::resource::RegisteredResource;
pub use crate::stream::Fold;

/// A tool, a prompt, a resource or a template that is made at run time and complete: it has its handler. Needs the feature
/// `dynamic`.
///
/// It is also an iterator over itself, so that `add` takes one feature as well as a collection of them.
///
/// ```
/// use treenail::dynamic::{Feature, Tool};
/// use treenail::{Server, json};
///
/// let names = ["north", "south"];
/// let tools = names.map(|name| -> Feature {
///     Tool::new(name)
///         .input(json!({"type": "object", "properties": {"steps": {"type": "integer"}}}))
///         .handler(move |_, arguments| async move { format!("{name}: {}", arguments.text()) })
/// });
/// let server = Server::builder("demo", "1.0.0").add(tools).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[must_use = "a feature is part of a server once it is added"]
pub struct Feature {
    kind: &'static str,
    name: String,
    bind: Bind,
}

/// Function that completes the entry of a feature in a namespace.
type Bind = Box<dyn FnOnce(&str) -> Result<Bound, String> + Send + Sync>;

/// Feature that is complete except for its final name.
pub(crate) enum Bound {
    Tool(Registered<treenail_schema::Tool>),
    Prompt(Registered<treenail_schema::Prompt>),
    Resource(RegisteredResource),
}

impl Feature {
    fn new(
        kind: &'static str,
        name: &str,
        bind: impl FnOnce(&str) -> Result<Bound, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            bind: Box::new(bind),
        }
    }

    /// Returns the name, without the namespace that it is added to.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Completes the entry in `namespace`.
    pub(crate) fn bind(self, namespace: &str) -> Result<Bound, String> {
        (self.bind)(namespace)
    }
}

impl fmt::Debug for Feature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Feature")
            .field("kind", &self.kind)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl IntoIterator for Feature {
    type Item = Self;
    type IntoIter = std::iter::Once<Self>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}

/// Features for a server: one, or a collection of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a `Feature` nor a collection of them",
    label = "a feature has a handler",
    note = "`handler`, `blocking`, `stream` or `raw` completes a builder: `Tool::new(\"now\").handler(…)`"
)]
pub trait IntoFeatures: IntoIterator<Item = Feature> {}

#[diagnostic::do_not_recommend]
impl<I: IntoIterator<Item = Feature>> IntoFeatures for I {}
