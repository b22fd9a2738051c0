//! Names of servers over HTTP.

pub use crate::ask::{NO_RANDOM_BYTES, SealError, random_id};
#[cfg(feature = "http-server")]
pub use crate::error::listen_error;
pub use crate::request_id::IdKey;
pub use crate::revision::{CachedPeer, Peer, stated_version};
pub use crate::scope::INSUFFICIENT_SCOPE;
pub use crate::server::ParsedMessage;
pub use crate::server::subscriptions::{Decision, Review, Unreviewed};
pub use crate::stream_close::StreamCloser;
pub use crate::tool::header_params::HeaderParam;
#[cfg(any(feature = "http-server", feature = "client"))]
pub use crate::tool::header_params::{Ambiguity, FoundArgument, find_arguments};
#[cfg(feature = "http-server")]
pub use crate::wire::{any_error_code, error_code, parse_with_known_meta};
pub use crate::wire::{keep_one_line, object, write_error};
