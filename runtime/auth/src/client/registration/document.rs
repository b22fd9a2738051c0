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
    let redirect_uris = match &settings.method {
        Method::Grant(grant) => grant.redirect_uris(),
        Method::Source(_) => Vec::new(),
    };
    let document = json!({
        "client_id": url,
        "client_name": &*settings.client_name,
        "redirect_uris": redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "application_type": application_type(redirect_uris.iter().map(String::as_str)),
        "token_endpoint_auth_method": "none",
    });
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

    /// AUTH-C-63
    #[test]
    fn the_application_type_follows_the_redirects() {
        let of = |uri| application_type(std::iter::once(uri));
        assert_eq!(of("http://127.0.0.1:4000/callback"), "native");
        assert_eq!(of("http://localhost/callback"), "native");
        assert_eq!(of("https://app.example.com/callback"), "web");
    }
}
