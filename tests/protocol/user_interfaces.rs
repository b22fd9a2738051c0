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

/// A tool with a view, for models and for the view.
#[mcp_tool(read_only, meta = json!({"ui": {"resourceUri": "ui://text", "visibility": ["model", "app"]}}))]
fn sales() -> u32 {
    7
}

#[tokio::test]
async fn metadata_is_an_object_of_json() {
    let made =
        treenail::dynamic::Tool::new("made").meta(json!({"ui": {"resourceUri": "ui://made"}}));
    let made = made.handler(|_, _| async { "7" });
    let server = Server::builder("charts", "1.0.0")
        .tools(tools![sales])
        .add([made]);
    let mut peer = Peer::connect(&server.build().unwrap(), MODERN).await;
    let tools = peer.request("tools/list", json!({})).await["result"]["tools"].take();
    let expected = json!({"ui": {"resourceUri": "ui://text", "visibility": ["model", "app"]}});
    assert_eq!(tools[0]["_meta"], expected, "APP-S-05");
    assert_eq!(
        tools[1]["_meta"],
        json!({"ui": {"resourceUri": "ui://made"}})
    );
}

/// Features whose metadata is no object.
mod invalid {
    use super::*;

    #[mcp_tool(meta = json!(["a"]))]
    pub(super) fn tool() {}

    pub(super) struct Prompts;

    #[mcp_tool]
    impl Prompts {
        #[prompt(meta = json!("a"))]
        fn prompt() -> &'static str {
            "a"
        }
    }

    pub(super) struct Resources;

    #[mcp_tool]
    impl Resources {
        #[resource("a://b", meta = json!(7))]
        fn resource() -> &'static str {
            "a"
        }
    }
}

#[test]
fn metadata_of_another_type_is_an_error() {
    use treenail::dynamic::{Prompt, Resource, ResourceTemplate, Tool};

    let new = || Server::builder("charts", "1.0.0");
    let (sequence, integer) = ("sequence", "integer `7`");
    let seven = json!(7);
    let cases = [
        (new().tools(tools![invalid::tool]), "tool `tool`", sequence),
        (
            new().mount(invalid::Prompts),
            "prompt `prompt`",
            "string \"a\"",
        ),
        (
            new().mount(invalid::Resources),
            "resource `resource`",
            integer,
        ),
        (
            new().add([Tool::new("a").meta(seven.clone()).handler(|_, _| async {})]),
            "tool `a`",
            integer,
        ),
        (
            new().add([Prompt::new("a")
                .meta(seven.clone())
                .handler(|_, _| async { "" })]),
            "prompt `a`",
            integer,
        ),
        (
            new().add([Resource::new("a:b", "a")
                .meta(seven.clone())
                .handler(|_, _| async { "" })]),
            "resource `a`",
            integer,
        ),
        (
            new().add([ResourceTemplate::new("a:{b}", "a")
                .meta(seven)
                .handler(|_, _| async { "" })]),
            "resource `a`",
            integer,
        ),
    ];
    for (server, feature, given) in cases {
        let error = server.build().unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "{feature}: its `meta` is not an object: invalid type: {given}, expected a map"
            )
        );
    }
}

#[tokio::test]
async fn settings_of_a_user_interface_are_on_its_contents_too() {
    let made = treenail::dynamic::Resource::new("ui://made", "made").meta(interface());
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
