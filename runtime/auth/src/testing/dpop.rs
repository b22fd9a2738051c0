//! DPoP proofs at the token endpoint (RFC 9449, section 5).

use std::time::Duration;

use bytes::Bytes;
use http::Request;

use super::reply::Failure;
use super::state::{Shared, State};
use crate::jose::{Expected, check_proof};

/// Maximum age of a proof.
const WINDOW: Duration = Duration::from_secs(300);

/// Returns the thumbprint of the key that the request proves, if it has a proof.
pub(super) fn proven_key(
    shared: &Shared,
    state: &mut State,
    request: &Request<Bytes>,
) -> Result<Option<String>, Failure> {
    let invalid = |description| Failure::new("invalid_dpop_proof", description);
    let mut proofs = request.headers().get_all("dpop").iter();
    let Some(proof) = proofs.next() else {
        if shared.settings.requires_dpop {
            return Err(invalid("the request has no proof"));
        }
        return Ok(None);
    };
    if proofs.next().is_some() {
        return Err(invalid("the request has two proofs"));
    }
    let url = shared.settings.url("/token");
    let expected = Expected {
        method: "POST",
        url: &url,
        token: None,
        now: shared.now(state),
        window: WINDOW,
    };
    let proof = proof
        .to_str()
        .map_err(|_| invalid("the proof is malformed"))?;
    let proof = check_proof(proof, &expected).map_err(|error| invalid(error.0))?;
    if shared.settings.requires_nonce && proof.nonce.as_ref() != Some(&state.nonce) {
        let reason = "the proof must contain the nonce of the header `DPoP-Nonce`";
        return Err(Failure::new("use_dpop_nonce", reason));
    }
    let id = format!("dpop {} {}", proof.thumbprint, proof.id);
    if !state.used_ids.insert(id) {
        return Err(invalid("the proof was used before"));
    }
    Ok(Some(proof.thumbprint))
}
