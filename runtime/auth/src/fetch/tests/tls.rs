//! Settings of TLS, and the hosts to which a client certificate is presented.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::TlsConfig;

const HOSTS: [&str; 3] = ["mcp.example", "id.example", "other.example"];

/// Server for all hosts, with a certificate that signs itself and is that of the client too.
struct TlsSite {
    port: u16,
    pem: String,
    key: String,
}

impl TlsSite {
    /// Starts a server that responds with the presence of a client certificate.
    async fn start() -> Self {
        let hosts = HOSTS.map(str::to_owned);
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(hosts).unwrap();
        let key_der = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.allow_unauthenticated().build().unwrap())
            .with_single_cert(vec![cert.der().clone()], key_der)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve_tls(acceptor.clone(), stream));
            }
        });
        Self {
            port,
            pem: cert.pem(),
            key: signing_key.serialize_pem(),
        }
    }
}

async fn serve_tls(acceptor: TlsAcceptor, stream: TcpStream) {
    let mut stream = acceptor.accept(stream).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else {
            return;
        };
        head.push(byte);
    }
    let is_present = stream.get_ref().1.peer_certificates().is_some();
    let bytes = json(&is_present.to_string());
    stream.write_all(&bytes).await.unwrap();
    stream.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_client_certificate_is_presented_to_named_hosts_only() {
    let site = TlsSite::start().await;
    let tls = TlsConfig::new()
        .ca_pem(site.pem.clone())
        .without_system_roots()
        .client_certificate_pem(site.pem.clone(), site.key.clone());
    for tls in [tls, rustls_config(&site).into()] {
        let policy = FetchPolicy::default()
            .allow_everything()
            .allow_host("id.example")
            .for_server(&Uri::from_static("https://mcp.example/mcp"), None)
            .tls(tls);
        let names = HOSTS.iter().fold(Names::default(), |names, host| {
            names.with(host, &[&["127.0.0.1"], &["127.0.0.1"]])
        });
        let fetcher = names.fetcher(policy);
        for (host, expected) in [
            ("mcp.example", "true"),
            ("id.example", "true"),
            ("other.example", "false"),
        ] {
            let url = format!("https://{}:{}/x", host, site.port);
            let response = get(&fetcher, &url).await.unwrap();
            assert_eq!(response.body(), expected.as_bytes(), "{host}");
        }
    }
}

fn rustls_config(site: &TlsSite) -> ClientConfig {
    let certificate = CertificateDer::from_pem_slice(site.pem.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(site.key.as_bytes()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let config =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots);
    config
        .with_client_auth_cert(vec![certificate], key)
        .unwrap()
}

#[tokio::test]
async fn an_authority_that_is_not_trusted_is_an_error_with_a_remedy() {
    let site = TlsSite::start().await;
    let server = policy("https://127.0.0.1/mcp");
    let names = Names::default().with("id.example", &[&["127.0.0.1"]]);
    let fetcher = names.fetcher(server);
    let url = format!("https://id.example:{}/x", site.port);
    let Err(AuthError::Unavailable(reason)) = get(&fetcher, &url).await else {
        panic!("the certificate was accepted");
    };
    assert!(
        reason.contains("is not trusted; trust a private authority"),
        "{reason}"
    );
}

#[test]
fn a_file_that_cannot_be_used_is_found_before_the_first_request() {
    let tls = TlsConfig::new().ca_file("no/such/ca.pem");
    let checked = FetchPolicy::default().tls(tls).check_connections();
    let Err(AuthError::Invalid(reason)) = checked else {
        panic!("{checked:?}");
    };
    assert!(
        reason.starts_with("certificate authorities in `no/such/ca.pem`: "),
        "{reason}"
    );
}
