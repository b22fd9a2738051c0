//! Informational responses without end, on a stream that no request waits for.

use serde_json::json;

use super::listener::TestSession;
use super::scripted_server::{Response, ScriptedServer};

#[tokio::test]
async fn endless_informational_responses_end_the_stream() {
    let server = ScriptedServer::new(|received| match (&*received.method, received.rpc()) {
        (_, "initialize") => Response::result(
            received,
            &json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "serverInfo": {"name": "server", "version": "1"},
            }),
        ),
        ("GET", _) => Response::repeated("HTTP/1.1 100 Continue\r\n\r\n"),
        _ => Response::accepted(),
    })
    .await;
    let _dialog = TestSession::legacy(&server.url).await;
    // The client disconnects while the server is still sending.
    server.disconnected.notified().await;
}
