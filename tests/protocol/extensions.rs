//! Values that transports and layers attach to a call.

use std::task::Poll;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tower::ServiceBuilder;
use treenail::Server;
use treenail::context::Principal;
use treenail::layer::Request;
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::support::peer::{MODERN, meta, text};

struct Tenant(u32);

#[mcp_tool]
async fn who(cx: &Context) -> String {
    let principal = cx.principal().map_or("nobody", Principal::as_str);
    let tenant = cx.extension::<Tenant>().map_or(0, |tenant| tenant.0);
    format!("{principal} of {tenant}")
}

#[mcp_tool(blocking)]
fn who_blocks(cx: &Context) -> String {
    cx.principal()
        .map_or("nobody", Principal::as_str)
        .to_owned()
}

struct Desk;

#[mcp_tool(namespace = "desk")]
impl Desk {
    #[prompt]
    fn greeting(cx: &Context) -> String {
        let name = cx.principal().map_or("nobody", Principal::as_str);
        format!("Hello {name}")
    }

    #[resource("desk://{drawer}")]
    async fn drawer(cx: &Context, drawer: String) -> String {
        let name = cx.principal().map_or("nobody", Principal::as_str);
        format!("{drawer} of {name}")
    }
}

fn server() -> Server {
    let tools = tools![who, who_blocks];
    treenail::server!()
        .mount(Desk)
        .tools(tools)
        .build()
        .unwrap()
}

#[tokio::test]
async fn connection_extensions_reach_the_calls() {
    let server = server();
    for revision in Revision::ALL {
        let nobody = server.connect();
        let mut alice = server.connect();
        alice.extensions_mut().insert(Principal::new("alice"));
        alice.extensions_mut().insert(Tenant(7));
        for (connection, who, name) in [
            (nobody, "nobody of 0", "nobody"),
            (alice, "alice of 7", "alice"),
        ] {
            let client = McpClient::builder().connection(connection);
            let client = client.protocol_version(revision).build().await.unwrap();
            let result = client.call_tool("who", json!({})).await.unwrap();
            assert_eq!(text(&json!(result)), who, "{revision}");
            let result = client.call_tool("who_blocks", json!({})).await.unwrap();
            assert_eq!(text(&json!(result)), name);
            let result = client.get_prompt("desk.greeting", json!({})).await.unwrap();
            let actual = &json!(result)["messages"][0]["content"]["text"];
            assert_eq!(*actual, format!("Hello {name}"));
            let result = client.read_resource("desk://top").await.unwrap();
            let read = &json!(*result)["contents"][0]["text"];
            assert_eq!(*read, format!("top of {name}"));
        }
    }
}

#[tokio::test]
async fn calls_have_the_extensions_at_the_time_of_receipt() {
    let mut connection = server().connect();
    let mut message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "who"}});
    for (key, value) in meta(MODERN.as_str()) {
        message["params"]["_meta"][key] = value;
    }
    let message = message.to_string();
    for expected in ["alice of 0", "bob of 3", "nobody of 3"] {
        match expected {
            "alice of 0" => connection.extensions_mut().insert(Principal::new("alice")),
            "bob of 3" => {
                connection.extensions_mut().insert(Principal::new("bob"));
                connection.extensions_mut().insert(Tenant(3));
            }
            _ => assert!(connection.extensions_mut().remove::<Principal>()),
        }
        let mut out = Vec::new();
        let _ = connection.handle_message(message.as_bytes(), &mut out);
        let answer: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(text(&answer["result"]), expected);
    }
}

#[tokio::test]
async fn connections_with_extensions_are_served_over_byte_streams() {
    let mut connection = server().connect();
    connection.extensions_mut().insert(Principal::new("alice"));
    let (here, there) = tokio::io::duplex(4096);
    let (reader, writer) = tokio::io::split(there);
    let served = tokio::spawn(connection.serve(reader, writer));
    let (reader, mut writer) = tokio::io::split(here);
    let mut message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "who"}});
    for (key, value) in meta(MODERN.as_str()) {
        message["params"]["_meta"][key] = value;
    }
    writer
        .write_all(format!("{message}\n").as_bytes())
        .await
        .unwrap();
    writer.shutdown().await.unwrap();
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).await.unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(text(&answer["result"]), "alice of 0");
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn extensions_of_a_layer_reach_only_its_function() {
    let authenticate = ServiceBuilder::new().map_request(|mut call: Request| {
        assert_eq!(call.context().principal().unwrap().as_str(), "alice");
        if call.arguments().contains("deputy") {
            call.extensions_mut().insert(Principal::new("bob"));
            call.extensions_mut().insert(Tenant(9));
        }
        call.set_arguments(serde_json::Map::new());
        call
    });
    let server = treenail::server!()
        .tools(tools![who])
        .layer(authenticate)
        .build()
        .unwrap();
    let mut alice = server.connect();
    alice.extensions_mut().insert(Principal::new("alice"));
    let client = McpClient::builder()
        .connection(alice)
        .build()
        .await
        .unwrap();
    for (arguments, expected) in [
        (json!({"deputy": true}), "bob of 9"),
        (json!({}), "alice of 0"),
    ] {
        let result = client.call_tool("who", arguments).await.unwrap();
        assert_eq!(text(&json!(result)), expected);
    }
}

#[test]
fn a_server_with_layers_can_be_shared_and_polled_anywhere() {
    fn check<T: Send + Sync>(_: &T) -> Poll<()> {
        Poll::Ready(())
    }
    let builder = treenail::server!().layer(ServiceBuilder::new());
    assert!(check(&builder).is_ready());
    assert!(check(&builder.build().unwrap()).is_ready());
}
