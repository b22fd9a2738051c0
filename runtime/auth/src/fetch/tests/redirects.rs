//! Redirects, and the headers of requests.

use super::*;
use crate::Secret;

fn redirect(target: &str) -> Vec<u8> {
    response(307, &format!("location: {target}\r\n"), "")
}

#[tokio::test]
async fn redirects_of_a_document_stay_within_its_origin() {
    let elsewhere = Site::start(|_| json("{}")).await;
    for target in [
        elsewhere.url("/x"),
        "http://10.0.0.1/x".to_owned(),
        "https://127.0.0.1/x".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        "http://me@127.0.0.1/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let location = target.clone();
        let site = Site::start(move |_| redirect(&location)).await;
        let found = get(&local(), &site.url("/a")).await.unwrap();
        assert_eq!(found.status, 307, "AUTH-X-02: {target}");
        assert_eq!(site.received().len(), 1, "AUTH-C-131: {target}");
    }
    assert!(elsewhere.received().is_empty(), "AUTH-X-02");
    let site = Site::start(|head| match head.split(' ').nth(1) {
        Some("/a") => redirect("/b"),
        Some("/b") => redirect("c"),
        Some("/c") => redirect("?d"),
        _ => json("{}"),
    });
    let site = site.await;
    assert_eq!(get(&local(), &site.url("/a")).await.unwrap().status, 200);
}

#[tokio::test]
async fn the_number_of_redirects_is_bounded() {
    let site = Site::start(|_| redirect("/again")).await;
    let found = get(&local(), &site.url("/a")).await.unwrap();
    assert_eq!(
        (found.status.as_u16(), site.received().len()),
        (307, 4),
        "AUTH-C-131"
    );
}

#[tokio::test]
async fn a_redirect_of_a_form_is_refused() {
    for status in [301, 302, 303, 307, 308] {
        let site = Site::start(move |_| response(status, "location: /b\r\n", "")).await;
        let mut headers = HeaderMap::new();
        headers.insert("authorization", "Basic c2VjcmV0".parse().unwrap());
        let form = Secret::from("code=canary");
        let posted = local().post_form(&site.url("/token"), &form, headers).await;
        assert!(
            matches!(posted, Err(AuthError::Forbidden(_))),
            "AUTH-C-93: {posted:?}"
        );
        assert_eq!(site.received().len(), 1, "AUTH-C-93");
    }
}

#[tokio::test]
async fn a_form_carries_its_headers_and_returns_any_status() {
    let body = r#"{"error":"invalid_grant"}"#;
    let site = Site::start(move |_| response(400, "dpop-nonce: n\r\n", body)).await;
    let mut headers = HeaderMap::new();
    headers.insert("dpop", "proof".parse().unwrap());
    let form = Secret::from("a=b");
    let posted = local()
        .post_form(&site.url("/token"), &form, headers)
        .await
        .unwrap();
    assert_eq!(posted.status, 400);
    assert_eq!(posted.headers["dpop-nonce"], "n", "AUTH-C-155");
    assert_eq!(posted.json().unwrap()["error"], "invalid_grant");
    let head = &site.received()[0];
    for header in [
        "POST /token ",
        "dpop: proof",
        "content-type: application/x-www-form-urlencoded",
        "accept: application/json",
    ] {
        assert!(head.contains(header), "AUTH-C-93: {header} in {head}");
    }
}

#[tokio::test]
async fn a_request_for_a_document_carries_no_credentials() {
    let cookie = "set-cookie: a=b\r\nwww-authenticate: Basic\r\n";
    let site = Site::start(move |_| response(401, cookie, "{}")).await;
    let fetcher = local();
    for _ in 0..2 {
        get(&fetcher, &site.url("/a")).await.unwrap();
    }
    let expected = format!(
        "GET /a HTTP/1.1\r\naccept: application/json\r\nhost: {}\r\n\r\n",
        site.address
    );
    assert_eq!(site.received(), [expected.clone(), expected], "AUTH-C-135");
}
