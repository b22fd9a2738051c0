//! Resources that a crate above provides and replaces while a server runs.

use treenail_schema::CacheScope;

use crate::context::Context;
pub use crate::server::resource_source::{ReadResource, ResourceSource, VisibleResources};

/// Returns the permission for clients to cache lists: the time in milliseconds, and whether users may share them. `None` in revisions
/// that do not transmit it.
pub fn caching(context: &Context) -> Option<(u64, CacheScope)> {
    let is_modern = context.state().peer.revision().is_modern();
    is_modern.then(|| context.server().list_caching())
}
