//! Spans and metrics by the OpenTelemetry [conventions] for the Model Context Protocol.
//!
//! Use the crate `treenail`, which re-exports all of this in `treenail::otel`.
//!
//! A [`Telemetry`] observes servers and clients. It uses the API of the crate [`opentelemetry`] only: the program chooses the SDK and
//! its exporters.
//!
//! [conventions]: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md

// `attributes` has the names of the conventions, `operation` one span with its measurement, `server` and `client` its two sides.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod attributes;
mod baggage;
#[cfg(feature = "client")]
mod client;
mod operation;
mod propagation;
mod server;
mod telemetry;

pub use opentelemetry;

pub use self::telemetry::{Telemetry, TelemetryBuilder};
