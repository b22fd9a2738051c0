//! Authorization server in the same process, for tests.
