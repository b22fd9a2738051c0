//! The tool loop: models.

#![allow(
    clippy::unwrap_used,
    reason = "a test that finds nothing to unwrap fails, as it should"
)]

mod openai;
