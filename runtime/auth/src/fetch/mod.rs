//! Requests to servers that a peer has named: bounded, and only to allowed addresses.
