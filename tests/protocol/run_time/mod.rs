//! Features that are made at run time.
//!
//! The modules with a path are those of the macro-made features: the same tables run for both kinds. `super::weather` and
//! the like are servers whose features macros make, or in this module their twins that are made at run time.

mod declared;
mod edits;
mod invalid;
mod raw;
mod removed_states;
mod reserved_keys;
mod sources;
mod text_arguments;
mod twins;

use crate::support::asking::twin as asking;
use crate::support::echo::twin as echo;
use crate::support::faulty::twin as faulty;
use crate::support::hotel::twin as hotel;
use crate::support::library::twin as library;
use crate::support::notes::twin as notes;
use crate::support::office::twin as office;
use crate::support::reception::twin as reception;
use crate::support::shapes::twin as shapes;
use crate::support::slow::twin as slow;
use crate::support::station::twin as station;
use crate::support::team::twin as team;
use crate::support::weather::twin as weather;

#[path = "../arguments.rs"]
mod arguments;
#[path = "../cancellation.rs"]
mod cancellation;
#[path = "../completion.rs"]
mod completion;
#[path = "../elicitation/combined/mod.rs"]
mod elicitation_combined;
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
#[path = "../layers/mod.rs"]
mod layers;
#[path = "../legacy_subscriptions.rs"]
mod legacy_subscriptions;
#[path = "../lists.rs"]
mod lists;
#[path = "../malformed.rs"]
mod malformed;
#[path = "../namespaces.rs"]
mod namespaces;
#[path = "../outputs.rs"]
mod outputs;
#[path = "../policy.rs"]
mod policy;
#[path = "../prompts.rs"]
mod prompts;
#[path = "../registry.rs"]
mod registry;
#[path = "../request_layers/mod.rs"]
mod request_layers;
#[path = "../requests.rs"]
mod requests;
#[path = "../resources.rs"]
mod resources;
#[path = "../sessions.rs"]
mod sessions;
#[path = "../streams/mod.rs"]
mod streams;
#[path = "../structured.rs"]
mod structured;
#[path = "../subscription_lifetime.rs"]
mod subscription_lifetime;
#[path = "../truncation.rs"]
mod truncation;
#[path = "../visibility/mod.rs"]
mod visibility;
