//! Errors of certificates, which state the reaction.

use treenail::client::{HttpSession, TlsConfig};
use treenail::prelude::*;

use super::authority::{Authority, Identity, Validity};
use super::server::{Clients, TlsServer};
use crate::fixture::service;

/// Connects, and returns the reason for which that fails.
async fn refused(
    identity: &Identity,
    clients: &Clients,
    tls: &TlsConfig,
    protocol: &str,
) -> String {
    let server = TlsServer::start(identity, clients.clone(), &[protocol], service()).await;
    let http = HttpSession::builder(&*server.url).tls(tls.clone());
    let error = McpClient::builder().http(http).build().await.unwrap_err();
    let authority = server.url.strip_prefix("https://").unwrap();
    let address = authority.strip_suffix("/mcp").unwrap();
    match error {
        ClientError::Unreachable(reason) => reason.replace(address, "localhost"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_certificate_of_a_server_that_is_not_accepted_has_a_reason() {
    let (authority, other) = (Authority::new("Corporate"), Authority::new("Other"));
    let tls = |authority: &Authority| {
        let tls = TlsConfig::new().ca_pem(authority.pem());
        tls.without_system_roots()
    };
    let issue = |hosts: &[&str], validity| authority.issue(hosts, validity);
    let names = [
        "a.example",
        "*.b.example",
        "127.0.0.1",
        "c\u{7}",
        "d.example",
    ];
    for (identity, tls, expected) in [
        (
            issue(&["localhost"], Validity::Now),
            tls(&other),
            "the issuer of its certificate is not trusted; trust a private authority with `TlsConfig::ca_file`, or in the system",
        ),
        (
            issue(&["localhost"], Validity::Now),
            tls(&Authority::new("Corporate")),
            "its certificate is not signed by the trusted authority of this name, which may have a new certificate",
        ),
        (
            issue(&["a.example"], Validity::Now),
            tls(&authority),
            "its certificate is for `a.example`; use one of these hosts in the URL",
        ),
        (
            issue(&names, Validity::Now),
            tls(&authority),
            "its certificate is for `a.example`, `*.b.example`, `127.0.0.1`, `c\\u{7}`, …; use one of these hosts in the URL",
        ),
        (
            issue(&["localhost"], Validity::Past),
            tls(&authority),
            "its certificate expired # days ago; renew it, or correct the clock of this computer",
        ),
        (
            issue(&["localhost"], Validity::Future),
            tls(&authority),
            "its certificate becomes valid in # days; correct the clock of this computer",
        ),
        (
            other.identity(),
            tls(&other),
            "its certificate is that of an authority; a server needs one that the authority has issued",
        ),
    ] {
        let reason = refused(&identity, &Clients::Anonymous, &tls, "h2").await;
        // The age depends on the day.
        let words = reason.split(' ').map(|word| {
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            if is_number { "#" } else { word }
        });
        let reason = words.collect::<Vec<_>>().join(" ");
        let expected = format!("no connection to the server at localhost: {expected}");
        assert_eq!(reason, expected);
    }
}

#[tokio::test]
async fn a_certificate_of_a_client_that_is_not_accepted_has_a_reason() {
    let (authority, other) = (Authority::new("Corporate"), Authority::new("Other"));
    let server = authority.issue(&["localhost"], Validity::Now);
    let clients = Clients::Required(authority.roots());
    let anonymous = TlsConfig::new()
        .ca_pem(authority.pem())
        .without_system_roots();
    let with = |identity: Identity| {
        let tls = anonymous.clone();
        tls.client_certificate_pem(identity.certificate, identity.key)
    };
    let hosts = &["client.example"];
    for (tls, expected) in [
        (
            anonymous.clone(),
            "it requires a client certificate; set one with `TlsConfig::client_certificate_files`",
        ),
        (
            with(authority.issue(hosts, Validity::Past)),
            "it refuses the client certificate, which has expired; renew it",
        ),
        (
            with(other.issue(hosts, Validity::Now)),
            "it does not trust the issuer of the client certificate; the file must contain the intermediate certificates too",
        ),
    ] {
        for protocol in ["h2", "http/1.1"] {
            let reason = refused(&server, &clients, &tls, protocol).await;
            let (_, reason) = reason.split_once(": ").unwrap();
            assert_eq!(reason, expected, "{protocol}");
        }
    }
}
