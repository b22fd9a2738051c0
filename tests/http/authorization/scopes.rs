//! Scopes that functions declare.

use treenail::dynamic::ResourceTemplate;
use treenail::extension::Extension;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::scope::{Access, Authority, RequiredScopes};

use super::files::add_files;
use super::{Guarded, builder, expect_forbidden, tool, with_token};
use crate::client::Post;

fn complete(reference: &Value) -> Post {
    let argument = json!({"name": "name", "value": ""});
    Post::modern(
        "completion/complete",
        json!({"ref": reference, "argument": argument}),
    )
}

fn read(uri: &str) -> Post {
    Post::modern("resources/read", json!({"uri": uri}))
}

#[tokio::test]
async fn functions_need_their_scopes() {
    let guarded = Guarded::new();
    let review = || {
        Post::modern(
            "prompts/get",
            json!({"name": "files.review", "arguments": {"name": "x"}}),
        )
    };
    let prompt = json!({"type": "ref/prompt", "name": "files.review"});
    let template = json!({"type": "ref/resource", "uri": "file:///{name}"});
    let listen = Post::modern(
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": ["file:///public", "file:///x"]}}),
    );
    let cases = [
        (tool("read"), "files:read"),
        (tool("write"), "files:write"),
        (tool("rename"), "files:read files:write"),
        (tool("audit"), "files:audit"),
        (Post::tool("files_write", json!({})), "files:write"),
        (review(), "files:read files:write"),
        (read("file:///notes"), "files:read"),
        (complete(&prompt), "files:read files:write"),
        (complete(&template), "files:read"),
        (listen, "files:read"),
    ];
    for (post, scopes) in cases {
        let case = format!("AUTH-R-14 AUTH-R-15 AUTH-R-53 AUTH-R-54: {}", post.body);
        expect_forbidden(&guarded.send_with(post, "").await, scopes, &case);
    }
    // Granted scopes do not change the challenge.
    let response = guarded.send_with(review(), "files:read").await;
    expect_forbidden(&response, "files:read files:write", "AUTH-R-15");
    let free = [
        tool("about"),
        read("file:///public"),
        Post::modern("tools/list", json!({})),
        Post::modern("prompts/list", json!({})),
        Post::modern("server/discover", json!({})),
    ];
    for post in free {
        let body = post.body.clone();
        let response = guarded.send_with(post, "").await;
        assert_eq!(response.status, 200, "AUTH-R-57: {body}");
        assert!(
            !response.body.contains(r#""cacheScope":"public""#),
            "AUTH-R-52: {response:?}"
        );
    }
}

#[tokio::test]
async fn scopes_imply_others() {
    let guarded = Guarded::new();
    let cases = [
        ("read", "files:read", 200),
        ("read", "files", 200),
        ("write", "files", 200),
        ("write", "files:read", 403),
        ("read", "files:write", 403),
        ("read", "files:reader", 403),
        ("read", "FILES:READ", 403),
        ("audit", "files:audit", 200),
        ("audit", "files:admin", 200),
        ("audit", "files", 403),
    ];
    for (name, scopes, status) in cases {
        let response = guarded.send_with(tool(name), scopes).await;
        assert_eq!(
            response.status, status,
            "AUTH-R-55 AUTH-R-56: {name} {scopes}"
        );
    }
    let response = guarded
        .send_with(tool("read"), "files:read files:audit")
        .await;
    let text = &response.json()["result"]["content"][0]["text"];
    let expected =
        "https://id.example.com alice; https://id.example.com; alice; files:audit files:read";
    assert_eq!(text, expected, "AUTH-R-35 AUTH-R-49");
}

#[tokio::test]
async fn the_name_in_the_body_decides() {
    let guarded = Guarded::new();
    let token = guarded.token("files:read");
    let cases = [
        (tool("write").with("mcp-name", "files.about"), 403),
        (tool("about").with("mcp-name", "files.write"), 400),
        (tool("write").with("mcp-method", "tools/list"), 403),
        (Post::tool("files.Write", json!({})), 200),
        (Post::tool("files.wr\u{131}te", json!({})), 400),
    ];
    for (post, status) in cases {
        let case = format!("AUTH-R-54 AUTH-X-29: {:?} {}", post.headers, post.body);
        let response = guarded.send(post, &token).await;
        assert_eq!(response.status, status, "{case}: {response:?}");
        assert!(!response.body.contains("written"), "{case}");
    }
}

#[tokio::test]
async fn every_request_needs_the_scopes_of_the_server() {
    let guarded = Guarded::with(|resource| resource.scopes(["mcp"]).required_scopes(["mcp"]));
    let get = Post::raw("")
        .method("GET")
        .without("content-type")
        .with("accept", "text/event-stream");
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}});
    let cases = [
        (tool("about"), "mcp"),
        (tool("write"), "files:write mcp"),
        (Post::modern("tools/list", json!({})), "mcp"),
        (Post::raw(notification.to_string()), "mcp"),
        (get.clone(), "mcp"),
        (get.clone().method("DELETE"), "mcp"),
        (get.at("/sse"), "mcp"),
    ];
    for (post, scopes) in cases {
        let case = format!("AUTH-R-08 AUTH-R-15: {} {}", post.method, post.body);
        expect_forbidden(&guarded.send_with(post, "files:read").await, scopes, &case);
    }
    assert_eq!(guarded.send_with(tool("about"), "mcp").await.status, 200);
}

#[tokio::test]
async fn a_batch_needs_the_scopes_of_all_members() {
    let guarded = Guarded::new();
    let token = guarded.token("files:read");
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": Revision::V2025_03_26.as_str(),
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let response = guarded
        .send(Post::raw(initialize.to_string()), &token)
        .await;
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let post = |body: &Value| Post::raw(body.to_string()).with("mcp-session-id", &session);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    guarded
        .send(post(&initialized), &token)
        .await
        .expect_accepted("SRV-LHTTP-02");
    let call = |id: u32, name: &str| {
        let params = json!({"name": format!("files.{name}")});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let batch = json!([
        call(1, "read"),
        call(2, "audit"),
        call(3, "write"),
        call(4, "about")
    ]);
    let response = guarded.send(post(&batch), &token).await;
    expect_forbidden(
        &response,
        "files:audit files:read files:write",
        "AUTH-R-18 AUTH-X-29",
    );
    let batch = json!([call(1, "read"), call(2, "about")]);
    let response = guarded.send(post(&batch), &token).await;
    assert_eq!(response.json().as_array().unwrap().len(), 2, "{response:?}");
}

#[tokio::test]
async fn scopes_are_not_enforced_without_authorization() {
    let mut connection = builder().build().unwrap().connect();
    let post = tool("write");
    let mut out = Vec::new();
    let handled = connection.handle_message(post.body.as_bytes(), &mut out);
    assert!(
        matches!(handled, treenail::transport::Handled::Complete),
        "{handled:?}"
    );
    let response = String::from_utf8(out).unwrap();
    assert!(response.contains("written"), "AUTH-R-25: {response}");
}

/// Authority of a caller of another transport.
#[derive(Debug, Default)]
struct Writer(RequiredScopes);

impl Authority for Writer {
    fn has_scope(&self, scope: &str) -> bool {
        scope == "files:write"
    }

    fn base(&self) -> &RequiredScopes {
        &self.0
    }

    fn refusal(&self, scopes: &str) -> Value {
        json!({"needs": scopes})
    }
}

#[tokio::test]
async fn a_transport_of_the_program_can_enforce_scopes() {
    let mut connection = builder().build().unwrap().connect();
    let access = Access::new(Writer::default());
    connection.extensions_mut().insert(access);
    let mut send = |post: Post| {
        let mut out = Vec::new();
        connection.handle_message(post.body.as_bytes(), &mut out);
        serde_json::from_slice::<Value>(&out).unwrap()
    };
    let refused = send(tool("audit"));
    assert_eq!(
        refused["error"]["data"],
        json!({"needs": "files:audit"}),
        "AUTH-R-25"
    );
    let refused = send(Post::tool("files.write", json!({"scope": "files:admin"})));
    let needs = json!({"needs": "files:admin files:write"});
    assert_eq!(refused["error"]["data"], needs, "AUTH-R-25");
    let written = send(tool("write"));
    assert_eq!(
        written["result"]["content"][0]["text"], "written",
        "AUTH-R-25: {written}"
    );
}

#[tokio::test]
async fn an_unlisted_template_needs_its_scopes() {
    let template = ResourceTemplate::new("docs://{id}", "doc").unlisted();
    let template = template.scope("files:admin");
    let server = Server::builder("files", "1.0.0")
        .add(template.handler(|_, _| async { "secret" }))
        .build()
        .unwrap();
    let items: Vec<_> = server.required_scopes().into_iter().collect();
    assert_eq!(items.len(), 1, "{items:?}");
    let mut connection = server.connect();
    let access = Access::new(Writer::default());
    connection.extensions_mut().insert(access);
    let mut out = Vec::new();
    let read = Post::modern("resources/read", json!({"uri": "docs://1"}));
    connection.handle_message(read.body.as_bytes(), &mut out);
    let refused: Value = serde_json::from_slice(&out).unwrap();
    let needs = json!({"needs": "files:admin"});
    assert_eq!(refused["error"]["data"], needs, "AUTH-R-53");
}

#[tokio::test]
async fn tools_that_are_added_later_need_their_scopes() {
    let server = Server::builder("files", "1.0.0").dynamic();
    let guarded = Guarded::of(server, |resource| resource);
    let server = guarded.service.server();
    server.edit(add_files).unwrap();
    let response = guarded.send_with(tool("write"), "files:read").await;
    expect_forbidden(&response, "files:write", "AUTH-R-53");
    let post = with_token(tool("write"), &guarded.token("files:write"));
    assert_eq!(post.send(&guarded.service).await.status, 200);
}

#[tokio::test]
async fn a_method_of_an_extension_requires_scopes() {
    const ID: &str = "com.example/files";
    let check = |cx: Context, _: Value| async move { cx.require_scope("files:admin") };
    let extension = Extension::new(ID).method("files/check", check);
    let guarded = Guarded::of(builder().extension(extension), |resource| {
        resource.required_scopes(["files:read"])
    });
    let declared = json!({"extensions": {ID: {}}});
    let post = || Post::modern_as("files/check", json!({}), &declared);
    let refused = guarded.send_with(post(), "files:read").await;
    expect_forbidden(&refused, "files:admin files:read", "AUTH-R-15");
    let served = guarded.send_with(post(), "files:admin files:read").await;
    assert_eq!(served.status, 200, "{served:?}");
    let anonymous = post().send(&guarded.service).await;
    assert_eq!(anonymous.status, 401, "{anonymous:?}");
}
