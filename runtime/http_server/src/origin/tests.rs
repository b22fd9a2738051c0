//! Allowed and rejected hosts and origins.

use super::*;

#[test]
fn local_and_listed_hosts_are_allowed() {
    let names = [
        "mcp.example.com".to_owned(),
        "other.example:8080".to_owned(),
    ];
    let cases = [
        ("localhost", true),
        ("LocalHost:80", true),
        ("127.0.0.1:3000", true),
        ("[::1]:3000", true),
        ("mcp.example.com", true),
        ("MCP.example.com:443", true),
        ("other.example:8080", true),
        ("other.example:8081", false),
        ("other.example", false),
        ("localhost.evil.example", false),
        ("127.0.0.1.evil.example", false),
        ("localhost@evil.example", false),
        ("evil.example@localhost", false),
        ("[::1]evil", false),
        ("[::1]evil.example:80", false),
        ("[::1", false),
        ("[::1]:evil", false),
        ("localhost:evil", false),
        ("localhost:evil.example", false),
        ("localhost:80:80", false),
        ("localhost:65536", false),
        ("localhost:+80", false),
        ("127.0.0.1:@evil.example", false),
        ("mcp.example.com:x", false),
        ("localhost/evil", false),
        ("localhost#evil", false),
        ("", false),
        (":80", false),
        ("localhost:", true),
    ];
    for (host, allowed) in cases {
        let value = HeaderValue::from_static(host);
        assert!(allowed || !is_plainly_local(&value), "{host}");
        assert_eq!(allows_host(&names, host), allowed, "{host}");
    }
}

#[test]
fn origins_are_normalized_as_in_browsers() {
    let cases = [
        ("https://App.example.com/", Some("https://app.example.com")),
        (
            "https://app.example.com:443",
            Some("https://app.example.com"),
        ),
        (
            "https://app.example.com:8443",
            Some("https://app.example.com:8443"),
        ),
        ("http://localhost:80", Some("http://localhost")),
        ("http://[::1]:5173", Some("http://[::1]:5173")),
        ("tauri://localhost", Some("tauri://localhost")),
        ("*", None),
        ("null", None),
        ("https://*.example.com", None),
        ("app.example.com", None),
        ("https://app.example.com/page", None),
        ("https://user@app.example.com", None),
        ("https://", None),
        ("", None),
    ];
    for (origin, normalized) in cases {
        assert_eq!(normalized_origin(origin).as_deref(), normalized, "{origin}");
    }
}

#[test]
fn local_and_listed_origins_are_allowed() {
    let names = ["https://app.example.com".to_owned()];
    let cases = [
        ("http://localhost", true),
        ("http://localhost:5173", true),
        ("https://127.0.0.1:8443", true),
        ("http://[::1]:80", true),
        ("https://app.example.com", true),
        ("http://app.example.com", false),
        ("https://app.example.com:8443", false),
        ("http://localhost.evil.example", false),
        ("http://localhost@evil.example", false),
        ("http://evil.example/localhost", false),
        ("http://localhost#evil", false),
        ("http://localhost/#evil", false),
        ("http://localhost?evil", false),
        ("http://localhost:evil", false),
        ("http://[::1]evil", false),
        ("http://[::1]80", false),
        ("http://", false),
        ("https://app.example.com#evil", false),
        ("file://localhost", false),
        ("null", false),
        ("", false),
    ];
    for (origin, allowed) in cases {
        let value = HeaderValue::from_static(origin);
        assert_eq!(allows_origin(&names, &value), allowed, "{origin}");
    }
}

#[test]
fn the_target_and_the_header_must_name_an_allowed_host() {
    let cases = [
        (Some("localhost"), "/mcp", true),
        (Some("localhost"), "http://127.0.0.1/mcp", true),
        (None, "http://localhost/mcp", true),
        (Some("localhost"), "http://evil.example/mcp", false),
        (Some("evil.example"), "http://localhost/mcp", false),
        (None, "http://evil.example/mcp", false),
    ];
    for (host, target, is_allowed) in cases {
        let value = host.map(HeaderValue::from_static);
        let mut header = Field::default();
        if let Some(value) = &value {
            header.add(value);
        }
        let checked = Guard::default().check_host(header, &target.parse().unwrap());
        assert_eq!(checked.is_ok(), is_allowed, "{host:?} {target}");
    }
}
