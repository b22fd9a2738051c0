//! Certificates, made for one test.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Certificate authority.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// Time in which a certificate is valid.
#[derive(Clone, Copy, Debug)]
pub(super) enum Validity {
    Now,
    Past,
    Future,
}

/// Certificate and key, in PEM.
pub(super) struct Identity {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    pub(super) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(super) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        roots
    }

    /// Returns the certificate of the authority as that of a server.
    pub(super) fn identity(&self) -> Identity {
        Identity {
            certificate: self.0.pem(),
            key: self.0.key().serialize_pem(),
        }
    }

    pub(super) fn issue(&self, hosts: &[&str], validity: Validity) -> Identity {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        match validity {
            Validity::Now => {}
            Validity::Past => params.not_after = date_time_ymd(2001, 1, 1),
            Validity::Future => params.not_before = date_time_ymd(4000, 1, 1),
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

impl Identity {
    pub(super) fn der(&self) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        (
            CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap(),
            PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap(),
        )
    }
}
