//! Tests of the stores in this crate.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod faulty;
mod memory;
mod sqlite;
