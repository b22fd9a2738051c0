//! Connections in the same process, with the tokens of the authorization server for tests.

use std::time::{Duration, SystemTime};

use serde_json::json;
use treenail::auth::testing::TestAuthorizationServer;
use treenail::auth::{AuthError, Clock, ResourceServer};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::RESOURCE;

/// Returns the subject of the caller.
#[mcp_tool(scope = "notes:read")]
fn whoami(cx: &Context) -> Option<String> {
    Some(cx.grant()?.subject().to_owned())
}

/// Needs another scope.
#[mcp_tool(scope = "notes:write")]
fn write() -> &'static str {
    "written"
}

fn servers() -> (TestAuthorizationServer, Server, ResourceServer) {
    let users = TestAuthorizationServer::builder()
        .resource(RESOURCE)
        .build();
    let server = Server::builder("notes", "1.0.0").tools(tools![whoami, write]);
    let authorization = ResourceServer::new(RESOURCE)
        .issuer(users.issuer())
        .scopes(["notes", "notes:read", "notes:write"])
        .implies("notes", ["notes:read", "notes:write"]);
    (users, server.build().unwrap(), authorization)
}

#[tokio::test]
async fn auth_s_06_scopes_are_enforced_without_network() {
    let (users, server, authorization) = servers();
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        for (scope, may_write) in [("notes:read", false), ("notes", true)] {
            let token = users.token("alice").scope(scope).verified();
            let connection = authorization.connect(&server, token).unwrap();
            let client = McpClient::builder().connection(connection);
            let client = client.protocol_version(revision).build().await.unwrap();
            let subject: String = client.call_tool_as("whoami", json!({})).await.unwrap();
            assert_eq!(subject, "alice");
            let written = client.call_tool("write", json!({})).await;
            assert_eq!(written.is_ok(), may_write, "{scope}: {written:?}");
        }
    }
}

#[test]
fn auth_s_06_a_token_for_others_is_refused() {
    let (users, server, authorization) = servers();
    let stranger = TestAuthorizationServer::builder()
        .origin("https://evil.example")
        .build();
    let elsewhere = users.token("alice").resource("https://other.example/mcp");
    let foreign = stranger.token("alice").resource(RESOURCE);
    let expired = users.token("alice");
    let late = Clock::manual(SystemTime::now() + Duration::from_secs(3600));
    let cases = [
        (elsewhere, authorization.clone()),
        (foreign, authorization.clone()),
        (expired, authorization.clock(late)),
    ];
    for (token, authorization) in cases {
        let connected = authorization.connect(&server, token.verified());
        assert!(matches!(connected, Err(AuthError::Invalid(_))));
    }
}
