//! Places of documents.

use http::Uri;

use super::covers::origin;

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// Returns the URLs of the metadata of a resource that announces none, in the order of the protocol.
pub(crate) fn of_resource(server: &Uri) -> Vec<String> {
    let origin = origin(server);
    let root = format!("{origin}{RESOURCE}");
    let path = without_slash(server.path());
    if path.is_empty() && server.query().is_none() {
        return vec![root];
    }
    let query = server
        .query()
        .map_or_else(String::new, |it| format!("?{it}"));
    vec![format!("{root}{path}{query}"), root]
}

/// Returns the URLs of the metadata of an authorization server, in the order of the protocol.
pub(super) fn of_issuer(issuer: &Uri) -> Vec<String> {
    let origin = origin(issuer);
    match without_slash(issuer.path()) {
        "" => vec![format!("{origin}{OAUTH}"), format!("{origin}{OPENID}")],
        path => vec![
            format!("{origin}{OAUTH}{path}"),
            format!("{origin}{OPENID}{path}"),
            format!("{origin}{path}{OPENID}"),
        ],
    }
}

/// Returns the URL of the authorization server metadata of 2025-03-26, at the origin of the MCP server.
pub(super) fn of_legacy_server(server: &Uri) -> String {
    format!("{}{OAUTH}", origin(server))
}

/// Removes one terminating slash, as RFC 8414 and RFC 9728 demand before the insertion.
fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}
