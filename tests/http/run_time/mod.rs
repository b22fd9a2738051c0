//! Features that are made at run time: the same tables as for macro-made features, with twins of their servers.

mod authorization;

use crate::fixture::twin as fixture;

#[path = "../modern/mod.rs"]
mod modern;
