//! Challenges: the parser and the writer of `WWW-Authenticate` (RFC 9110, section 11).
