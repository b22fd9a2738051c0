//! Refresh tokens and revocation.

use super::{RESOURCE, builder, introspect, login, post, refresh};

#[tokio::test]
async fn auth_s_02_the_second_use_of_a_refresh_token_revokes_all_tokens() {
    let server = builder().build();
    let first = login(&server).await.text("refresh_token");
    let renewed = refresh(&server, &first, &[("resource", RESOURCE)]).await;
    let second = renewed.text("refresh_token");
    assert!(!second.is_empty() && second != first);
    let access_token = renewed.text("access_token");
    assert_eq!(introspect(&server, &access_token).await["active"], true);
    assert_eq!(refresh(&server, &first, &[]).await.error(), "invalid_grant");
    assert_eq!(
        refresh(&server, &second, &[]).await.error(),
        "invalid_grant"
    );
    assert_eq!(introspect(&server, &access_token).await["active"], false);
}

#[tokio::test]
async fn a_refresh_narrows_and_never_widens() {
    let server = builder().build();
    let token = login(&server).await.text("refresh_token");
    let wider = refresh(&server, &token, &[("scope", "files:read admin")]).await;
    assert_eq!(wider.error(), "invalid_scope");
    let other = refresh(&server, &token, &[("resource", "https://other.example/")]).await;
    assert_eq!(other.error(), "invalid_target");
    let narrowed = refresh(&server, &token, &[("scope", "files:read")]).await;
    assert_eq!(narrowed.text("scope"), "files:read");
    let widened = refresh(&server, &narrowed.text("refresh_token"), &[]).await;
    assert_eq!(widened.text("scope"), "files:read files:write");
}

#[tokio::test]
async fn refresh_tokens_can_be_reusable_or_absent() {
    let server = builder().reusable_refresh_tokens().build();
    let token = login(&server).await.text("refresh_token");
    for _ in 0..2 {
        let renewed = refresh(&server, &token, &[]).await;
        assert!(!renewed.text("access_token").is_empty());
        assert!(renewed.json.get("refresh_token").is_none());
    }
    let server = builder().without_refresh_tokens().build();
    assert!(login(&server).await.json.get("refresh_token").is_none());
}

#[tokio::test]
async fn a_revoked_refresh_token_takes_its_access_tokens_along() {
    let server = builder()
        .client(crate::testing::TestClient::public("other"))
        .build();
    let tokens = login(&server).await;
    let (access, refreshed) = (tokens.text("access_token"), tokens.text("refresh_token"));
    let revoke = [("token", refreshed.as_str()), ("client_id", "other")];
    post(&server, "/revoke", &revoke, &[]).await;
    assert_eq!(introspect(&server, &access).await["active"], true);
    let revoke = [("token", refreshed.as_str()), ("client_id", "app")];
    post(&server, "/revoke", &revoke, &[]).await;
    assert_eq!(introspect(&server, &access).await["active"], false);
    assert_eq!(
        refresh(&server, &refreshed, &[]).await.error(),
        "invalid_grant"
    );
}

#[tokio::test]
async fn opaque_tokens_are_known_by_introspection_only() {
    let server = builder().opaque_access_tokens().build();
    let token = login(&server).await.text("access_token");
    assert!(!token.contains('.'));
    assert_eq!(introspect(&server, &token).await["aud"], RESOURCE);
    let of_alice = server.token("alice").resource(RESOURCE).issue();
    assert_eq!(introspect(&server, &of_alice).await["sub"], "alice");
    server.revoke_user("alice");
    assert_eq!(introspect(&server, &of_alice).await["active"], false);
    assert_eq!(introspect(&server, &token).await["active"], false);
}
