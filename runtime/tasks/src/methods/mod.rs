//! Methods of tasks: those of the extension (2026-07-28), and those of the core of 2025-11-25.

mod claim;
mod modern;
mod older;
mod questions;
mod result;

use std::sync::Arc;

use treenail_runtime::Extension;

pub(crate) use self::claim::Carried;
use crate::engine::Engine;

/// Adds the methods of all revisions.
pub(crate) fn add(extension: Extension, engine: &Arc<Engine>, list: bool) -> Extension {
    let extension = modern::add(extension, engine);
    let extension = older::add(extension, engine);
    let extension = result::add(extension, engine);
    if list {
        older::add_list(extension, engine)
    } else {
        extension
    }
}
