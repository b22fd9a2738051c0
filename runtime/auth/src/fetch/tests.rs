//! Tests of guarded requests.
