//! Resources that are user interfaces of tools.

use serde_json::{Map, Value, json};
use treenail::prelude::*;
use treenail::schema::TextResourceContents;

use crate::support::peer::{MODERN, Peer};

/// Resources with settings of their user interfaces.
struct Charts;

fn interface() -> Map<String, Value> {
    let meta = json!({"ui": {"prefersBorder": true}, "example.com/order": 1});
    serde_json::from_value(meta).unwrap()
}

#[mcp_tool]
impl Charts {
    #[resource("ui://text", meta = interface())]
    fn text() -> &'static str {
        "<html>"
    }

    #[resource("ui://bytes/{name}", meta = interface())]
    async fn bytes(&self, name: String) -> Vec<u8> {
        name.into_bytes()
    }

    #[resource("ui://contents", meta = interface())]
    fn contents() -> TextResourceContents {
        TextResourceContents::new("<html>", "ui://contents")
    }
}

#[tokio::test]
async fn settings_of_a_user_interface_are_on_its_contents_too() {
    let made = treenail::dynamic::Resource::new("made", "ui://made").meta(interface());
    let made = made.handler(|_, _| async { "<html>" });
    let server = Server::builder("charts", "1.0.0").mount(Charts).add([made]);
    let mut peer = Peer::connect(&server.build().unwrap(), MODERN).await;
    for uri in ["ui://text", "ui://bytes/a", "ui://made"] {
        let content = peer.read(uri).await["contents"][0].take();
        let expected = json!({"ui": {"prefersBorder": true}});
        assert_eq!(content["_meta"], expected, "APP-S-09: {uri}");
    }
    let own = peer.read("ui://contents").await["contents"][0].take();
    assert!(own.get("_meta").is_none(), "{own}");
}
