//! Delivery over a loopback socket.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::builder;
use crate::testing::{Endpoint, Fault, TestAuthorizationServer};

async fn connect(server: &TestAuthorizationServer) -> TcpStream {
    let issuer = server.issuer();
    let address = issuer.strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = "GET /jwks HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn fetch(server: &TestAuthorizationServer) -> Vec<u8> {
    let mut response = Vec::new();
    connect(server)
        .await
        .read_to_end(&mut response)
        .await
        .unwrap();
    response
}

#[tokio::test]
async fn requests_are_answered_until_the_last_handle_is_dropped() {
    let server = builder().start().await.unwrap();
    assert!(server.issuer().starts_with("http://127.0.0.1:"));
    let response = String::from_utf8(fetch(&server).await).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("P-256"));
    let mut open = connect(&server).await;
    let clone = server.clone();
    drop(server);
    assert!(!fetch(&clone).await.is_empty());
    drop(clone);
    let mut rest = Vec::new();
    // Either end of file or a reset.
    let _ = open.read_to_end(&mut rest).await;
}

#[tokio::test]
async fn auth_s_04_answers_are_huge_or_lost() {
    let server = builder().start().await.unwrap();
    server.inject_once(Fault::Huge(Endpoint::Jwks, 1_000_000));
    let response = fetch(&server).await;
    assert!(response.len() >= 1_000_000);
    server.inject_once(Fault::LoseAnswer(Endpoint::Jwks));
    assert!(fetch(&server).await.is_empty());
}

#[tokio::test]
async fn auth_s_04_answers_are_slow_or_never_sent() {
    let server = builder().start().await.unwrap();
    server.inject_once(Fault::Slow(Endpoint::Jwks));
    let mut stream = connect(&server).await;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    server.inject_once(Fault::Silent(Endpoint::Jwks));
    let mut silent = connect(&server).await;
    // The next request is answered meanwhile.
    assert!(!fetch(&server).await.is_empty());
    let mut byte = [0];
    assert!(silent.try_read(&mut byte).is_err());
    silent.shutdown().await.unwrap();
}
