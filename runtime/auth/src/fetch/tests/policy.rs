//! URLs and addresses that are contacted.

use super::super::address::AddressClass;
use super::*;

#[test]
fn addresses_have_the_class_of_their_network() {
    use AddressClass::{Benchmark, Forbidden, LinkLocal, Loopback, Private, Public, Shared};
    let cases = [
        ("8.8.8.8", Public),
        ("172.15.0.1", Public),
        ("172.32.0.1", Public),
        ("192.0.1.1", Public),
        ("127.0.0.1", Loopback),
        ("127.255.0.9", Loopback),
        ("10.0.0.1", Private),
        ("172.16.0.1", Private),
        ("172.31.255.255", Private),
        ("192.168.1.1", Private),
        ("100.64.0.1", Shared),
        ("100.127.255.255", Shared),
        ("100.128.0.1", Public),
        ("198.18.0.1", Benchmark),
        ("198.19.255.255", Benchmark),
        ("0.0.0.0", Forbidden),
        ("0.1.2.3", Forbidden),
        ("169.254.169.254", Forbidden),
        ("169.254.0.1", Forbidden),
        ("168.63.129.16", Forbidden),
        ("100.100.100.200", Forbidden),
        ("192.0.0.192", Forbidden),
        ("192.0.0.1", Forbidden),
        ("192.0.2.1", Forbidden),
        ("224.0.0.1", Forbidden),
        ("240.0.0.1", Forbidden),
        ("255.255.255.255", Forbidden),
        ("2606:4700::1", Public),
        ("::1", Loopback),
        ("fd00::1", Private),
        ("fc00::1", Private),
        ("fe80::1", LinkLocal),
        ("fd00:ec2::254", Forbidden),
        ("::", Forbidden),
        ("ff02::1", Forbidden),
        ("fec0::1", Forbidden),
        ("::ffff:10.0.0.1", Private),
        ("::ffff:169.254.169.254", Forbidden),
        ("::ffff:127.0.0.1", Loopback),
        ("::10.0.0.1", Forbidden),
        ("64:ff9b::", Forbidden),
        ("64:ff9b::a9fe:a9fe", Forbidden),
        ("64:ff9b::a00:1", Private),
        ("64:ff9b::808:808", Public),
        ("64:ff9b:1::a00:1", Forbidden),
        ("2002:a00:1::", Forbidden),
        ("2002:808:808::", Forbidden),
        ("2001::a00:1", Forbidden),
        ("2001:db8::1", Forbidden),
    ];
    for (address, expected) in cases {
        let class = AddressClass::of(address.parse().unwrap());
        assert_eq!(class, expected, "AUTH-C-129: {address}");
    }
}

#[test]
fn urls_of_a_public_server_stay_in_the_internet() {
    let policy = policy("https://mcp.example/mcp");
    for url in [
        "https://as.example",
        "https://as.example:8443/tenant?x=y",
        "https://8.8.8.8/",
        "https://[2606:4700::1]/",
        // Judged after it was resolved.
        "https://internal.corp.example/",
    ] {
        assert!(policy.check_url(url).is_ok(), "AUTH-C-128: {url}");
    }
    for url in [
        "http://as.example/",
        "http://127.0.0.1/",
        "ftp://as.example/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "//as.example/",
        "https://",
        "",
        "https://me:secret@as.example/",
        "https://as.example/#x",
        "https://as.example/\r\nx: y",
        "https://as.example/a b",
        "https://as.example\\@10.0.0.1/",
        "https://\u{e9}.example/",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.1/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://0x7f.1/",
        "https://0x7f000001/",
        "https://2130706433/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://127.0.0.1./",
        "https://localhost:8443/",
        "https://id.localhost./",
        "https://1.2.3.4.5/",
        "https://metadata.google.internal/computeMetadata/v1/",
        "https://METADATA.google.internal./",
    ] {
        let refused = policy.check_url(url);
        let Err(AuthError::Forbidden(reason)) = refused else {
            panic!("AUTH-X-01: {url:?} {refused:?}");
        };
        assert!(!reason.contains("secret"), "AUTH-X-01: {reason}");
        assert!(!reason.contains(['\r', '\n']), "AUTH-X-01: {reason}");
    }
    let long = format!("https://as.example/{}", "x".repeat(5_000));
    assert!(policy.check_url(&long).is_err(), "AUTH-X-01");
}

#[test]
fn the_class_of_the_server_is_allowed_and_hosts_by_name() {
    let allowed = |policy: &FetchPolicy, url: &str| policy.check_url(url).is_ok();
    let loopback = policy("http://localhost:3000/mcp");
    let private = policy("https://10.1.2.3/mcp");
    let (named, plain) = (
        policy("https://a.localhost/mcp"),
        policy("http://a.localhost/mcp"),
    );
    let cases = [
        (&loopback, "http://127.0.0.1:9/", true),
        (&loopback, "http://localhost/", true),
        (&loopback, "http://[::1]/", true),
        (&loopback, "https://127.0.0.1/", true),
        (&loopback, "https://as.example/", true),
        (&loopback, "http://as.example/", false),
        (&loopback, "http://10.0.0.1/", false),
        (&loopback, "https://10.0.0.1/", false),
        (&loopback, "http://localhost./", false),
        (&private, "https://192.168.0.1/", true),
        (&private, "https://[fd00::1]/", true),
        (&private, "http://10.1.2.3/", false),
        (&private, "https://127.0.0.1/", false),
        (&private, "https://169.254.169.254/", false),
        (&private, "https://localhost/", false),
        (&loopback, "https://a.localhost/", true),
        (&named, "https://b.localhost/", true),
        (&plain, "https://a.localhost/", false),
    ];
    for (policy, url, expected) in cases {
        assert_eq!(allowed(policy, url), expected, "AUTH-C-130: {url}");
    }
    let named = FetchPolicy::default()
        .allow_host("id.localhost")
        .allow_host("10.9.9.9")
        .allow_host("169.254.169.254");
    assert!(allowed(&named, "https://10.9.9.9/"), "AUTH-C-130");
    assert!(!allowed(&named, "https://10.9.9.8/"), "AUTH-C-130");
    assert!(allowed(&named, "https://id.localhost/"), "AUTH-C-130");
    assert!(!allowed(&named, "http://10.9.9.9/"), "AUTH-C-130");
    assert!(!allowed(&named, "https://169.254.169.254/"), "AUTH-C-130");
    let everything = FetchPolicy::default().allow_everything();
    assert!(allowed(&everything, "http://10.0.0.1/"), "AUTH-C-128");
    assert!(
        !allowed(&everything, "http://169.254.169.254/"),
        "AUTH-C-130"
    );
}

#[test]
fn the_address_of_the_connection_counts_only_if_it_was_encrypted() {
    let policy = |url: &'static str, peer: &str| {
        FetchPolicy::default().for_server(&Uri::from_static(url), Some(peer.parse().unwrap()))
    };
    let private = policy("https://mcp.corp.example/", "10.0.0.1");
    assert!(private.check_url("https://10.0.0.2/").is_ok(), "AUTH-C-130");
    let rebound = policy("http://evil.example/", "127.0.0.1");
    assert!(rebound.check_url("http://127.0.0.1/").is_err(), "AUTH-X-02");
    assert!(
        rebound.check_url("https://127.0.0.1/").is_err(),
        "AUTH-X-02"
    );
    let metadata = policy("https://evil.example/", "169.254.169.254");
    assert!(
        metadata.check_url("https://169.254.169.254/").is_err(),
        "AUTH-C-130"
    );
}
