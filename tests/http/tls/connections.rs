//! Settings that connect.

use std::fs;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use serde_json::json;
use treenail::client::{HttpSession, TlsConfig};
use treenail::http::{SsePaths, http_service};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::authority::{Authority, Validity};
use super::server::{Clients, TlsServer};
use crate::fixture::{builder, service};

const BOTH_ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// Calls a tool.
async fn call(url: &str, tls: TlsConfig, revision: Revision) -> Result<i64, ClientError> {
    let http = HttpSession::builder(url).tls(tls);
    let client = McpClient::builder().http(http).protocol_version(revision);
    let client = client.build().await?;
    let sum = client.call_tool_as("add", json!({"a": 2, "b": 3})).await?;
    client.close().await?;
    Ok(sum)
}

#[tokio::test]
async fn private_authorities_and_client_certificates_work_in_both_eras() {
    let authority = Authority::new("Corporate");
    let server = authority.issue(&["localhost"], Validity::Now);
    let client = authority.issue(&["client.example"], Validity::Now);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let of_files = TlsConfig::new()
        .ca_file(file("ca.pem", &authority.pem()))
        .without_system_roots()
        .client_certificate_files(
            file("client.pem", &client.certificate),
            file("client.key", &client.key),
        );
    let of_texts = TlsConfig::new()
        .ca_pem(authority.pem())
        .client_certificate_pem(client.certificate.clone(), client.key.clone());
    let (certificate, key) = client.der();
    let ready = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(authority.roots())
        .with_client_auth_cert(vec![certificate], key)
        .unwrap();
    for protocols in [&["h2", "http/1.1"][..], &["http/1.1"]] {
        let clients = Clients::Required(authority.roots());
        let server = TlsServer::start(&server, clients, protocols, service()).await;
        for revision in BOTH_ERAS {
            for tls in [of_files.clone(), of_texts.clone(), ready.clone().into()] {
                let result = call(&server.url, tls, revision).await;
                assert_eq!(result.unwrap(), 5, "{revision} {protocols:?}");
            }
        }
        let expected = format!("{}, a certificate", protocols[0]);
        assert_eq!(server.connections(), [expected]);
    }
}

#[tokio::test]
async fn http_sse_has_the_settings_too() {
    let authority = Authority::new("Corporate");
    let identity = authority.issue(&["localhost"], Validity::Now);
    let client = authority.issue(&["client.example"], Validity::Now);
    let server = builder().build().unwrap();
    let service = http_service(server).legacy_sse(SsePaths::default());
    let clients = Clients::Required(authority.roots());
    let server = TlsServer::start(&identity, clients, &["h2"], service).await;
    let tls = TlsConfig::new()
        .ca_pem(authority.pem())
        .without_system_roots()
        .client_certificate_pem(client.certificate, client.key);
    let url = server.url.replace("/mcp", "/sse");
    let result = call(&url, tls, Revision::V2024_11_05).await;
    assert_eq!(result.unwrap(), 5);
    assert_eq!(server.connections(), ["h2, a certificate"]);
}

#[tokio::test]
async fn sessions_with_other_settings_share_no_connection() {
    let authority = Authority::new("Corporate");
    let identity = authority.issue(&["localhost"], Validity::Now);
    let client = authority.issue(&["client.example"], Validity::Now);
    let clients = Clients::Optional(authority.roots());
    let server = TlsServer::start(&identity, clients, &["h2"], service()).await;
    let anonymous = TlsConfig::new()
        .ca_pem(authority.pem())
        .without_system_roots();
    let identified = anonymous
        .clone()
        .client_certificate_pem(client.certificate, client.key);
    for tls in [identified, anonymous.clone()] {
        call(&server.url, tls, Revision::LATEST).await.unwrap();
    }
    let connections = server.connections();
    assert_eq!(connections, ["h2, a certificate", "h2, no certificate"]);
    let other = Authority::new("Other");
    let untrusting = TlsConfig::new().ca_pem(other.pem()).without_system_roots();
    let refused = call(&server.url, untrusting, Revision::LATEST).await;
    assert!(matches!(refused, Err(ClientError::Unreachable(_))));
}

#[tokio::test]
async fn a_file_that_cannot_be_used_fails_the_build() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, "no certificate").unwrap();
    let tls = TlsConfig::new().ca_file(&file);
    let built = HttpSession::builder("https://localhost/mcp")
        .tls(tls)
        .build();
    let error = built.unwrap_err();
    let expected = format!(
        "not sent: certificate authorities in `{}`: there is no PEM",
        file.display()
    );
    assert!(matches!(error, ClientError::Invalid(_)), "{error}");
    assert!(error.to_string().starts_with(&expected), "{error}");
}
