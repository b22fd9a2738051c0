//! Signature algorithms (RFC 7518, section 3; RFC 8037; RFC 9864).

/// An asymmetric signature algorithm. All others, such as `none` and `HS256`, have no value here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Algorithm {
    Es256,
    Es384,
    /// Ed25519, under its former name `EdDSA`.
    EdDsa,
    /// Ed25519, under its fully specified name.
    Ed25519,
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
}

impl Algorithm {
    /// All algorithms, those with the shortest signatures first.
    #[cfg(feature = "authorization")]
    pub(crate) const ALL: [Self; 10] = [
        Self::Es256,
        Self::EdDsa,
        Self::Ed25519,
        Self::Es384,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
    ];

    /// Returns the name in `alg`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
            Self::Ed25519 => "Ed25519",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
        }
    }

    /// Returns the algorithm of an exact name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "EdDSA" => Self::EdDsa,
            "Ed25519" => Self::Ed25519,
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            _ => return None,
        })
    }
}
