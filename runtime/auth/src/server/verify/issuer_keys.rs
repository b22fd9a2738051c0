//! Keys of an issuer, given or fetched.

use std::time::Duration;

use super::refreshing::Refreshing;
use crate::jose::{JoseError, Jws, KeySet};
use crate::server::VerifyError;

/// Time after a fetch in which an unknown key causes no other one.
const COOLDOWN: Duration = Duration::from_secs(30);

/// Keys that prove the tokens of one issuer.
#[derive(Debug)]
pub(super) enum IssuerKeys {
    Given(KeySet),
    Fetched(Refreshing<KeySet>),
}

impl IssuerKeys {
    /// Verifies the signature of a token.
    ///
    /// If its key is unknown, the keys are fetched again: by one request at a time, and at most once in 30 s. Within this time
    /// tokens with unknown keys are invalid, so the negative cache is one time, whatever peers send.
    pub(super) async fn verify(&self, token: &Jws<'_>) -> Result<(), VerifyError> {
        let fetched = match self {
            Self::Given(keys) => return judge(keys.verify(token)),
            Self::Fetched(fetched) => fetched,
        };
        let keys = fetched.get().await?;
        match keys.verify(token) {
            Ok(false) => {}
            verified => return judge(verified),
        }
        match fetched.newer(&keys, COOLDOWN).await? {
            Some(keys) => judge(keys.verify(token)),
            None => Err(VerifyError::Invalid),
        }
    }
}

/// Judges the result of [`KeySet::verify`].
fn judge(verified: Result<bool, JoseError>) -> Result<(), VerifyError> {
    match verified {
        Ok(true) => Ok(()),
        Ok(false) => {
            tracing::debug!("the key of an access token is unknown");
            Err(VerifyError::Invalid)
        }
        Err(reason) => {
            tracing::debug!(%reason, "an access token is invalid");
            Err(VerifyError::Invalid)
        }
    }
}
