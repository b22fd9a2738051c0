//! Client id of a flow: pre-registered, a metadata document, a dynamic registration, or the answer of the caller.

mod document;
mod dynamic;

use self::document::document_client;
pub(super) use self::document::{check_document_url, document};
use super::credentials::ClientCredentials;
use super::grant::GrantRequest;
use super::settings::Settings;
use super::store::{RegistrationRecord, ServerRecord, StoreKey, delete_if, load, save_locked};
use super::token::{Client, ClientProof};
use crate::AuthError;

/// Client of a flow.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) client: Client,
    /// The client is from an earlier dynamic registration.
    pub(super) is_stored: bool,
}

/// Returns the redirect URI of the stored registration, if a flow would use it.
pub(super) async fn known_redirect_uri(
    request: &GrantRequest<'_>,
) -> Result<Option<String>, AuthError> {
    if configured(request).await?.is_some() {
        return Ok(None);
    }
    let record = stored(request.settings, &request.metadata.issuer).await?;
    Ok(record.and_then(|record| record.redirect_uris.into_iter().next()))
}

/// Returns the client for a flow with this redirect URI, and registers it if necessary.
pub(super) async fn client(
    request: &GrantRequest<'_>,
    redirect_uri: &str,
) -> Result<Registered, AuthError> {
    let fresh = |client| Registered {
        client,
        is_stored: false,
    };
    if let Some(client) = configured(request).await? {
        return Ok(fresh(client));
    }
    let issuer = &request.metadata.issuer;
    let record = stored(request.settings, issuer).await?;
    if let Some(record) =
        record.filter(|one| one.redirect_uris.iter().any(|uri| uri == redirect_uri))
    {
        return Ok(Registered {
            client: registered_client(record),
            is_stored: true,
        });
    }
    if let Some(endpoint) = &request.metadata.registration_endpoint {
        request.count();
        let record = dynamic::register(request, endpoint, redirect_uri).await?;
        // One that cannot be used is not stored, so that a later attempt registers another one.
        registered_client(record.clone()).check(request.metadata)?;
        let key = StoreKey::registration(issuer);
        let saved = save_locked(&*request.settings.store, &key, record).await?;
        return Ok(fresh(registered_client(saved.record)));
    }
    if let Some(ask) = &request.settings.ask_client {
        // The program may ask its user.
        request.count();
        let credentials = ask(issuer.clone()).await?;
        // The caller has seen the issuer.
        credentials.check_issuer(issuer, None)?;
        return Ok(fresh(credentials.client));
    }
    let reason = format!(
        "the authorization server {issuer} offers neither client id metadata documents nor dynamic registration that this client \
         can use; register a client there and configure it with `OAuth::client`"
    );
    Err(AuthError::NotAuthorized(reason.into()))
}

/// Returns the client that obtained stored tokens. `None` if this program is configured as another one.
///
/// Only the last registration at an issuer is stored. Clients of former ones are usually public, so their id is all that the
/// authorization server asks for.
pub(super) async fn client_with_id(
    settings: &Settings,
    issuer: &str,
    client_id: &str,
) -> Result<Option<Client>, AuthError> {
    if let Some(credentials) = settings
        .client
        .as_ref()
        .filter(|one| one.client.id == client_id)
    {
        let bound = bound_issuer(settings, credentials).await?;
        credentials.check_issuer(issuer, bound.as_deref())?;
        return Ok(Some(credentials.client.clone()));
    }
    if settings.document.as_deref() == Some(client_id) {
        return Ok(Some(Client::public(client_id)));
    }
    let record = stored(settings, issuer).await?;
    if let Some(record) = record.filter(|record| record.client_id == client_id) {
        return Ok(Some(registered_client(record)));
    }
    let Some(ask) = &settings.ask_client else {
        let is_registered = settings.client.is_none() && settings.document.is_none();
        return Ok(is_registered.then(|| Client::public(client_id)));
    };
    let credentials = ask(issuer.to_owned()).await?;
    credentials.check_issuer(issuer, None)?;
    Ok(Some(credentials.client).filter(|client| client.id == client_id))
}

/// Deletes the registration of a client. Another process may have registered another one meanwhile, which remains.
pub(super) async fn forget(
    settings: &Settings,
    issuer: &str,
    client_id: &str,
) -> Result<(), AuthError> {
    let is_meant = |record: &RegistrationRecord| record.client_id == client_id;
    let key = StoreKey::registration(issuer);
    delete_if(&*settings.store, &key, is_meant).await.map(drop)
}

/// Deletes the registration of a public client, or the issuer of an unbound client id. Tokens of other servers may need the secret
/// of a confidential client, and only the id of a public one.
pub(super) async fn forget_public(
    settings: &Settings,
    issuer: &str,
    client_id: &str,
) -> Result<(), AuthError> {
    let store = &*settings.store;
    let is_public = |record: &RegistrationRecord| record.client_secret.is_none();
    let is_meant = |record: &RegistrationRecord| record.client_id == client_id && is_public(record);
    delete_if(store, &StoreKey::registration(issuer), is_meant).await?;
    let is_meant = |record: &ServerRecord| record.issuer == issuer;
    delete_if(store, &StoreKey::binding(client_id), is_meant)
        .await
        .map(drop)
}

/// Returns true if this client has credentials for an issuer, and not for every other one, without asking anybody.
pub(super) async fn has_credentials(settings: &Settings, issuer: &str) -> Result<bool, AuthError> {
    if let Some(credentials) = &settings.client {
        let bound = bound_issuer(settings, credentials).await?;
        return Ok(credentials.is_bound_to(issuer, bound.as_deref()));
    }
    Ok(stored(settings, issuer).await?.is_some())
}

/// Binds a configured client id without issuer to the first issuer that has issued tokens to it.
pub(super) async fn bind(
    settings: &Settings,
    issuer: &str,
    client_id: &str,
) -> Result<(), AuthError> {
    let Some(credentials) = settings
        .client
        .as_ref()
        .filter(|one| one.client.id == client_id)
    else {
        return Ok(());
    };
    if bound_issuer(settings, credentials).await?.is_some() {
        return Ok(());
    }
    let record = ServerRecord {
        resource: None,
        issuer: issuer.to_owned(),
        client_id: client_id.to_owned(),
    };
    let key = StoreKey::binding(client_id);
    save_locked(&*settings.store, &key, record).await.map(drop)
}

/// Returns the client of a grant without a user, which is never registered dynamically.
pub(super) async fn configured_client(request: &GrantRequest<'_>) -> Result<Client, AuthError> {
    let client = configured(request).await?;
    client.ok_or_else(|| {
        let issuer = &request.metadata.issuer;
        let reason = format!(
            "the authorization server {issuer} does not read client id metadata documents; register a client there and configure \
             it with `OAuth::client`"
        );
        AuthError::NotAuthorized(reason.into())
    })
}

/// Returns the client that needs no registration.
async fn configured(request: &GrantRequest<'_>) -> Result<Option<Client>, AuthError> {
    let (settings, metadata) = (request.settings, request.metadata);
    if let Some(credentials) = &settings.client {
        let bound = bound_issuer(settings, credentials).await?;
        credentials.check_issuer(&metadata.issuer, bound.as_deref())?;
        return Ok(Some(credentials.client.clone()));
    }
    Ok(document_client(settings, metadata))
}

async fn bound_issuer(
    settings: &Settings,
    credentials: &ClientCredentials,
) -> Result<Option<String>, AuthError> {
    let key = StoreKey::binding(&credentials.client.id);
    let entry = load::<ServerRecord>(&*settings.store, &key).await?;
    Ok(entry.map(|entry| entry.record.issuer))
}

/// Returns the stored registration at an issuer, unless its secret has expired.
async fn stored(
    settings: &Settings,
    issuer: &str,
) -> Result<Option<RegistrationRecord>, AuthError> {
    let key = StoreKey::registration(issuer);
    let entry = load::<RegistrationRecord>(&*settings.store, &key).await?;
    let now = settings.clock.now();
    let is_valid =
        |record: &RegistrationRecord| record.secret_expires_at.is_none_or(|end| now < end);
    Ok(entry.map(|entry| entry.record).filter(is_valid))
}

fn registered_client(record: RegistrationRecord) -> Client {
    Client {
        id: record.client_id,
        proof: record
            .client_secret
            .map_or(ClientProof::None, ClientProof::Secret),
        registered_method: record.auth_method,
    }
}
