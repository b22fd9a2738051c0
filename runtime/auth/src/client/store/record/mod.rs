//! Typed entries of a store, and their versioned JSON.

mod document;

use std::time::SystemTime;

use super::{Generation, StoreKey, StoredEntry, TokenStore};
use crate::{AuthError, Scopes, Secret};

use self::document::Document;

/// Type of an access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenType {
    Bearer,
    Dpop,
}

/// Tokens of one client for one MCP server, under [`StoreKey::tokens`].
#[derive(Clone, Debug)]
pub(crate) struct TokenRecord {
    pub(crate) access_token: Secret,
    pub(crate) token_type: TokenType,
    /// Time of the response, which the renewal before the expiry needs.
    pub(crate) issued_at: SystemTime,
    pub(crate) expires_at: Option<SystemTime>,
    pub(crate) refresh_token: Option<Secret>,
    /// All scopes that were ever asked for, the base of a step-up.
    pub(crate) asked: Scopes,
    /// The scopes of this access token.
    pub(crate) granted: Scopes,
}

/// Result of a dynamic registration, under [`StoreKey::registration`].
#[derive(Clone, Debug)]
pub(crate) struct RegistrationRecord {
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<Secret>,
    /// Time at which the secret expires; `None` if it does not.
    pub(crate) secret_expires_at: Option<SystemTime>,
    /// `token_endpoint_auth_method` of the registration.
    pub(crate) auth_method: Option<String>,
    /// Redirect URIs as registered. A flow with another one needs a registration of its own.
    pub(crate) redirect_uris: Vec<String>,
}

/// `DPoP` key of one client at one issuer, under [`StoreKey::dpop_key`].
#[derive(Clone, Debug)]
pub(crate) struct DpopKeyRecord {
    /// `ES256` or `EdDSA`.
    pub(crate) algorithm: String,
    /// Private key: PKCS#8 DER in base64.
    pub(crate) pkcs8: Secret,
}

/// Last authorization at one MCP server, under [`StoreKey::server`]: a client that starts again finds its tokens without
/// discovery. Also the issuer of a client id under [`StoreKey::binding`].
#[derive(Clone, Debug)]
pub(crate) struct ServerRecord {
    /// `resource`, byte for byte; `None` in legacy mode.
    pub(crate) resource: Option<String>,
    pub(crate) issuer: String,
    pub(crate) client_id: String,
}

/// A record with the generation of its entry.
#[derive(Clone, Debug)]
pub(crate) struct Stored<R> {
    pub(crate) generation: Generation,
    pub(crate) record: R,
}

/// Loads a record. An entry of another version, or with another content, counts as absent and is reported in the log.
pub(crate) async fn load<R: Document>(
    store: &dyn TokenStore,
    key: &StoreKey,
) -> Result<Option<Stored<R>>, AuthError> {
    let Some(entry) = store.load(key).await? else {
        return Ok(None);
    };
    let record = R::from_json(entry.text.expose());
    if record.is_none() {
        tracing::warn!(%key, "the stored entry has an unknown format and is ignored");
    }
    let generation = entry.generation;
    Ok(record.map(|record| Stored { generation, record }))
}

/// Stores a record under a new generation. The caller holds the lock of the key.
pub(crate) async fn save<R: Document>(
    store: &dyn TokenStore,
    key: &StoreKey,
    record: R,
) -> Result<Stored<R>, AuthError> {
    let generation = Generation::random()?;
    let text = record.to_json();
    if text.expose().len() > StoredEntry::MAX {
        let reason = format!("an entry is longer than {} bytes", StoredEntry::MAX);
        return Err(AuthError::Store(reason.into()));
    }
    store.store(key, StoredEntry::new(generation, text)).await?;
    Ok(Stored { generation, record })
}

/// Stores a record under a new generation, with the lock of its key.
pub(crate) async fn save_locked<R: Document>(
    store: &dyn TokenStore,
    key: &StoreKey,
    record: R,
) -> Result<Stored<R>, AuthError> {
    let _lock = store.lock(key).await?;
    save(store, key, record).await
}

/// Deletes the record of a key if `is_meant` accepts it, and returns it. A file is read and deleted in two steps, between which
/// another process must not replace it.
pub(crate) async fn delete_if<R: Document>(
    store: &dyn TokenStore,
    key: &StoreKey,
    is_meant: impl Fn(&R) -> bool,
) -> Result<Option<R>, AuthError> {
    let _lock = store.lock(key).await?;
    let entry = load::<R>(store, key).await?;
    let Some(entry) = entry.filter(|entry| is_meant(&entry.record)) else {
        return Ok(None);
    };
    store.delete(key, entry.generation).await?;
    Ok(Some(entry.record))
}
