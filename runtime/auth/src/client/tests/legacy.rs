//! Servers of 2025-03-26, which are their own authorization servers and publish no metadata of a resource.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use treenail::client::{HttpClientBuilderExt as _, McpClientSession};
use treenail_runtime::client::ClientError;
use treenail_schema::Revision;

use super::fixture::{call, clock, oauth, read_request, response, session_at};
use crate::testing::TestAuthorizationServer;
use crate::{MemoryStore, OAuth};

/// The header `MCP-Protocol-Version` of each request for metadata.
type Revisions = Arc<Mutex<Vec<Option<String>>>>;

/// Starts a server whose tokens are valid for an hour. Returns its origin, and the record of requests for its metadata.
async fn start() -> (String, Revisions) {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", socket.local_addr().unwrap());
    let authorization = TestAuthorizationServer::builder()
        .origin(&origin)
        .access_token_lifetime(Duration::from_secs(3600))
        .build();
    let revisions = Revisions::default();
    let seen = Arc::clone(&revisions);
    tokio::spawn(async move {
        while let Ok((stream, _)) = socket.accept().await {
            let (authorization, seen) = (authorization.clone(), Arc::clone(&seen));
            tokio::spawn(async move { serve(stream, &authorization, &seen).await });
        }
    });
    (origin, revisions)
}

async fn serve(
    mut stream: TcpStream,
    authorization: &TestAuthorizationServer,
    revisions: &Revisions,
) -> io::Result<()> {
    let (head, body) = read_request(&mut stream).await?;
    let mut lines = head.lines();
    let mut start = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (start.next().unwrap(), start.next().unwrap());
    let headers: Vec<_> = lines.filter_map(|line| line.split_once(": ")).collect();
    let header = |wanted: &str| {
        let found = headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| (*value).to_owned())
    };
    let answer = match target {
        "/mcp" if header("authorization").is_none() => {
            response("401 Unauthorized", "www-authenticate: Bearer\r\n", "")
        }
        "/mcp" => response(
            "200 OK",
            "content-type: application/json\r\n",
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ),
        _ if target.contains("oauth-protected-resource") => response("404 Not Found", "", ""),
        _ => {
            if target.contains(".well-known") {
                revisions
                    .lock()
                    .unwrap()
                    .push(header("mcp-protocol-version"));
            }
            let mut request = Request::builder().method(method).uri(target);
            for (name, value) in &headers {
                request = request.header(*name, *value);
            }
            let request = request.body(Bytes::from(body)).unwrap();
            text_of(&authorization.handle(request).await?)
        }
    };
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

fn text_of(answer: &http::Response<Bytes>) -> String {
    let headers = answer.headers().iter();
    let headers = headers.filter(|(name, _)| *name != "content-length");
    let headers = headers.map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap()));
    let headers = headers.collect::<Vec<_>>().concat();
    let body = std::str::from_utf8(answer.body()).unwrap();
    response(&answer.status().to_string(), &headers, body)
}

#[tokio::test]
async fn a_refresh_and_a_logout_state_the_revision_of_this_discovery() {
    let (origin, revisions) = start().await;
    let (store, clock) = (Arc::<MemoryStore>::default(), clock());
    let client = || -> OAuth { oauth().clock(clock.clone()).store(Arc::clone(&store)) };
    let session = || session_at(format!("{origin}/mcp"), &client());
    call(&session(), "tools/list").await.unwrap();
    let taken = || std::mem::take(&mut *revisions.lock().unwrap());
    let of_request = Some(Revision::LATEST.as_str().to_owned());
    assert_eq!(taken(), [of_request], "AUTH-C-34");
    // Another process has cached no metadata.
    clock.advance(Duration::from_secs(3590));
    call(&session(), "tools/list").await.unwrap();
    let assumed = [Some("2025-03-26".to_owned())];
    assert_eq!(taken(), assumed, "AUTH-C-34, CLI-AUTH-46");
    client().logout(&format!("{origin}/mcp")).await.unwrap();
    assert_eq!(taken(), assumed, "AUTH-C-34, CLI-AUTH-46");
}

#[tokio::test]
async fn a_client_of_later_revisions_only_does_not_use_this_discovery() {
    for (revision, is_used) in [
        (Revision::V2025_03_26, true),
        (Revision::V2025_06_18, false),
        (Revision::LATEST, false),
    ] {
        let (origin, revisions) = start().await;
        let client = McpClientSession::builder()
            .url(format!("{origin}/mcp"))
            .protocol_version(revision)
            .authorization(oauth());
        // With a token, the result of the handshake is not one.
        let error = client.build().await.unwrap_err();
        let is_unauthorized = matches!(error, ClientError::Authorization(_));
        assert_eq!(is_unauthorized, !is_used, "AUTH-C-46: {revision} {error}");
        let has_asked = !revisions.lock().unwrap().is_empty();
        assert_eq!(has_asked, is_used, "AUTH-C-46: {revision}");
    }
}
