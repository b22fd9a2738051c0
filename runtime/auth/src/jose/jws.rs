//! Compact tokens (RFC 7515, section 7.1), read strictly.

use serde_json::{Map, Value};

use super::base64url_decode as decode;
use super::json::parse_object;
use super::{Algorithm, JoseError, PublicKey, string};

/// Maximum length of a token, in bytes.
const MAX_LENGTH: usize = 16 * 1024;

/// Header members that change the meaning of a token. None is implemented, so a token with one is refused.
const UNSUPPORTED: [&str; 4] = ["crit", "b64", "enc", "zip"];

/// A compact token: well-formed, and not yet verified.
#[derive(Debug)]
pub(crate) struct Jws<'a> {
    header: Header,
    claims: Map<String, Value>,
    signed: &'a str,
    signature: Vec<u8>,
}

/// The members of a header that matter. `jku`, `x5u` and `x5c` are ignored.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) algorithm: Algorithm,
    pub(crate) key_id: Option<Box<str>>,
    /// The type without `application/`, in lower case.
    pub(crate) typ: Option<Box<str>>,
    /// The key of a `DPoP` proof. It proves no other token.
    pub(crate) jwk: Option<Value>,
}

impl<'a> Jws<'a> {
    /// Reads a token of at most 16 KiB: three parts in base64url, of which two are JSON objects without repeated members.
    ///
    /// Refused are unsigned, symmetrically signed, encrypted and nested tokens, and those with `crit` or `b64`.
    pub(crate) fn parse(token: &'a str) -> Result<Self, JoseError> {
        if token.len() > MAX_LENGTH {
            return Err(JoseError("the token is longer than 16 KiB"));
        }
        let malformed = JoseError("the token has not three parts");
        let (signed, signature) = token.rsplit_once('.').ok_or(malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(malformed)?;
        if claims.contains('.') || signature.is_empty() {
            return Err(malformed);
        }
        Ok(Self {
            header: read_header(&parse_object(&decode(header)?)?)?,
            claims: parse_object(&decode(claims)?)?,
            signed,
            signature: decode(signature)?,
        })
    }

    /// Returns the header. It is not verified.
    pub(crate) const fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the claims. They mean nothing before [`verify`](Self::verify) or [`KeySet::verify`](super::KeySet::verify).
    pub(crate) const fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }

    /// Returns the claims, as [`claims`](Self::claims).
    #[cfg(feature = "authorization")]
    pub(crate) fn into_claims(self) -> Map<String, Value> {
        self.claims
    }

    /// Verifies the signature by this key.
    pub(crate) fn verify(&self, key: &PublicKey) -> Result<(), JoseError> {
        if key.verify(
            self.header.algorithm,
            self.signed.as_bytes(),
            &self.signature,
        ) {
            Ok(())
        } else {
            Err(JoseError("the signature is invalid"))
        }
    }
}

fn read_header(members: &Map<String, Value>) -> Result<Header, JoseError> {
    if UNSUPPORTED.iter().any(|name| members.contains_key(*name)) {
        return Err(JoseError(
            "the header has a member that is not supported: `crit`, `b64`, `enc` or `zip`",
        ));
    }
    if string(members, "cty")?.is_some_and(|content| media_type(content) == "jwt") {
        return Err(JoseError("the token is nested"));
    }
    let algorithm = string(members, "alg")?.and_then(Algorithm::from_name);
    Ok(Header {
        algorithm: algorithm.ok_or(JoseError("`alg` is not an asymmetric signature algorithm"))?,
        key_id: string(members, "kid")?.map(Into::into),
        typ: string(members, "typ")?.map(|typ| media_type(typ).into()),
        jwk: members.get("jwk").cloned(),
    })
}

/// Returns a media type in lower case, without the prefix that is optional in headers (RFC 7515, section 4.1.9).
fn media_type(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    match text.strip_prefix("application/") {
        Some(rest) if !rest.contains('/') => rest.to_owned(),
        _ => text,
    }
}
