//! Servers, namespaces and edits: features of both kinds are added to each of them.

use treenail::ServerBuilder;
use treenail::dynamic::Feature;
use treenail::server::{Edit, Mount, Namespace};
use treenail::tool::ToolSet;

/// Builder or edit of an offer, to which features are added.
pub(crate) trait Offer: Sized {
    fn with_mounted<T: Mount>(self, state: T) -> Self;

    fn with_tools(self, tools: ToolSet) -> Self;

    fn with_features(self, features: Vec<Feature>) -> Self;
}

macro_rules! offer {
    ($($offer:ty),*) => {
        $(impl Offer for $offer {
            fn with_mounted<T: Mount>(self, state: T) -> Self {
                self.mount(state)
            }

            fn with_tools(self, tools: ToolSet) -> Self {
                self.tools(tools)
            }

            fn with_features(self, features: Vec<Feature>) -> Self {
                self.add(features)
            }
        })*
    };
}

offer!(ServerBuilder, Namespace, Edit);
