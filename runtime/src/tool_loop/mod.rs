//! The tool loop: runs a language model with tools until it is done.
//!
//! `model` is what a language model is here.

mod model;

pub use self::model::{Model, ModelError, ModelFeatures, ModelFuture, ModelReply, OnText, Usage};
