//! Calls of servers that were never connected.

use treenail::ServerBuilder;
use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote, Status};

use crate::station::{ERAS, client_of};

/// Says hello.
#[mcp_tool(read_only)]
fn hello() -> &'static str {
    "hello"
}

fn builder() -> ServerBuilder {
    let builder = Server::builder("gateway", "1.0.0").dynamic();
    builder.namespace("own", |own| own.tools(tools![hello]))
}

/// Mounts a server that cannot be reached. Returns the proxy, and the cause.
async fn mounted(server: &Server, namespace: &str) -> (Proxy, String) {
    let proxy = Proxy::new(server);
    let remote = Remote::new("st", McpClient::builder).namespace(namespace);
    let mounted = proxy.mount(remote).unwrap();
    let Status::Disconnected { cause, .. } = mounted.ready().await else {
        panic!("{}", mounted.status());
    };
    (proxy, cause.to_string())
}

async fn error(client: &McpClient, tool: &str) -> String {
    let error = client.call_tool(tool, ()).await.unwrap_err();
    error.as_refused().unwrap().message.clone().into_owned()
}

#[tokio::test]
async fn the_error_is_the_reason_and_not_the_unknown_name() {
    let server = builder().build().unwrap();
    let (proxy, cause) = mounted(&server, "st").await;
    for (era, _) in ERAS {
        let client = client_of(&server, era).build().await.unwrap();
        let reason = format!("the server `st` is not connected: {cause}");
        let expected = format!("unknown tool `st.add`: {reason}");
        assert_eq!(error(&client, "st.add").await, expected, "{era}");
        let prompt = client.get_prompt("st.trip", ()).await.unwrap_err();
        let expected = format!("unknown prompt `st.trip`: {reason}");
        assert_eq!(prompt.as_refused().unwrap().message, expected, "{era}");
        // Others are unknown as before.
        let expected =
            "unknown tool `own.helo`: namespace `own` has no `helo`; did you mean `own.hello`?";
        assert_eq!(error(&client, "own.helo").await, expected, "{era}");
        let expected = "unknown tool `station.add`: there is no namespace `station`";
        assert_eq!(error(&client, "station.add").await, expected, "{era}");
    }
    proxy.close().await;
    let client = client_of(&server, ERAS[0].0).build().await.unwrap();
    let expected = "unknown tool `st.add`: there is no namespace `st`";
    assert_eq!(error(&client, "st.add").await, expected);
}

#[tokio::test]
async fn a_server_without_a_namespace_may_have_each_name_outside_of_the_others() {
    let server = builder().build().unwrap();
    let (_proxy, cause) = mounted(&server, "").await;
    let client = client_of(&server, ERAS[0].0).build().await.unwrap();
    let expected = format!("unknown tool `add`: the server `st` is not connected: {cause}");
    assert_eq!(error(&client, "add").await, expected);
    let unknown = error(&client, "own.helo").await;
    assert!(unknown.contains("has no `helo`"), "{unknown}");
}

#[tokio::test]
async fn callers_that_see_different_features_get_no_reason() {
    let server = builder().visible(|_, _| true).build().unwrap();
    let (_proxy, _) = mounted(&server, "st").await;
    let client = client_of(&server, ERAS[0].0).build().await.unwrap();
    let expected = "unknown tool `st.add`: there is no namespace `st`";
    assert_eq!(error(&client, "st.add").await, expected);
}
