//! Client id metadata documents: the client id is the URL of a document that describes the client.

use http::Uri;
use serde_json::json;

use crate::AuthError;
use crate::client::settings::{Method, Settings};
use crate::client::token::Client;
use crate::client::urls::is_loopback;
use crate::metadata::AuthorizationServerMetadata;

/// Checks the URL of a document: `https` with a path, without fragment, user name and dot segments.
pub(crate) fn check_document_url(url: &str) -> Result<(), AuthError> {
    let invalid = || {
        let reason = format!(
            "the client id {url:?} must be an `https` URL with a path, without fragment, user name and dot segments"
        );
        AuthError::invalid(reason)
    };
    let parsed: Uri = url.parse().map_err(|_| invalid())?;
    let authority = parsed.authority().ok_or_else(invalid)?;
    let has_dots = |path: &str| {
        path.split('/').any(|segment| {
            let segment = segment.to_ascii_lowercase().replace("%2e", ".");
            segment == "." || segment == ".."
        })
    };
    let is_valid = parsed.scheme_str() == Some("https")
        && url.starts_with("https://")
        && !authority.as_str().contains('@')
        && !url.contains('#')
        && parsed.path() != "/"
        && !has_dots(parsed.path());
    if is_valid { Ok(()) } else { Err(invalid()) }
}

/// Returns the client of the document, if the authorization server reads such documents.
pub(super) fn document_client(
    settings: &Settings,
    metadata: &AuthorizationServerMetadata,
) -> Option<Client> {
    let url = settings.document.as_deref()?;
    metadata
        .client_id_metadata_document_supported
        .then(|| Client::public(url))
}

/// Returns the document of a client, as JSON.
pub(crate) fn document(settings: &Settings) -> Result<String, AuthError> {
    let url = settings.document.as_deref().ok_or_else(|| {
        AuthError::invalid("set the URL of the document first, with `OAuth::client_id_url`")
    })?;
    check_document_url(url)?;
    let Method::Grant(grant) = &settings.method else {
        return Err(AuthError::invalid("a token source has no document"));
    };
    let mut document = json!({
        "client_id": url,
        "client_name": &*settings.client_name,
        "grant_types": grant.grant_types(),
        "token_endpoint_auth_method": "none",
    });
    let redirect_uris = grant.redirect_uris();
    // Other grants have no redirect and no response of the authorization endpoint.
    if !redirect_uris.is_empty() {
        document["application_type"] =
            application_type(redirect_uris.iter().map(String::as_str)).into();
        document["redirect_uris"] = redirect_uris.into();
        document["response_types"] = json!(["code"]);
    }
    Ok(document.to_string())
}

/// Returns `native` for loopback redirects, and `web` for others.
pub(super) fn application_type<'a>(
    mut redirect_uris: impl Iterator<Item = &'a str>,
) -> &'static str {
    let is_web = |uri: &str| {
        let uri: Option<Uri> = uri.parse().ok();
        uri.is_some_and(|uri| !uri.host().is_some_and(is_loopback))
    };
    if redirect_uris.any(is_web) {
        "web"
    } else {
        "native"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClientCredentials, IdentityProvider, OAuth};

    /// AUTH-C-57
    #[test]
    fn only_https_urls_with_a_path_are_client_ids() {
        for url in [
            "https://example.com/client.json",
            "https://example.com/a/b?x=1",
        ] {
            assert!(check_document_url(url).is_ok(), "{url}");
        }
        for url in [
            "http://example.com/client.json",
            "https://example.com",
            "https://example.com/",
            "https://example.com/client.json#x",
            "https://user@example.com/client.json",
            "https://example.com/a/../client.json",
            "https://example.com/%2E%2e/client.json",
            "https://example.com/./client.json",
            "client",
            "",
        ] {
            assert!(check_document_url(url).is_err(), "{url}");
        }
    }

    /// AUTH-C-58, AUTH-C-145
    #[test]
    fn a_client_without_a_user_has_neither_redirects_nor_responses() {
        let no_token = || async { Err(AuthError::NotAuthorized("no user".into())) };
        let public = ClientCredentials::public("planner");
        let provider = IdentityProvider::new("https://login.example/token", public, no_token);
        let client = OAuth::enterprise("Planner", provider);
        let client = client.client_id_url("https://app.example/client.json");
        let document: serde_json::Value =
            serde_json::from_str(&client.client_id_document().unwrap()).unwrap();
        let expected = json!({
            "client_id": "https://app.example/client.json",
            "client_name": "Planner",
            "grant_types": ["urn:ietf:params:oauth:grant-type:jwt-bearer"],
            "token_endpoint_auth_method": "none",
        });
        assert_eq!(document, expected);
        let source = OAuth::token_source(|| async { Ok("token".into()) });
        let source = source.client_id_url("https://app.example/client.json");
        assert!(source.client_id_document().is_err());
    }

    /// AUTH-C-63
    #[test]
    fn the_application_type_follows_the_redirects() {
        let of = |uri| application_type(std::iter::once(uri));
        assert_eq!(of("http://127.0.0.1:4000/callback"), "native");
        assert_eq!(of("http://localhost/callback"), "native");
        assert_eq!(of("https://app.example.com/callback"), "web");
    }
}
