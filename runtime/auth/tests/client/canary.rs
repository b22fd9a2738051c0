//! Secrets in no output.
