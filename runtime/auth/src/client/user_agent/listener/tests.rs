//! Tests of the listener over sockets.

use std::io::{Read, Write};
use std::net::TcpStream as Socket;

use http::Uri;

use super::Listener;
use crate::client::code::tests::request_at;

const GOOD: &str = "/callback?code=c1&state=state-of-this-flow";

/// Sends bytes and returns the answer.
fn send(port: u16, bytes: &[u8]) -> String {
    let mut socket = Socket::connect(("127.0.0.1", port)).unwrap();
    // The listener may answer before it has read everything.
    let _ = socket.write_all(bytes);
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer);
    answer
}

fn get(port: u16, host: &str, target: &str) -> String {
    let head = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\n\r\n");
    send(port, head.as_bytes())
}

/// Requests of pages in the browser that must change nothing.
fn attack(port: u16) {
    let own = format!("127.0.0.1:{port}");
    for (host, target) in [
        (&*own, "/callback?code=evil&state=other"),
        (&*own, "/callback?code=evil"),
        (&*own, "/callback"),
        (&*own, "/?code=evil&state=state-of-this-flow"),
        (&*own, "/callback/?code=evil&state=state-of-this-flow"),
        ("evil.example", GOOD),
        ("127.0.0.1", GOOD),
        (
            &*own,
            "http://127.0.0.1/callback?code=evil&state=state-of-this-flow",
        ),
        (&*own, "/callback?code=%3Cscript%3E&state=<script>"),
    ] {
        let answer = get(port, host, target);
        assert!(
            answer.starts_with("HTTP/1.1 404 "),
            "AUTH-X-09 {host} {target}: {answer}"
        );
        assert!(!answer.contains("script"), "AUTH-C-91: {answer}");
    }
    for head in [
        format!("POST {GOOD} HTTP/1.1\r\nhost: {own}\r\n\r\n"),
        format!("HEAD {GOOD} HTTP/1.1\r\nhost: {own}\r\n\r\n"),
        format!("GET {GOOD} HTTP/1.1\r\n\r\n"),
        format!("GET {GOOD} HTTP/1.1\r\nhost: {own}\r\nhost: {own}\r\n\r\n"),
    ] {
        let answer = send(port, head.as_bytes());
        assert!(
            answer.starts_with("HTTP/1.1 404 "),
            "AUTH-X-10 {head}: {answer}"
        );
    }
    let huge = format!(
        "GET /callback HTTP/1.1\r\nx: {}\r\n\r\n",
        "x".repeat(1 << 20)
    );
    assert!(!send(port, huge.as_bytes()).contains("200 OK"), "AUTH-X-10");
}

#[tokio::test]
async fn only_the_redirect_of_the_flow_is_answered() {
    let mut listener = Listener::bind(0, "/callback").await.unwrap();
    let port = listener.place.port;
    let server = Uri::from_static("https://a.example");
    let request = request_at(listener.redirect_uri(), &server);
    let browser = tokio::task::spawn_blocking(move || {
        // Connections without a request do not lock others out.
        let connect = |_| Socket::connect(("127.0.0.1", port)).unwrap();
        let idle: Vec<_> = (0..8).map(connect).collect();
        attack(port);
        let answer = get(port, &format!("127.0.0.1:{port}"), GOOD);
        drop(idle);
        answer
    });
    let redirect = listener.receive(&request).await;
    assert_eq!(
        redirect,
        format!("http://127.0.0.1:{port}{GOOD}"),
        "AUTH-C-83 AUTH-C-90"
    );
    let answer = browser.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    for header in [
        "cache-control: no-store",
        "referrer-policy: no-referrer",
        "default-src 'none'",
    ] {
        assert!(answer.contains(header), "AUTH-C-91: {answer}");
    }
    assert!(!answer.contains("c1"), "AUTH-C-91: {answer}");
    drop(listener);
    assert!(Socket::connect(("127.0.0.1", port)).is_err(), "AUTH-C-90");
}
