//! Signed tokens and keys: JWS, JWK, JWT and DPoP proofs over `ring` (RFC 7515, 7517, 7519, 7638, 9449).
