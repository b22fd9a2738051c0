//! Round trips of every type in every revision, and rejection of wrong input.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod older;
mod revisions;
mod samples;
mod unions;
