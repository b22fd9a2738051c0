//! Requests of functions to the client (elicitation, sampling, roots), in both eras.

mod binding;
mod combined;
mod forwarded;
mod legacy;
mod limits;
mod once;
mod revisions;
mod sampling;
mod state;
mod stops;
mod unusable;

use super::{asking, hotel};
