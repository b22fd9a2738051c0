//! The claim `htu`: the URL of a request, without query and fragment.

/// Returns a URL without query and fragment.
#[cfg(any(feature = "oauth", test))]
pub(super) fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Returns true if both URLs have the same normal form (RFC 3986, sections 6.2.2 and 6.2.3), without query and fragment. A slash at
/// the end of the path does not count: both forms lead to the same endpoint.
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
pub(super) fn is_same(proof: &str, request: &str) -> bool {
    let proof = normalize(proof);
    proof.is_some() && proof == normalize(request)
}

/// Returns the normal form of an `http` or `https` URL without user information, without query, fragment and a slash at the end.
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
fn normalize(url: &str) -> Option<String> {
    let url = iri_string::types::UriStr::new(url).ok()?;
    let url = url.normalize().to_string();
    let url = iri_string::types::UriStr::new(&url).ok()?;
    let authority = url.authority_components()?;
    let default_port = match url.scheme_str() {
        "https" => "443",
        "http" => "80",
        _ => return None,
    };
    if authority.userinfo().is_some() || authority.host().is_empty() {
        return None;
    }
    let port = authority
        .port()
        .filter(|port| !port.is_empty() && *port != default_port)
        .unwrap_or(default_port);
    let path = url.path_str();
    let path = path.strip_suffix('/').unwrap_or(path);
    let (scheme, host) = (url.scheme_str(), authority.host());
    Some(format!("{scheme}://{host}:{port}{path}"))
}
