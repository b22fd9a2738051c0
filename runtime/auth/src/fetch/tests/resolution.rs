//! Names whose addresses change or lead to another network.

use super::*;

#[tokio::test]
async fn a_name_that_leads_to_another_network_is_refused_when_it_is_dialled() {
    for address in [
        "10.0.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "::1",
        "::ffff:10.0.0.1",
        "fe80::1",
        "100.64.0.1",
        "0.0.0.0",
    ] {
        let names = Names::default().with("evil.example", &[&[address]]);
        let fetcher = names.fetcher(policy("https://mcp.example/mcp"));
        let refused = get(&fetcher, "https://evil.example/x").await;
        let Err(AuthError::Forbidden(reason)) = &refused else {
            panic!("AUTH-X-01: {address} {refused:?}");
        };
        assert!(reason.contains("evil.example"), "AUTH-X-01: {reason}");
    }
}

#[tokio::test]
async fn each_connection_is_judged_again() {
    let site = Site::start(|_| json("{}")).await;
    let port = site.address.port();
    let names = Names::default().with("localhost", &[&["127.0.0.1"], &["10.0.0.1"]]);
    let fetcher = names.fetcher(policy("http://127.0.0.1/mcp"));
    let url = format!("http://localhost:{port}/x");
    assert!(get(&fetcher, &url).await.is_ok());
    let refused = get(&fetcher, &url).await;
    assert!(
        matches!(refused, Err(AuthError::Forbidden(_))),
        "AUTH-X-02: {refused:?}"
    );
    assert_eq!(site.received().len(), 1, "AUTH-X-02");
}

#[tokio::test]
async fn only_the_allowed_addresses_of_a_name_are_dialled() {
    let site = Site::start(|_| json("{}")).await;
    let port = site.address.port();
    let names = Names::default().with("localhost", &[&["10.0.0.1", "127.0.0.1"]]);
    let fetcher = names.fetcher(policy("http://127.0.0.1/mcp"));
    let found = get(&fetcher, &format!("http://localhost:{port}/x")).await;
    assert!(found.is_ok(), "AUTH-C-129: {found:?}");
    let host = format!("host: localhost:{port}");
    assert!(site.received()[0].contains(&host), "AUTH-C-129");
}

#[tokio::test]
async fn a_host_that_is_allowed_by_name_may_be_in_any_network() {
    let site = Site::start(|_| json("{}")).await;
    let port = site.address.port();
    let names = || Names::default().with("idp.corp.example", &[&["127.0.0.1"]]);
    let url = format!("https://idp.corp.example:{port}/x");
    let policy = FetchPolicy::default();
    let refused = get(&names().fetcher(policy.clone()), &url).await;
    assert!(
        matches!(refused, Err(AuthError::Forbidden(_))),
        "AUTH-C-130"
    );
    let allowed = names().fetcher(policy.allow_host("IDP.corp.example"));
    // The site has no TLS, so the connection fails, but it is dialled.
    let dialled = get(&allowed, &url).await;
    assert!(
        matches!(dialled, Err(AuthError::Unavailable(_))),
        "AUTH-C-130: {dialled:?}"
    );
}
