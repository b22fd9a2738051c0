//! Features that a caller sees because of the scopes of a token.

use serde_json::{Value, json};
use treenail::schema::Revision;
use treenail::server::Component;

use super::{
    LEGACY, Session, expect_forbidden, expect_unknown, hiding, partly_hiding, tool, tools,
    with_token,
};
use crate::client::{Post, next};

const READER: [&str; 5] = [
    "files.read",
    "files.about",
    "files.request",
    "files.ask",
    "files.wait",
];

#[tokio::test]
async fn items_that_need_other_scopes_are_unknown() {
    let guarded = hiding();
    let reader = guarded.token("files:read");
    let list = || Post::modern("tools/list", json!({}));
    let response = guarded.send(list(), &reader).await;
    assert_eq!(tools(&response), READER, "AUTH-R-57");
    assert!(
        response.body.contains(r#""cacheScope":"private""#),
        "AUTH-R-52"
    );
    let all = guarded.send_with(list(), "files files:audit").await;
    assert_eq!(tools(&all).len(), 8, "AUTH-R-55: implied scopes count");
    for post in [
        tool("write"),
        tool("audit"),
        tool("unknown"),
        Post::tool("files_write", json!({})),
        Post::modern(
            "prompts/get",
            json!({"name": "files.review", "arguments": {"name": "x"}}),
        ),
    ] {
        let case = post.body.clone();
        expect_unknown(&guarded.send(post, &reader).await, &case);
    }
    let none = guarded.token("");
    let read = |uri: &str| Post::modern("resources/read", json!({"uri": uri}));
    expect_unknown(
        &guarded.send(read("file:///notes"), &none).await,
        "template",
    );
    let public = guarded.send(read("file:///public"), &none).await;
    assert!(
        public.body.contains(r#""cacheScope":"private""#),
        "AUTH-R-52: {public:?}"
    );
    let response = guarded.send_with(tool("write"), "files:write").await;
    assert!(response.body.contains("written"), "{response:?}");
}

#[tokio::test]
async fn sessions_see_the_items_of_the_token_of_each_request() {
    for revision in LEGACY {
        let guarded = hiding();
        let reader = guarded.token("files:read");
        let session =
            Session::start(revision, async |post| guarded.send(post, &reader).await).await;
        let list = || session.request("tools/list", &json!({}));
        assert_eq!(tools(&guarded.send(list(), &reader).await), READER);
        let writer = guarded.token("files");
        assert_eq!(tools(&guarded.send(list(), &writer).await).len(), 7);
        let call = || session.request("tools/call", &json!({"name": "files.write"}));
        expect_unknown(&guarded.send(call(), &reader).await, "files.write");
        let response = guarded.send(call(), &writer).await;
        assert!(response.body.contains("written"), "{response:?}");
        let none = guarded.token("");
        let subscribe = || session.request("resources/subscribe", &json!({"uri": "file:///x"}));
        expect_unknown(&guarded.send(subscribe(), &none).await, "file:///x");
        let response = guarded.send(subscribe(), &reader).await;
        assert_eq!(response.json()["result"], json!({}), "{response:?}");
    }
}

#[tokio::test]
async fn requests_without_a_session_see_the_items_of_their_token() {
    let request = |method: &str, params: &Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        Post::raw(message.to_string())
    };
    let mut guarded = hiding();
    guarded.service = guarded.service.without_sessions();
    let (reader, writer) = (guarded.token("files:read"), guarded.token("files"));
    let list = || request("tools/list", &json!({}));
    assert_eq!(tools(&guarded.send(list(), &reader).await), READER);
    assert_eq!(tools(&guarded.send(list(), &writer).await).len(), 7);
    let call = || request("tools/call", &json!({"name": "files.write"}));
    expect_unknown(&guarded.send(call(), &reader).await, "files.write");
    let response = guarded.send(call(), &writer).await;
    assert!(response.body.contains("written"), "{response:?}");

    let mut guarded = partly_hiding();
    guarded.service = guarded.service.without_sessions();
    let reader = guarded.token("files:read");
    let response = guarded.send(call(), &reader).await;
    expect_forbidden(&response, "files:write", "AUTH-R-14");
    let batch = Post::raw(format!("[{}]", call().body));
    let response = guarded.send(batch, &reader).await;
    expect_forbidden(&response, "files:write", "AUTH-R-14");
}

#[tokio::test]
async fn a_token_with_more_scopes_renews_the_caller_of_a_stream() {
    let guarded = hiding();
    let reader = guarded.token("files:read");
    let revision = Revision::V2025_06_18;
    let session = Session::start(revision, async |post| guarded.send(post, &reader).await).await;
    let stream = with_token(session.listen(), &reader)
        .begin(&guarded.service)
        .await;
    let writer = guarded.token("files");
    let list = session.request("tools/list", &json!({}));
    guarded.send(list, &writer).await;
    let server = guarded.service.server();
    server
        .edit(|edit| edit.disable(Component::tool("files.write")))
        .unwrap();
    let text = next(&mut stream.into_body()).await.unwrap();
    assert!(
        std::str::from_utf8(&text)
            .unwrap()
            .contains("tools/list_changed")
    );
}
