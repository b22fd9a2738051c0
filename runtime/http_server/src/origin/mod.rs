//! Host and origin checks: protection against web pages that reach a local server through a browser (DNS rebinding).

#[cfg(test)]
mod tests;

use std::net::Ipv6Addr;
use std::sync::Arc;

use http::header::ORIGIN;
use http::uri::{Authority, Uri};
use http::{HeaderValue, StatusCode};
use treenail_runtime::internal::LogThrottle;

use crate::request_headers::{Field, RequestHeaders};
use crate::response::Rejection;

/// Allowed values of `Host` and `Origin`.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    hosts: Allowed,
    origins: Allowed,
    warned: Arc<LogThrottle>,
}

/// Allowed names. This computer is always allowed.
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
        let normalized = normalized_origin(origin);
        self.origins.add(normalized.as_deref().unwrap_or(origin));
    }

    pub(super) fn allow_any_origin(&mut self) {
        self.origins = Allowed::Any;
    }

    /// Rejects requests for other hosts or from other origins.
    pub(super) fn check(&self, headers: &RequestHeaders<'_>, uri: &Uri) -> Result<(), Rejection> {
        self.check_host(headers.host, uri)?;
        self.check_origin(headers)
    }

    /// Rejects requests for other hosts.
    pub(super) fn check_host(&self, host: Field<'_>, uri: &Uri) -> Result<(), Rejection> {
        let Allowed::Listed(names) = &self.hosts else {
            return Ok(());
        };
        if host.is_repeated {
            return Err(Rejection::new(
                StatusCode::BAD_REQUEST,
                "`Host` occurs twice",
            ));
        }
        let header = host.value;
        // Fast path for most requests to a local server.
        if uri.authority().is_none() && header.is_some_and(is_plainly_local) {
            return Ok(());
        }
        let header = header.map(|host| host.to_str().map_err(|_| foreign_host()));
        let header = header.transpose()?;
        let target = uri.authority().map(Authority::as_str);
        if header.is_none() && target.is_none() {
            return Err(Rejection::new(StatusCode::BAD_REQUEST, "`Host` is missing"));
        }
        if header
            .into_iter()
            .chain(target)
            .all(|host| allows_host(names, host))
        {
            return Ok(());
        }
        if self.warned.is_due() {
            tracing::warn!("rejected a request for another host; see `HttpService::allow_host`");
        }
        Err(foreign_host())
    }

    fn check_origin(&self, headers: &RequestHeaders<'_>) -> Result<(), Rejection> {
        let Allowed::Listed(names) = &self.origins else {
            return Ok(());
        };
        let is_allowed = |origin: &HeaderValue| allows_origin(names, origin);
        if !headers.origin.is_present() || headers.all.get_all(ORIGIN).iter().all(is_allowed) {
            return Ok(());
        }
        if self.warned.is_due() {
            tracing::warn!(
                "rejected a request from another origin; see `HttpService::allow_origin`"
            );
        }
        let message = "requests from this origin are not allowed";
        Err(Rejection::new(StatusCode::FORBIDDEN, message))
    }
}

fn foreign_host() -> Rejection {
    let message = "requests for this host are not allowed";
    Rejection::new(StatusCode::FORBIDDEN, message)
}

/// Returns true for the usual spellings of this computer. `false` is inconclusive.
fn is_plainly_local(host: &HeaderValue) -> bool {
    let port = ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .find_map(|local| host.as_bytes().strip_prefix(local.as_bytes()));
    match port {
        Some([b':', digits @ ..]) => {
            let is_port = digits.len() < 5 || (digits.len() == 5 && digits <= b"65535".as_slice());
            is_port && digits.iter().all(u8::is_ascii_digit)
        }
        Some(rest) => rest.is_empty(),
        None => false,
    }
}

/// Returns the name of a host without its port. `None` for an invalid host such as `[::1]1` or `localhost:x`.
fn host_name(host: &str) -> Option<&str> {
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(end);
    let port = match port.strip_prefix(':') {
        None if !port.is_empty() => return None,
        digits => digits.unwrap_or_default(),
    };
    let is_port = port.is_empty()
        || (port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok());
    let is_name = match name.strip_prefix('[') {
        Some(address) => address.strip_suffix(']')?.parse::<Ipv6Addr>().is_ok(),
        // No delimiters of a URI. For example, text before an `@` is not part of the host.
        None => name.bytes().all(
            |byte| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~'),
        ),
    };
    (is_port && is_name && !name.is_empty()).then_some(name)
}

/// Returns true if a host is allowed. An allowed name without a port allows every port.
fn allows_host(names: &[String], host: &str) -> bool {
    let Some(name) = host_name(host) else {
        return false;
    };
    is_local(name)
        || names
            .iter()
            .any(|one| one.eq_ignore_ascii_case(name) || one.eq_ignore_ascii_case(host))
}

fn allows_origin(names: &[String], origin: &HeaderValue) -> bool {
    let Ok(origin) = origin.to_str() else {
        return false;
    };
    let has = |origin: &str| names.iter().any(|one| one.eq_ignore_ascii_case(origin));
    // Browsers leave the default port out, other clients may not.
    if has(origin) || normalized_origin(origin).is_some_and(|origin| has(&origin)) {
        return true;
    }
    let parts = origin.split_once("://");
    parts.is_some_and(|(scheme, host)| {
        let web = ["http", "https"].iter();
        let mut web = web.filter(|web| web.eq_ignore_ascii_case(scheme));
        web.next().is_some() && host_name(host).is_some_and(is_local)
    })
}

/// Normalizes an origin as browsers do: lower case, without the default port and without a trailing slash.
pub(super) fn normalized_origin(origin: &str) -> Option<String> {
    let origin = origin.trim_end_matches('/').to_ascii_lowercase();
    let (scheme, host) = origin.split_once("://")?;
    host_name(host)?;
    let mut letters = scheme.bytes();
    let is_scheme = letters.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && letters.all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'-' | b'.'));
    let port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => ":",
    };
    let host = host.strip_suffix(port).unwrap_or(host);
    is_scheme.then(|| format!("{scheme}://{host}"))
}

/// Returns true if a host is this computer, independent of DNS.
fn is_local(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || matches!(host, "127.0.0.1" | "[::1]")
}
