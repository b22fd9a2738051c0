//! Tools with outputs of every shape, made at run time. Their types give the schemas.

use treenail::dynamic::{Fold, Tool};

use super::{Streams, features, whole};
use crate::support::offer::Offer;

/// Adds a tool for each shape.
pub(crate) fn add_shapes<O: Offer>(offer: O) -> O {
    let last = |name: &str| Tool::new(name).fold(Fold::Last);
    offer.with_features(features()).with_features(vec![
        Tool::new("points").stream(|_, _| Streams::points()),
        last("last").stream(|_, _| Streams::last()),
        last("last_of_all").stream(|_, _| Streams::last_of_all()),
        last("last_value").stream(|_, _| Streams::last_value()),
        Tool::new("breaks").stream(|_, _| Streams::breaks()),
    ])
}

/// Adds a tool that returns a complete result.
pub(crate) fn add_result<O: Offer>(offer: O) -> O {
    offer.with_features(vec![Tool::new("whole").handler(|_, _| async { whole() })])
}
