//! The era of a server, and the revision in it, by the responses of the server.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use treenail::client::{ClientError, Session, SessionNotification};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::{connect_to, unsupported};
use crate::fixture::server;
use crate::script::{Reply, discovered, initialized, scripted};

#[tokio::test]
async fn the_newest_common_revision_is_negotiated() {
    let (server, _) = server();
    let session = McpClientSession::builder()
        .server(&server)
        .build()
        .await
        .unwrap();
    assert_eq!(
        session.protocol_version(),
        Revision::LATEST,
        "CLI-ERA-01, CLI-ERA-02"
    );
    assert_eq!(session.peer_info().supported_versions.len(), 5);
}

#[tokio::test]
async fn an_error_without_modern_data_means_legacy() {
    let errors = [
        json!({"code": -32601, "message": "no such method"}),
        json!({"code": -32602, "message": "not initialized"}),
        json!({"code": -32002, "message": "not initialized"}),
        json!({"code": 0, "message": ""}),
    ];
    for error in errors {
        let (connected, received) = connect_to(move |message| match message["method"].as_str() {
            Some("server/discover") => Reply::error(message, &error),
            Some("initialize") => initialized(message, "2025-06-18"),
            _ => Reply::nothing(),
        })
        .await;
        let session = connected.unwrap();
        let revision = session.protocol_version();
        assert_eq!(revision, Revision::V2025_06_18, "CLI-ERA-05");
        session.close().await.unwrap();
        let expected = ["server/discover", "initialize", "notifications/initialized"];
        assert_eq!(received.methods(), expected, "CLI-ERA-04, CLI-LIFE-04");
        let offered = &received.all()[1]["params"];
        assert_eq!(offered["protocolVersion"], "2025-11-25", "CLI-LIFE-02");
        assert!(offered["clientInfo"]["name"].is_string(), "CLI-LIFE-01");
    }
}

#[tokio::test]
async fn a_result_without_revisions_means_legacy() {
    let (connected, _) = connect_to(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2024-11-05"),
        _ if message["id"].is_null() => Reply::nothing(),
        _ => Reply::result(message, &json!({})),
    })
    .await;
    assert_eq!(
        connected.unwrap().protocol_version(),
        Revision::V2024_11_05,
        "CLI-ERA-04"
    );
}

#[tokio::test]
async fn an_unusual_ttl_does_not_mean_legacy() {
    for ttl in [json!(-1), json!(60000.0), json!(1e30)] {
        let (connected, received) = connect_to(move |message| {
            let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {}, "ttlMs": ttl});
            Reply::result(message, &result)
        })
        .await;
        let revision = connected.unwrap().protocol_version();
        assert_eq!(revision, Revision::LATEST, "CLI-CACHE-03");
        assert_eq!(received.methods(), ["server/discover"]);
    }
}

#[tokio::test]
async fn a_malformed_list_of_revisions_does_not_mean_legacy() {
    for versions in [json!("2026-07-28"), json!([1]), json!(null)] {
        let (connected, received) = connect_to(move |message| {
            let result = json!({"supportedVersions": versions, "capabilities": {}});
            Reply::result(message, &result)
        })
        .await;
        let error = connected.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{error}");
        assert_eq!(received.methods(), ["server/discover"]);
    }
}

#[tokio::test(start_paused = true)]
async fn no_response_means_legacy() {
    let (connected, received) = connect_to(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        _ => Reply::nothing(),
    })
    .await;
    assert_eq!(
        connected.unwrap().protocol_version(),
        Revision::V2025_11_25,
        "CLI-ERA-04"
    );
    // CLI-LIFE-05: nothing else is sent before the handshake, not even a cancellation.
    assert_eq!(received.methods()[1], "initialize");
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_handshake_is_not_cancelled() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => Reply::error(message, &json!({"code": -32601, "message": "no"})),
        _ => Reply::nothing(),
    });
    let builder = McpClientSession::builder().session(session.clone());
    let built = timeout(Duration::from_secs(1), builder.build()).await;
    assert!(built.is_err(), "`initialize` is not answered");
    let changed = "notifications/roots/list_changed";
    let notification = SessionNotification::new(changed, "{}".to_owned());
    session.notify(notification).await.unwrap();
    while !received.methods().iter().any(|method| method == changed) {
        tokio::task::yield_now().await;
    }
    let expected = ["server/discover", "initialize", changed];
    assert_eq!(received.methods(), expected, "CLI-LIFE-06");
}

#[tokio::test]
async fn a_modern_error_prevents_the_legacy_handshake() {
    // The server names the revision and accepts it the second time.
    let error = unsupported(&json!(["2026-07-28"]));
    let mut refused = false;
    let (connected, received) = connect_to(move |message| {
        if std::mem::replace(&mut refused, true) {
            discovered(message)
        } else {
            Reply::error(message, &error)
        }
    })
    .await;
    assert_eq!(
        connected.unwrap().protocol_version(),
        Revision::LATEST,
        "CLI-VER-02"
    );
    assert_eq!(
        received.methods(),
        ["server/discover", "server/discover"],
        "CLI-ERA-03"
    );
    let ids: Vec<_> = received
        .all()
        .iter()
        .map(|message| message["id"].clone())
        .collect();
    assert_ne!(ids[0], ids[1], "CLI-BASE-01");

    for error in [
        unsupported(&json!(["2031-01-01"])),
        json!({"code": -32021, "message": "no", "data": {"requiredCapabilities": {"roots": {}}}}),
    ] {
        let (connected, received) = connect_to(move |message| Reply::error(message, &error)).await;
        let error = connected.unwrap_err();
        assert!(
            matches!(error, ClientError::Unsupported(_) | ClientError::Refused(_)),
            "CLI-ERA-03: {error}"
        );
        assert_eq!(received.methods(), ["server/discover"], "CLI-ERA-03");
    }
}

#[tokio::test]
async fn a_rejection_with_legacy_revisions_leads_to_a_handshake() {
    let error = unsupported(&json!(["2025-06-18", "2024-11-05", "unknown"]));
    let (connected, received) = connect_to(move |message| match message["method"].as_str() {
        Some("server/discover") => Reply::error(message, &error),
        Some("initialize") => initialized(message, "2025-06-18"),
        _ => Reply::nothing(),
    })
    .await;
    let session = connected.unwrap();
    assert_eq!(session.protocol_version(), Revision::V2025_06_18);
    session.close().await.unwrap();
    let expected = ["server/discover", "initialize", "notifications/initialized"];
    assert_eq!(received.methods(), expected);
    let offered = &received.all()[1]["params"]["protocolVersion"];
    assert_eq!(offered, "2025-06-18", "the newest revision that it names");
}

#[tokio::test]
async fn an_unknown_revision_ends_the_connection() {
    let (connected, _) = connect_to(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "1999-01-01"),
        _ => Reply::error(message, &json!({"code": -32601, "message": "no"})),
    })
    .await;
    let error = connected.unwrap_err();
    assert!(
        matches!(error, ClientError::Unsupported(_)),
        "CLI-LIFE-03: {error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_contradicts_itself_is_rejected() {
    let (connected, received) = connect_to(|message| match message["method"].as_str() {
        Some("server/discover") => Reply::error(message, &json!({"code": -32601, "message": "no"})),
        _ => Reply::error(message, &unsupported(&json!(["2026-07-28"]))),
    })
    .await;
    let error = connected.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    let expected = ["server/discover", "initialize", "server/discover"];
    assert_eq!(received.methods(), expected);
}

#[tokio::test]
async fn a_discovery_of_an_unknown_result_type_is_an_error() {
    for kind in ["task", "input_required", "bogus"] {
        let (connected, received) = connect_to(move |message| {
            let result = json!({"resultType": kind, "supportedVersions": ["2026-07-28"],
                "capabilities": {}});
            Reply::result(message, &result)
        })
        .await;
        let error = connected.unwrap_err();
        assert!(
            matches!(error, ClientError::Protocol(_)),
            "CLI-BASE-03, TASK-C-01: {error}"
        );
        assert!(error.to_string().contains(kind), "{error}");
        assert_eq!(received.methods(), ["server/discover"]);
    }
}
