//! Server with TLS.

use std::sync::{Arc, Mutex};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustls::crypto::ring;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncWriteExt, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use treenail::http::HttpService;

use super::authority::Identity;

/// Rule for certificates of clients.
#[derive(Clone)]
pub(super) enum Clients {
    Anonymous,
    Optional(RootCertStore),
    Required(RootCertStore),
}

/// Server with TLS.
pub(super) struct TlsServer {
    pub(super) url: String,
    connections: Arc<Mutex<Vec<String>>>,
}

impl TlsServer {
    /// Starts a server at `localhost` that offers the protocols of ALPN.
    pub(super) async fn start(
        identity: &Identity,
        clients: Clients,
        protocols: &[&str],
        service: HttpService,
    ) -> Self {
        let mut config = config(identity, clients);
        let protocols = protocols.iter().map(|name| name.as_bytes().to_vec());
        config.alpn_protocols = protocols.collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(
                    acceptor.clone(),
                    stream,
                    service.clone(),
                    Arc::clone(&log),
                ));
            }
        });
        let url = format!("https://localhost:{port}/mcp");
        Self { url, connections }
    }

    /// Returns the protocol of each connection, and whether the client has a certificate.
    pub(super) fn connections(&self) -> Vec<String> {
        let mut connections = self.connections.lock().unwrap().clone();
        connections.sort();
        connections.dedup();
        connections
    }
}

fn config(identity: &Identity, clients: Clients) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let verifier =
        |roots| WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let builder = match clients {
        Clients::Anonymous => builder.with_no_client_auth(),
        Clients::Required(roots) => {
            builder.with_client_cert_verifier(verifier(roots).build().unwrap())
        }
        Clients::Optional(roots) => {
            let verifier = verifier(roots).allow_unauthenticated();
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let (certificate, key) = identity.der();
    builder.with_single_cert(vec![certificate], key).unwrap()
}

async fn serve(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    service: HttpService,
    log: Arc<Mutex<Vec<String>>>,
) {
    let stream = match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => stream,
        Err((_, mut stream)) => {
            // A socket that is closed before its input was read would lose the alert.
            let _ = stream.shutdown().await;
            let _ = copy(&mut stream, &mut sink()).await;
            return;
        }
    };
    let (_, connection) = stream.get_ref();
    let protocol = String::from_utf8_lossy(connection.alpn_protocol().unwrap_or_default());
    let client = match connection.peer_certificates() {
        Some(_) => "a certificate",
        None => "no certificate",
    };
    log.lock().unwrap().push(format!("{protocol}, {client}"));
    let builder = auto::Builder::new(TokioExecutor::new());
    let served = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    // The client may have left.
    let _ = served.await;
}
