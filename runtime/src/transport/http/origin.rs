//! Who may ask: defence against pages that reach a local server through a browser (DNS rebinding).

use std::sync::Arc;

use http::header::{HOST, HeaderMap, ORIGIN};
use http::request::Parts;
use http::uri::{Authority, Uri};
use http::{HeaderValue, StatusCode};

use crate::seldom::Seldom;
use crate::transport::http::reply::Refusal;

/// The hosts and origins that requests may name.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    hosts: Allowed,
    origins: Allowed,
    warned: Arc<Seldom>,
}

/// This computer, and what else is allowed.
#[derive(Clone, Debug)]
enum Allowed {
    Any,
    /// In lower case.
    Listed(Vec<String>),
}

impl Default for Allowed {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl Allowed {
    fn add(&mut self, name: &str) {
        if let Self::Listed(names) = self {
            names.push(name.trim_end_matches('/').to_ascii_lowercase());
        }
    }
}

impl Guard {
    pub(super) fn allow_host(&mut self, host: &str) {
        self.hosts.add(host);
    }

    pub(super) fn allow_any_host(&mut self) {
        self.hosts = Allowed::Any;
    }

    pub(super) fn allow_origin(&mut self, origin: &str) {
        self.origins.add(origin);
    }

    pub(super) fn allow_any_origin(&mut self) {
        self.origins = Allowed::Any;
    }

    /// Refuses requests from where none may come.
    pub(super) fn check(&self, parts: &Parts) -> Result<(), Refusal> {
        self.check_host(&parts.headers, &parts.uri)?;
        self.check_origin(&parts.headers)
    }

    fn check_host(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
        let Allowed::Listed(names) = &self.hosts else {
            return Ok(());
        };
        let header = single(headers.get_all(HOST).iter())
            .map_err(|()| Refusal::new(StatusCode::BAD_REQUEST, "`Host` is given twice"))?;
        // Most requests to a local server need no parsing.
        if uri.authority().is_none() && header.is_some_and(is_plainly_local) {
            return Ok(());
        }
        let header = header
            .map(|host| host.to_str().ok().and_then(|host| host.parse().ok()))
            .map(|host: Option<Authority>| host.ok_or_else(foreign_host))
            .transpose()?;
        let hosts: Vec<_> = header.iter().chain(uri.authority()).collect();
        if hosts.is_empty() {
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "`Host` is missing"));
        }
        if hosts.into_iter().all(|host| allows_host(names, host)) {
            return Ok(());
        }
        if self.warned.is_due() {
            tracing::warn!("a request for another host was refused; see `HttpService::allow_host`");
        }
        Err(foreign_host())
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Allowed::Listed(names) = &self.origins else {
            return Ok(());
        };
        let mut origins = headers.get_all(ORIGIN).iter();
        if origins.all(|origin| allows_origin(names, origin)) {
            return Ok(());
        }
        if self.warned.is_due() {
            tracing::warn!(
                "a request from another origin was refused; see `HttpService::allow_origin`"
            );
        }
        let why = "requests from the origin of this one are not allowed";
        Err(Refusal::new(StatusCode::FORBIDDEN, why))
    }
}

fn foreign_host() -> Refusal {
    let why = "requests for the host of this one are not allowed";
    Refusal::new(StatusCode::FORBIDDEN, why)
}

/// The only value, if there is one.
fn single<'a>(
    mut values: impl Iterator<Item = &'a HeaderValue>,
) -> Result<Option<&'a HeaderValue>, ()> {
    let first = values.next();
    values.next().map_or(Ok(first), |_| Err(()))
}

/// Whether a host is written as most clients write this computer; `false` says nothing.
fn is_plainly_local(host: &HeaderValue) -> bool {
    let port = ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .find_map(|local| host.as_bytes().strip_prefix(local.as_bytes()));
    match port {
        Some([b':', digits @ ..]) => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
        Some(rest) => rest.is_empty(),
        None => false,
    }
}

/// A name without a port stands for every port.
fn allows_host(names: &[String], host: &Authority) -> bool {
    // What stands before an `@` is not part of a host, and no client sends it.
    if host.as_str().contains('@') {
        return false;
    }
    let (name, whole) = (host.host(), host.as_str());
    is_local(name)
        || names
            .iter()
            .any(|one| one.eq_ignore_ascii_case(name) || one.eq_ignore_ascii_case(whole))
}

fn allows_origin(names: &[String], origin: &HeaderValue) -> bool {
    let Ok(origin) = origin.to_str() else {
        return false;
    };
    if names.iter().any(|one| one.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let Ok(uri) = origin.parse::<Uri>() else {
        return false;
    };
    let web = matches!(uri.scheme_str(), Some("http" | "https"));
    let bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
    let local = |host: &Authority| !host.as_str().contains('@') && is_local(host.host());
    web && bare && uri.authority().is_some_and(local)
}

/// Whether a host is this computer, whatever a name server says.
fn is_local(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || matches!(host, "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_this_computer_or_listed() {
        let names = [
            "mcp.example.com".to_owned(),
            "other.example:8080".to_owned(),
        ];
        let cases = [
            ("localhost", true),
            ("LocalHost:80", true),
            ("127.0.0.1:3000", true),
            ("[::1]:3000", true),
            ("mcp.example.com", true),
            ("MCP.example.com:443", true),
            ("other.example:8080", true),
            ("other.example:8081", false),
            ("other.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("localhost@evil.example", false),
            ("evil.example@localhost", false),
        ];
        for (host, allowed) in cases {
            let value = HeaderValue::from_static(host);
            assert!(allowed || !is_plainly_local(&value), "{host}");
            let host: Authority = host.parse().unwrap();
            assert_eq!(allows_host(&names, &host), allowed, "{host}");
        }
    }

    #[test]
    fn origins_are_this_computer_or_listed() {
        let names = ["https://app.example.com".to_owned()];
        let cases = [
            ("http://localhost", true),
            ("http://localhost:5173", true),
            ("https://127.0.0.1:8443", true),
            ("http://[::1]:80", true),
            ("https://app.example.com", true),
            ("http://app.example.com", false),
            ("https://app.example.com:8443", false),
            ("http://localhost.evil.example", false),
            ("http://localhost@evil.example", false),
            ("http://evil.example/localhost", false),
            ("file://localhost", false),
            ("null", false),
            ("", false),
        ];
        for (origin, allowed) in cases {
            let value = HeaderValue::from_static(origin);
            assert_eq!(allows_origin(&names, &value), allowed, "{origin}");
        }
    }
}
