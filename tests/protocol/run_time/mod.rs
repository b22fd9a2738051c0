//! Features that are made at run time.
//!
//! The modules with a path are those of the macro-made features: the same tables run for both kinds. `super::weather` and
//! the like are servers whose features macros make, or in this module their twins that are made at run time.

mod edits;
mod raw;
mod twins;

use crate::support::faulty::twin as faulty;
use crate::support::hotel::twin as hotel;
use crate::support::library::twin as library;
use crate::support::notes::twin as notes;
use crate::support::slow::twin as slow;
use crate::support::station::twin as station;
use crate::support::weather::twin as weather;

#[path = "../arguments.rs"]
mod arguments;
#[path = "../cancellation.rs"]
mod cancellation;
#[path = "../completion.rs"]
mod completion;
#[path = "../elicitation/legacy.rs"]
mod elicitation_legacy;
#[path = "../elicitation/limits.rs"]
mod elicitation_limits;
#[path = "../elicitation/revisions.rs"]
mod elicitation_revisions;
#[path = "../elicitation/state.rs"]
mod elicitation_state;
#[path = "../faults.rs"]
mod faults;
#[path = "../legacy_subscriptions.rs"]
mod legacy_subscriptions;
#[path = "../outputs.rs"]
mod outputs;
#[path = "../policy.rs"]
mod policy;
#[path = "../prompts.rs"]
mod prompts;
#[path = "../resources.rs"]
mod resources;
#[path = "../streams/mod.rs"]
mod streams;
#[path = "../subscription_lifetime.rs"]
mod subscription_lifetime;
