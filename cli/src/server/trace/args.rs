//! The option `--trace`.

use std::path::{Path, PathBuf};

use clap::Args;

/// Trace of messages.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TraceArgs {
    /// Show every message with its direction and time on standard error, shortened; `--trace=full` shows all of them, and
    /// `--trace=FILE` appends them to a file, as lines of JSON
    #[arg(
        id = "trace",
        long = "trace",
        value_name = "FILE|full",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-",
        value_parser = parse_trace_target
    )]
    pub(crate) target: Option<TraceTarget>,

    /// Name of the server, if there are several.
    #[arg(skip)]
    pub(crate) label: Option<String>,
}

impl TraceArgs {
    /// Returns the file of the trace, if it has one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.target {
            Some(TraceTarget::File(file)) => Some(file),
            _ => None,
        }
    }
}

/// Destination of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TraceTarget {
    Stderr {
        /// Messages are not shortened.
        full: bool,
    },
    File(PathBuf),
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature of a parser of values"
)]
pub(crate) fn parse_trace_target(text: &str) -> Result<TraceTarget, String> {
    Ok(match text {
        "-" => TraceTarget::Stderr { full: false },
        "full" => TraceTarget::Stderr { full: true },
        file => TraceTarget::File(file.into()),
    })
}
