//! The tool loop, with a scripted model and servers in memory, and the model behind an endpoint. The ids in names and messages
//! are those of the requirements that are exercised.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod approvals;
mod cancelled;
mod errors;
mod events;
mod example;
mod failures;
mod fixture;
mod journal;
mod limits;
mod names;
mod openai;
mod paused;
mod rounds;
mod sampling;
mod scripted;
mod text;
mod within;
