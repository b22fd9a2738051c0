//! Comparison of the URL of a resource with that of a server.

use http::Uri;
use treenail_http_client::url;

/// Returns the URL of a server in the form of a resource: scheme and host in lower case, no fragment, no bare slash.
pub(crate) fn canonical(server: &Uri) -> String {
    let mut text = origin(server);
    let path = server.path_and_query().map_or("", |path| path.as_str());
    if path != "/" {
        text.push_str(path);
    }
    text
}

/// Returns scheme, host and port as written, in lower case.
pub(super) fn origin(url: &Uri) -> String {
    let scheme = url.scheme_str().unwrap_or_default();
    let authority = url.authority().map_or("", |authority| authority.as_str());
    format!("{scheme}://{authority}").to_ascii_lowercase()
}

/// Returns true if the resource with this URL covers `server`: same scheme, host and port, and a path that is equal or a
/// prefix at the end of a segment. `is_strict` demands the same path.
pub(super) fn covers(resource: &str, server: &Uri, is_strict: bool) -> bool {
    if resource.contains('#') || !resource.bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
        return false;
    }
    let Ok(parsed) = url::parse(resource) else {
        return false;
    };
    if !url::is_same_origin(&parsed, server) || has_dot_segment(parsed.path()) {
        return false;
    }
    let is_same_query = parsed.query() == server.query();
    if is_strict {
        let root = |path: &str| (path != "/").then(|| path.to_owned());
        return root(parsed.path()) == root(server.path()) && is_same_query;
    }
    let base = parsed.path().strip_suffix('/').unwrap_or(parsed.path());
    let rest = server.path().strip_prefix(base);
    let is_prefix = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_prefix && (parsed.query().is_none() || is_same_query)
}

/// Returns true if a segment of a path is `.` or `..`, possibly encoded.
fn has_dot_segment(path: &str) -> bool {
    let path = path.to_ascii_lowercase().replace("%2e", ".");
    path.split(['/', '\\'])
        .flat_map(|segment| segment.split("%2f"))
        .flat_map(|segment| segment.split("%5c"))
        .any(|segment| matches!(segment, "." | ".."))
}
