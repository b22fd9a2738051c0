//! Tests of metadata and their discovery.
