//! What a session has to bear, over byte streams.

#[path = "faults.rs"]
mod faults;

use crate::script::scripted;
