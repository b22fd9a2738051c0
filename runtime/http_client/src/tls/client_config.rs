//! The configuration of rustls.

use std::sync::Arc;

use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::ring;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, Error, InconsistentKeys, RootCertStore, SignatureScheme};
use rustls_native_certs::load_native_certs;

use super::{Identity, TlsConfig};
use crate::error::HttpError;

impl TlsConfig {
    /// Reads all files, and returns the configuration of connections.
    pub(crate) fn client_config(&self) -> Result<Arc<ClientConfig>, HttpError> {
        let mut config = match &self.ready {
            Some(config) => self.check_ready(config)?,
            None => Arc::new(self.build()?),
        };
        if config.alpn_protocols.is_empty() {
            let protocols = [&b"h2"[..], b"http/1.1"].map(<[u8]>::to_vec);
            Arc::make_mut(&mut config).alpn_protocols = protocols.into();
        }
        Ok(config)
    }

    fn check_ready(&self, config: &Arc<ClientConfig>) -> Result<Arc<ClientConfig>, HttpError> {
        if self.authorities.is_empty() && self.has_system_roots && self.identity.is_none() {
            return Ok(Arc::clone(config));
        }
        let reason = "`TlsConfig` of a `rustls::ClientConfig` has further certificates; add them to the `ClientConfig`";
        Err(HttpError::invalid(reason))
    }

    fn build(&self) -> Result<ClientConfig, HttpError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| HttpError::invalid(format!("TLS: {error}")))?
            .with_root_certificates(self.roots()?);
        let Some(Identity { chain, key }) = &self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        let (certificates, secret) = (chain.certificates()?, key.key()?);
        let built = builder.with_client_auth_cert(certificates, secret);
        built.map_err(|error| match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => key.error(format_args!(
                "it does not match the first certificate of the {chain}"
            )),
            Error::InvalidCertificate(_) => chain.error("the first certificate is malformed"),
            other => key.error(other),
        })
    }

    fn roots(&self) -> Result<RootCertStore, HttpError> {
        let mut roots = RootCertStore::empty();
        for source in &self.authorities {
            for (index, certificate) in source.certificates()?.into_iter().enumerate() {
                let added = roots.add(certificate);
                added.map_err(|_| {
                    source.error(format_args!("certificate {} is malformed", index + 1))
                })?;
            }
        }
        if self.has_system_roots {
            add_system_roots(&mut roots)?;
        } else if roots.is_empty() {
            let reason = "`TlsConfig::without_system_roots` trusts no authority; add one with `ca_file` or `ca_pem`";
            return Err(HttpError::invalid(reason));
        }
        Ok(roots)
    }

    /// Returns the same settings without the certificate of the client.
    fn without_client_certificate(&self) -> Self {
        let mut config = self.clone();
        config.identity = None;
        if let Some(ready) = &mut config.ready {
            let ready = Arc::make_mut(ready);
            ready.client_auth_cert_resolver = Arc::new(NoCertificate);
            // A session that is resumed has the certificate with which it started.
            ready.resumption = Resumption::disabled();
        }
        config
    }
}

/// Returns the settings for a server that must not see the certificate of the client.
pub fn without_client_certificate(tls: &TlsConfig) -> TlsConfig {
    tls.without_client_certificate()
}

/// Checks settings before they are used.
///
/// # Errors
///
/// [`HttpError::Invalid`] if a file cannot be used, and [`HttpError::Unreachable`] if the certificates of the system cannot be read.
pub fn check_tls(tls: &TlsConfig) -> Result<(), HttpError> {
    tls.client_config().map(drop)
}

/// Adds the certificates of the system, or those in `SSL_CERT_FILE` and `SSL_CERT_DIR`. A system may have none, if other roots were
/// given.
fn add_system_roots(roots: &mut RootCertStore) -> Result<(), HttpError> {
    let loaded = load_native_certs();
    roots.add_parsable_certificates(loaded.certs);
    if !roots.is_empty() {
        return Ok(());
    }
    let mut reason = String::from("could not read the certificates of this system: none found");
    if let Some(error) = loaded.errors.first() {
        reason = format!("{reason} ({error})");
    }
    Err(HttpError::unreachable(reason))
}

/// The absence of a certificate.
#[derive(Debug)]
struct NoCertificate;

impl ResolvesClientCert for NoCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}
