//! Connections over HTTP.

use std::sync::Arc;

use treenail::ClientError;
use treenail::auth::OAuth;
use treenail::client::{ClientLimits, HttpSession, HttpSessionBuilder, Session};

use super::trace::Trace;
use crate::args::ServerArgs;
use crate::exit::Failure;

/// Creates a session with the server at a URL that adds headers to each request. A header `Authorization` replaces `oauth`.
pub(super) fn open_session(
    args: &ServerArgs,
    (url, headers): (&str, &[(String, String)]),
    oauth: Option<OAuth>,
    (limits, trace): (&ClientLimits, Option<&Trace>),
) -> Result<Arc<dyn Session>, Failure> {
    let builder = args.tls.session(url, session_builder(url, headers))?;
    let builder = builder.limits(limits.clone());
    let is_set = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
    let builder = match (oauth.filter(|_| !headers.iter().any(is_set)), trace) {
        (Some(oauth), Some(trace)) => builder.authorization(trace.redacted(oauth)),
        (Some(oauth), None) => builder.authorization(oauth),
        (None, _) => builder,
    };
    Ok(Arc::new(builder.build()?))
}

/// Checks a URL and the headers of its requests, as a connection does.
pub(crate) fn check_request(url: &str, headers: &[(String, String)]) -> Result<(), Failure> {
    match session_builder(url, headers).build() {
        Err(ClientError::Invalid(reason)) => Err(Failure::usage(&*reason)),
        // Others concern this computer.
        Ok(_) | Err(_) => Ok(()),
    }
}

fn session_builder(url: &str, headers: &[(String, String)]) -> HttpSessionBuilder {
    let builder = HttpSession::builder(url);
    headers.iter().fold(builder, |builder, (name, value)| {
        builder.header(name, value)
    })
}

/// Returns a URL with the usual path, for a URL without one.
pub(super) fn url_with_path(url: &str) -> Option<String> {
    let parsed: ::http::Uri = url.parse().ok()?;
    let (scheme, authority) = (parsed.scheme_str()?, parsed.authority()?);
    // A user name or a password is not repeated.
    let address = authority.as_str().rsplit('@').next()?;
    let has_path = parsed.path().len() > 1;
    (!has_path).then(|| format!("{scheme}://{address}/mcp"))
}

/// Returns a URL without parts that may be secret: user, password, query and fragment.
pub(crate) fn describe_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}/{path}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_path_is_proposed() {
        let cases = [
            ("http://localhost:80", Some("http://localhost:80/mcp")),
            ("https://a:b@example.com/", Some("https://example.com/mcp")),
            ("http://localhost/x", None),
            ("localhost", None),
        ];
        for (url, expected) in cases {
            assert_eq!(url_with_path(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_described_url_has_no_secrets() {
        for (url, expected) in [
            ("https://me:pw@host:1/mcp?key=1#a", "https://host:1/mcp"),
            ("https://host?key=1", "https://host/"),
            ("host/mcp?key=1", "host/mcp"),
        ] {
            assert_eq!(describe_url(url), expected, "{url}");
        }
    }
}
