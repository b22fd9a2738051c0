//! Servers that never end, or that answer in another format.

use super::*;

#[tokio::test]
async fn a_body_that_is_too_large_is_an_error_without_its_text() {
    let canary = "canary ".repeat(50_000);
    let chunk = format!("{:x}\r\n{canary}\r\n", canary.len());
    let chunked = format!("HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n{chunk}");
    for bytes in [json(&canary), chunked.into_bytes()] {
        let site = Site::start(move |_| bytes.clone()).await;
        let error = get(&local(), &site.url("/a")).await.unwrap_err();
        assert!(
            matches!(error, AuthError::Document { .. }),
            "AUTH-C-135: {error:?}"
        );
        assert!(!error.to_string().contains("canary"), "AUTH-C-134");
    }
    let header = format!("x: {}\r\n", "y".repeat(100_000));
    let site = Site::start(move |_| response(200, &header, "{}")).await;
    let error = get(&local(), &site.url("/a")).await.unwrap_err();
    assert!(
        matches!(error, AuthError::Unavailable(_)),
        "AUTH-X-03: {error:?}"
    );
}

#[tokio::test]
async fn bodies_in_another_format_are_refused_without_their_text() {
    let deep = format!("{{\"canary\":{}1{}}}", "[".repeat(32), "]".repeat(32));
    let deepest = "[".repeat(100_000);
    let fits = format!("{{\"a\":{}1{}}}", "[".repeat(31), "]".repeat(31));
    for (body, fits) in [
        (&*deep, false),
        (&*deepest, false),
        ("[\"canary\"]", false),
        ("canary", false),
        ("", false),
        (&*fits, true),
        ("{}", true),
    ] {
        let bytes = json(body);
        let site = Site::start(move |_| bytes.clone()).await;
        let found = get(&local(), &site.url("/a")).await.unwrap();
        assert_eq!(found.json().is_ok(), fits, "AUTH-X-03: {body:.40}");
        let shown = format!("{found:?} {:?}", found.json().err());
        assert!(!shown.contains("canary"), "AUTH-C-134: {shown}");
    }
}

#[tokio::test]
async fn a_compressed_body_is_refused_and_that_of_an_error_is_ignored() {
    for encoding in ["gzip", "br", "deflate, gzip", "x"] {
        let header = format!("content-encoding: {encoding}\r\n");
        let site = Site::start(move |head| {
            let status = if head.starts_with("GET /a ") {
                200
            } else {
                503
            };
            response(status, &header, "{}")
        })
        .await;
        let error = get(&local(), &site.url("/a")).await.unwrap_err();
        assert!(
            matches!(error, AuthError::Document { .. }),
            "AUTH-X-03: {error:?}"
        );
        let failed = get(&local(), &site.url("/b")).await.unwrap();
        assert_eq!((failed.status.as_u16(), failed.body.len()), (503, 0));
    }
}

#[tokio::test]
async fn another_protocol_is_an_error() {
    for bytes in [
        b"SSH-2.0-x\r\n".to_vec(),
        b"\x15\x03\x01\0\x02\x02\x28".to_vec(),
        vec![0; 100],
    ] {
        let site = Site::start(move |_| bytes.clone()).await;
        let error = get(&local(), &site.url("/a")).await.unwrap_err();
        assert!(
            matches!(error, AuthError::Unavailable(_)),
            "AUTH-X-03: {error:?}"
        );
        let url = site.url("/a").replace("http:", "https:");
        let error = get(&local(), &url).await.unwrap_err();
        assert!(
            matches!(error, AuthError::Unavailable(_)),
            "AUTH-X-03: {error:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up() {
    for bytes in [
        Vec::new(),
        b"HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n{".to_vec(),
    ] {
        let is_silent = bytes.is_empty();
        let site = Site::start(move |_| bytes.clone()).await;
        let error = get(&local(), &site.url("/a")).await.unwrap_err();
        assert!(
            matches!(error, AuthError::Unavailable(_)),
            "AUTH-X-03: {is_silent} {error:?}"
        );
    }
}

#[tokio::test]
async fn a_discovery_has_a_maximum_number_of_requests() {
    let site = Site::start(|_| json("{}")).await;
    let (fetcher, budget) = (local(), Budget::discovery());
    for number in 0..17 {
        let found = fetcher
            .get(&site.url("/a"), &HeaderMap::new(), &budget)
            .await;
        assert_eq!(found.is_ok(), number < 16, "AUTH-C-135: {number}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_discovery_has_a_maximum_duration() {
    let budget = Budget::discovery();
    tokio::time::advance(std::time::Duration::from_secs(31)).await;
    let late = local()
        .get("http://127.0.0.1:1/", &HeaderMap::new(), &budget)
        .await;
    assert!(matches!(late, Err(AuthError::Unavailable(_))), "AUTH-C-135");
}
