//! The tool loop, with a scripted model and in-memory servers, and the model behind an endpoint. The ids in names and messages
//! are those of the requirements that are exercised.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod approvals;
mod background;
mod cancel;
mod errors;
mod events;
mod example;
mod failures;
mod fixture;
mod images;
mod journal;
mod limits;
mod lists;
mod names;
mod nested;
mod nested_questions;
mod openai;
mod output;
mod pause;
mod rounds;
mod sampling;
mod sampling_timeouts;
mod scripted;
mod selection;
mod slow_model;
mod text;
