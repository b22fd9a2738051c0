//! Key of a client at one authorization server.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, Uri};
use zeroize::Zeroizing;

use super::{DpopAlgorithm, Nonces, PROOF};
use crate::client::settings::Settings;
use crate::client::store::{DpopKeyRecord, StoreKey, load, save};
use crate::jose::{Algorithm, ProofRequest, SigningKey};
use crate::metadata::AuthorizationServerMetadata;
use crate::{AuthError, Clock, Secret};

/// Key of a client at one authorization server. All its tokens there are bound to it.
#[derive(Clone, Debug)]
pub(crate) struct DpopKey {
    key: SigningKey,
    algorithm: Algorithm,
    nonces: Arc<Nonces>,
    clock: Clock,
}

impl DpopKey {
    /// Loads the key of a client from the store, or creates it. `None` if `DPoP` is not configured.
    pub(crate) async fn of(
        settings: &Settings,
        issuer: &str,
        client_id: &str,
    ) -> Result<Option<Self>, AuthError> {
        let Some(dpop) = &settings.dpop else {
            return Ok(None);
        };
        let (store, name) = (&*settings.store, StoreKey::dpop_key(issuer, client_id));
        let stored = load::<DpopKeyRecord>(store, &name).await?;
        let mut key = stored.and_then(|entry| read(&entry.record));
        if key.is_none() {
            let _lock = store.lock(&name).await?;
            // Another process may have created it meanwhile.
            let stored = load::<DpopKeyRecord>(store, &name).await?;
            key = stored.and_then(|entry| read(&entry.record));
            if key.is_none() {
                let new = generate(dpop.algorithm)?;
                save(store, &name, record(&new, dpop.algorithm)).await?;
                key = Some(new);
            }
        }
        Ok(key.map(|key| Self {
            algorithm: key.algorithm(),
            key,
            nonces: Arc::clone(&dpop.nonces),
            clock: settings.clock.clone(),
        }))
    }

    /// Returns the key with a name of its algorithm that an authorization server lists, if it lists algorithms.
    pub(crate) fn at(mut self, metadata: &AuthorizationServerMetadata) -> Result<Self, AuthError> {
        let Some(listed) = &metadata.dpop_signing_alg_values_supported else {
            return Ok(self);
        };
        let listed = listed.iter().map(String::as_str);
        if let Some(algorithm) = self.key.algorithm_among(listed) {
            self.algorithm = algorithm;
            return Ok(self);
        }
        let name = self.algorithm.name();
        let document = format!("metadata of the authorization server {}", metadata.issuer);
        let reason = format!(
            "`dpop_signing_alg_values_supported` does not list {name}, the algorithm of the key of this client; choose another one \
             with `OAuth::dpop_with`, and a new store"
        );
        Err(AuthError::document(document, reason))
    }

    /// Adds a new proof to a request, with the last nonce of the server. `token` is that of a request to the MCP server.
    pub(crate) fn prove(
        &self,
        (method, url): (&str, &Uri),
        token: Option<&Secret>,
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        let nonce = self.nonces.of(url);
        let request = ProofRequest {
            method,
            url: &url.to_string(),
            token: token.map(Secret::expose),
            nonce: nonce.as_deref(),
            now: self.clock.now(),
        };
        let proof = self.key.dpop_proof(self.algorithm, &request)?;
        let invalid = |_| AuthError::invalid("the proof of possession cannot be sent");
        let mut proof = HeaderValue::try_from(proof).map_err(invalid)?;
        proof.set_sensitive(true);
        headers.insert(PROOF, proof);
        Ok(())
    }

    /// Notes the nonce of a response. Returns true if it has one.
    pub(crate) fn observe(&self, url: &Uri, response: &HeaderMap) -> bool {
        self.nonces.observe(url, response)
    }
}

fn generate(algorithm: DpopAlgorithm) -> Result<SigningKey, AuthError> {
    match algorithm {
        DpopAlgorithm::Es256 => SigningKey::generate(),
        DpopAlgorithm::EdDsa => SigningKey::generate_ed25519(),
    }
}

fn record(key: &SigningKey, algorithm: DpopAlgorithm) -> DpopKeyRecord {
    DpopKeyRecord {
        algorithm: algorithm.name().to_owned(),
        pkcs8: STANDARD.encode(key.pkcs8()).into(),
    }
}

/// Reads a stored key. A malformed one is replaced, and its tokens are obtained again.
fn read(record: &DpopKeyRecord) -> Option<SigningKey> {
    let der = STANDARD
        .decode(record.pkcs8.expose())
        .ok()
        .map(Zeroizing::new)?;
    let key = SigningKey::from_pkcs8(&der).ok()?;
    (key.algorithm().name() == record.algorithm).then_some(key)
}
