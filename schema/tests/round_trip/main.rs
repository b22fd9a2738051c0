//! What is read is written the same, for every type and revision; and the wrong thing is not read.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod older;
mod revisions;
mod samples;
mod unions;
