//! Scopes of the features of a server behind a proxy.

use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote};

use super::{Guarded, builder, expect_forbidden};
use crate::client::Post;

/// Notes without authorization of their own.
struct Notes;

#[mcp_tool]
impl Notes {
    /// Describes the notes.
    #[tool]
    fn about() -> &'static str {
        "notes"
    }

    /// Reads a note.
    #[tool]
    fn read() -> &'static str {
        "a note"
    }

    /// Writes a note.
    #[tool]
    fn write() -> &'static str {
        "written"
    }

    /// Needs a scope that the resource server does not declare.
    #[tool]
    fn unknown() -> &'static str {
        "unknown"
    }

    /// Reviews a note.
    #[prompt]
    fn review() -> &'static str {
        "Review it."
    }

    /// The first note.
    #[resource("note://first")]
    fn first() -> &'static str {
        "first"
    }

    /// Any note.
    #[resource("note://all/{id}")]
    fn any(id: u8) -> String {
        format!("note {id}")
    }
}

async fn gateway() -> Guarded {
    let notes = Server::builder("notes", "1.0.0").mount(Notes).build();
    let notes = notes.unwrap();
    let guarded = Guarded::of(builder().dynamic(), |resource| resource);
    let remote = Remote::new("notes", move || McpClient::builder().server(&notes));
    let remote = remote.scope(|feature| match feature.name() {
        "about" => "",
        "write" => "files:write",
        "unknown" => "files:unknown",
        "unlisted" => "files:audit",
        _ => "files:read",
    });
    let proxy = Proxy::new(guarded.service.server());
    proxy.mount(remote).unwrap().connected().await;
    guarded
}

#[tokio::test]
async fn mounted_features_need_their_scopes() {
    let guarded = gateway().await;
    let tool = |name: &str| Post::tool(&format!("notes.{name}"), json!({}));
    let read = |uri: &str| Post::modern("resources/read", json!({"uri": uri}));
    let review = Post::modern("prompts/get", json!({"name": "notes.review"}));
    let cases = [
        (tool("read"), "files:read"),
        (tool("write"), "files:write"),
        (tool("unknown"), "files:unknown"),
        (review, "files:read"),
        (read("note://first"), "files:read"),
        (read("note://all/7"), "files:read"),
        (read("notes+note://elsewhere"), "files:audit"),
    ];
    for (post, scopes) in cases {
        let case = format!("AUTH-R-14 AUTH-R-53: {}", post.body);
        expect_forbidden(&guarded.send_with(post, "").await, scopes, &case);
    }
    for (post, scopes) in [
        (tool("about"), ""),
        (tool("read"), "files:read"),
        (tool("write"), "files"),
        (read("note://first"), "files:read"),
    ] {
        let body = post.body.clone();
        let response = guarded.send_with(post, scopes).await;
        assert_eq!(response.status, 200, "{body}: {response:?}");
    }
}
