//! Position of a schema: the name for its type, and its depth.

use super::MAX_DEPTH;
use crate::client::name::{pascal, singular};

/// Maximum length of a qualified name; a longer one is reduced to its last part.
const MAX_NAME_LENGTH: usize = 80;

/// Position of a schema.
#[derive(Clone, Debug)]
pub(in crate::client::schema) struct Place {
    /// The name for its type.
    pub name: String,
    /// The name within the containing type.
    pub(super) local: Option<String>,
    pub(super) depth: usize,
    /// The reference to it, if it is the target of one.
    pub(super) definition: Option<String>,
}

impl Place {
    /// A named part.
    pub(in crate::client::schema) fn part(&self, name: &str) -> Self {
        let local = pascal(name);
        self.inner(format!("{}{local}", self.name), Some(local))
    }

    /// An item of a list or map.
    pub(in crate::client::schema) fn item(&self, otherwise: &str) -> Self {
        let local = self
            .local
            .as_deref()
            .map(|local| singular(local, otherwise));
        self.inner(singular(&self.name, otherwise), local)
    }

    pub(in crate::client::schema) fn is_too_deep(&self) -> bool {
        self.depth > MAX_DEPTH
    }

    /// The same position, for another type.
    pub(in crate::client::schema) fn same(&self) -> Self {
        Self {
            definition: None,
            ..self.clone()
        }
    }

    fn inner(&self, name: String, local: Option<String>) -> Self {
        // Bounds the growth of names with the depth.
        let short = local.clone().filter(|_| name.len() > MAX_NAME_LENGTH);
        Self {
            name: short.unwrap_or(name),
            local,
            depth: self.depth + 1,
            definition: None,
        }
    }
}
