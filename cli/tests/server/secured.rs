//! A server that requires a client certificate, and the same server at a Unix socket.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;

use super::Everything;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Writes `ca.pem`, `client.pem`, `client.key` and `both.pem` to a folder, serves at `mcp.sock` there and over TLS, and prints the
/// URL.
pub(crate) async fn serve(folder: &Path) -> treenail::Result<()> {
    let server = Server::builder("secured", "1").mount(Everything).build()?;
    let service = http_service(server);
    #[cfg(unix)]
    serve_unix(folder, service.clone())?;
    let ended = serve_tls(folder, service).await;
    Ok(ended.map_err(std::io::Error::other)?)
}

#[expect(clippy::print_stdout, reason = "the tests read it")]
async fn serve_tls(folder: &Path, service: HttpService) -> Result<(), Error> {
    let config = certificates(folder)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("https://localhost:{}/mcp", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(accept(acceptor.clone(), stream, service.clone()));
    }
}

async fn accept(acceptor: TlsAcceptor, stream: TcpStream, service: HttpService) {
    match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => serve_connection(stream, service).await,
        Err((_, mut stream)) => {
            // A socket that is closed before its input was read would lose the alert.
            let _ = stream.shutdown().await;
            let _ = copy(&mut stream, &mut sink()).await;
        }
    }
}

#[cfg(unix)]
fn serve_unix(folder: &Path, service: HttpService) -> std::io::Result<()> {
    let listener = tokio::net::UnixListener::bind(folder.join("mcp.sock"))?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve_connection(stream, service.clone()));
        }
    });
    Ok(())
}

async fn serve_connection<S>(stream: S, service: HttpService)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (stream, service) = (TokioIo::new(stream), TowerToHyperService::new(service));
    // The client may have left.
    let _ = http1::Builder::new()
        .serve_connection(stream, service)
        .await;
}

/// Writes the files, and returns the configuration of the server.
fn certificates(folder: &Path) -> Result<ServerConfig, Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let issue = |host: &str| -> Result<_, Error> {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec![host.to_owned()])?;
        Ok((params.signed_by(&key, &authority)?, key))
    };
    let (client, client_key) = issue("client.example")?;
    let (certificate, key) = issue("localhost")?;
    fs::write(folder.join("ca.pem"), authority.pem())?;
    fs::write(folder.join("client.pem"), client.pem())?;
    fs::write(folder.join("client.key"), client_key.serialize_pem())?;
    let both = client.pem() + &client_key.serialize_pem();
    fs::write(folder.join("both.pem"), both)?;
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier.build()?)
        .with_single_cert(vec![certificate.der().clone()], key)?;
    Ok(config)
}
