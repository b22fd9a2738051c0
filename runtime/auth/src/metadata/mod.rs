//! Metadata documents of protected resources (RFC 9728) and of authorization servers (RFC 8414, OpenID Connect Discovery).
