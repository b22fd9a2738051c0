//! Servers over HTTP that requests do not reach for a while.

use std::net::SocketAddr;

use tokio::task::JoinHandle;
use treenail::prelude::*;
use treenail::proxy::{Remote, Status};

use crate::station::{LEGACY, MODERN, client_of, gateway, station};

/// Serves a station at a port.
async fn serve(port: u16) -> (Server, SocketAddr, JoinHandle<treenail::Result<()>>) {
    let (server, _) = station();
    let http = server.bind_http(("127.0.0.1", port)).await.unwrap();
    let address = http.local_addr();
    (server, address, tokio::spawn(http.serve()))
}

#[tokio::test]
async fn the_status_is_that_of_the_latest_request_over_http() {
    for revision in [LEGACY, MODERN] {
        let (first, address, serving) = serve(0).await;
        let remote = Remote::new("st", move || {
            McpClient::builder()
                .url(format!("http://{address}/mcp"))
                .protocol_version(revision)
        });
        let (gateway, proxy) = gateway();
        let mounted = proxy.mount(remote).unwrap();
        mounted.connected().await;
        let connected = mounted.status();
        let client = client_of(&gateway, MODERN).build().await.unwrap();
        let add = || client.call_tool_as::<i64>("st.add", json!({"a": 1, "b": 2}));

        first.close();
        serving.await.unwrap().unwrap();
        assert!(add().await.is_err(), "{revision}");
        let Status::Disconnected { cause, .. } = mounted.disconnected().await else {
            panic!("{revision}: it is connected");
        };
        assert!(cause.contains(&address.to_string()), "{revision}: {cause}");
        let tools = client.tools().await.unwrap();
        assert!(tools.iter().any(|tool| tool.name == "st.add"), "{revision}");

        let (_second, _, serving) = serve(address.port()).await;
        assert_eq!(add().await.unwrap(), 3, "{revision}");
        mounted.connected().await;
        assert_eq!(mounted.status(), connected, "{revision}");
        serving.abort();
    }
}
