//! Settings of connections: TLS, or an HTTP client of the user.

use std::fmt;
use std::sync::Arc;

use treenail_http_client::{
    HttpClient, HttpError, TlsConfig, check_tls, without_client_certificate,
};

use crate::AuthError;

/// Settings of connections.
#[derive(Clone, Default)]
pub(super) struct ConnectionSettings {
    tls: Option<Tls>,
    http_client: Option<Arc<dyn HttpClient>>,
}

/// Settings of TLS.
#[derive(Clone, Debug)]
struct Tls {
    for_named: TlsConfig,
    /// The same without the certificate of the client.
    for_others: TlsConfig,
}

/// Settings of the connections to one host.
pub(super) enum Connections<'a> {
    /// Connections of the built-in client, perhaps with settings of TLS.
    Pooled(Option<&'a TlsConfig>),
    /// Those of a client of the user.
    Own(&'a Arc<dyn HttpClient>),
}

impl ConnectionSettings {
    pub(super) fn set_tls(&mut self, for_named: TlsConfig) {
        self.tls = Some(Tls {
            for_others: without_client_certificate(&for_named),
            for_named,
        });
    }

    pub(super) fn set_http_client(&mut self, client: impl HttpClient) {
        self.http_client = Some(Arc::new(client));
    }

    pub(super) fn check(&self) -> Result<(), AuthError> {
        let Some(tls) = &self.tls else {
            return Ok(());
        };
        if self.http_client.is_some() {
            let reason = "`FetchPolicy::tls` cannot be combined with `FetchPolicy::http_client`, \
                which opens its connections itself: configure it there";
            return Err(AuthError::invalid(reason));
        }
        check_tls(&tls.for_named).map_err(configuration_error)
    }

    /// Returns the settings for a host, which the program may have named.
    pub(super) fn to(&self, is_named: bool) -> Connections<'_> {
        if let Some(client) = &self.http_client {
            return Connections::Own(client);
        }
        Connections::Pooled(self.tls.as_ref().map(|tls| {
            if is_named {
                &tls.for_named
            } else {
                &tls.for_others
            }
        }))
    }
}

impl fmt::Debug for ConnectionSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConnectionSettings")
            .field("tls", &self.tls)
            .field("has_http_client", &self.http_client.is_some())
            .finish()
    }
}

/// Converts an error of the configuration of connections.
pub(super) fn configuration_error(error: HttpError) -> AuthError {
    match error {
        HttpError::Invalid(reason) => AuthError::Invalid(reason),
        other => AuthError::Unavailable(other.to_string().into()),
    }
}
