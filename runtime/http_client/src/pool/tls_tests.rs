//! Settings of TLS behind a proxy.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use treenail_schema::internal::HttpClientLimits;

use super::{Pool, PoolOptions, TlsConfig};
use crate::route::Route;

async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test]
async fn settings_apply_to_the_server_behind_a_proxy() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["mcp.example".to_owned()]).unwrap();
    let (pem, key) = (cert.pem(), signing_key.serialize_pem());
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let key_der = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(vec![cert.der().clone()], key_der)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // The proxy is the server too.
    let serving = async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = read_head(&mut stream).await;
        assert!(
            head.starts_with("CONNECT mcp.example:443 HTTP/1.1\r\n"),
            "{head}"
        );
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        let accepted = TlsAcceptor::from(Arc::new(config)).accept(stream).await;
        let mut stream = accepted.unwrap();
        assert!(stream.get_ref().1.peer_certificates().is_some());
        read_head(&mut stream).await;
        let response = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(response).await.unwrap();
        stream.flush().await.unwrap();
    };
    let tls = TlsConfig::new()
        .ca_pem(pem.clone())
        .without_system_roots()
        .client_certificate_pem(pem, key);
    let proxy = format!("http://{address}").parse().unwrap();
    let url = Uri::from_static("https://mcp.example/");
    let limits = HttpClientLimits::default();
    let route = Route::Tunnel(proxy, None);
    let pool = Pool::along(route, &url, &limits, (Some(&tls), None)).unwrap();
    let request = Request::post(url).body(Bytes::new()).unwrap();
    let ((), response) = tokio::join!(serving, pool.send(request));
    assert_eq!(response.unwrap().status(), StatusCode::ACCEPTED);
}

#[test]
fn settings_of_tls_for_a_url_without_it_are_an_error() {
    let (tls, limits) = (TlsConfig::new(), HttpClientLimits::default());
    let url = Uri::from_static("http://mcp.example/");
    let options = PoolOptions::default().tls(Some(&tls));
    let error = Pool::with_options(&url, &limits, options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not sent: `tls` needs a URL with `https`"
    );
}
