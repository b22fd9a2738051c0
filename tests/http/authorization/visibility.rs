//! Lists per caller, with the scopes of tokens and with the tenants of a `tower` layer.

use http::StatusCode;
use serde_json::{Value, json};
use treenail::http::{HttpService, http_service};
use treenail::schema::Revision;
use treenail::server::{Component, Edit};
use treenail::{Server, ServerBuilder};

use super::session::Session;
use super::tenants::{add_paid, add_plain};
use super::{Guarded, METADATA, builder, expect_challenge, expect_forbidden, tool, with_token};
use crate::client::{CompleteResponse, Post, messages, next};

const LEGACY: [Revision; 2] = [Revision::V2025_03_26, Revision::V2025_11_25];

/// A server that hides what the token of the caller does not grant.
fn hiding() -> Guarded {
    let server = builder().visible(|item, caller| caller.has_scopes(item.scopes()));
    Guarded::of(server.dynamic(), |resource| resource)
}

/// A server that hides one tool for another reason than a scope.
fn partly_hiding() -> Guarded {
    let server = builder().visible(|item, caller| {
        let subject = caller.principal().map_or("", |one| one.as_str());
        item.name() != "files.audit" || subject.ends_with("bob")
    });
    Guarded::of(server, |resource| resource)
}

fn tools(response: &CompleteResponse) -> Vec<String> {
    let list = &response.json()["result"]["tools"];
    let names = list.as_array().unwrap().iter().map(|tool| &tool["name"]);
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// Fails unless the response is that to an unknown tool or resource.
fn expect_unknown(response: &CompleteResponse, case: &str) {
    assert_eq!(response.status, 200, "AUTH-R-57: {case}: {response:?}");
    assert_eq!(response.header("www-authenticate"), None, "{case}");
    let error = &response.json()["error"];
    let code = error["code"].as_i64().unwrap();
    assert!(
        [-32602, -32002].contains(&code),
        "AUTH-R-57: {case}: {error}"
    );
    assert!(error.get("data").is_none() || code == -32002 || error["data"]["uri"].is_string());
}

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
async fn visible_items_are_still_challenged_for_their_scopes() {
    let guarded = partly_hiding();
    let alice = guarded.token("files:read");
    expect_unknown(&guarded.send(tool("audit"), &alice).await, "files.audit");
    let response = guarded.send(tool("write"), &alice).await;
    expect_forbidden(&response, "files:write", "AUTH-R-14 AUTH-R-57");
    let bob = guarded.token_of(super::ISSUER, "bob", "files:read");
    let response = guarded.send(tool("audit"), &bob).await;
    expect_forbidden(&response, "files:audit", "AUTH-R-14");
    let admin = Post::tool("files.write", json!({"scope": "files:admin"}));
    let response = guarded.send_with(admin, "files:write").await;
    expect_forbidden(&response, "files:admin files:write", "AUTH-R-16");
    for revision in LEGACY {
        let session = Session::start(revision, async |post| guarded.send(post, &alice).await).await;
        let call = |name: &str| session.request("tools/call", &json!({"name": name}));
        let response = guarded.send(call("files.write"), &alice).await;
        expect_forbidden(&response, "files:write", "AUTH-R-14");
        expect_unknown(
            &guarded.send(call("files.audit"), &alice).await,
            "files.audit",
        );
        let none = guarded.token("");
        let subscribe = session.request("resources/subscribe", &json!({"uri": "file:///x"}));
        let response = guarded.send(subscribe, &none).await;
        expect_forbidden(&response, "files:read", "AUTH-R-53");
    }
}

#[tokio::test]
async fn a_batch_is_challenged_for_its_visible_items_before_any_runs() {
    let guarded = partly_hiding();
    let alice = guarded.token("files:read");
    let revision = Revision::V2025_03_26;
    let session = Session::start(revision, async |post| guarded.send(post, &alice).await).await;
    let call = |id: u32, name: &str| {
        let params = json!({"name": format!("files.{name}")});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    let batch = json!([call(1, "read"), call(2, "audit"), call(4, "write"), list]);
    let response = guarded.send(session.post(&batch), &alice).await;
    expect_forbidden(&response, "files:read files:write", "AUTH-R-18 AUTH-X-29");
    let batch = json!([call(1, "read"), call(2, "audit"), list]);
    let response = guarded.send(session.post(&batch), &alice).await;
    let answers = response.json();
    let of = |id: u32| {
        let mut all = answers.as_array().unwrap().iter();
        all.find(|answer| answer["id"] == id).unwrap().clone()
    };
    assert!(of(1)["result"].is_object(), "{answers}");
    assert_eq!(of(2)["error"]["code"], -32602, "{answers}");
    assert_eq!(of(3)["result"]["tools"].as_array().unwrap().len(), 7);
}

#[tokio::test]
async fn a_challenge_without_a_token_does_not_reveal_hidden_items() {
    for (guarded, scopes) in [
        (Guarded::new(), "files:audit files:read"),
        (hiding(), "files:read"),
    ] {
        for (name, scopes) in [("audit", scopes), ("unknown", "files:read")] {
            let response = tool(name).send(&guarded.service).await;
            let challenge = format!("Bearer resource_metadata=\"{METADATA}\", scope=\"{scopes}\"");
            expect_challenge(&response, 401, &challenge, "AUTH-R-13");
        }
    }
}

/// A tenant, as a `tower` layer attaches it to requests.
#[derive(Clone, Copy, PartialEq)]
struct Tenant(&'static str);

fn tenants() -> ServerBuilder {
    let server = add_paid(add_plain(Server::builder("tenants", "1.0.0")));
    server.dynamic().visible(|item, caller| {
        !item.is_in("paid") || caller.extension::<Tenant>() == Some(&Tenant("acme"))
    })
}

fn service() -> (Server, HttpService) {
    let server = tenants().build().unwrap();
    (server.clone(), http_service(server))
}

const ACME: Tenant = Tenant("acme");
const OTHER: Tenant = Tenant("other");

#[tokio::test]
async fn tenants_of_a_layer_see_their_own_items() {
    let (_, service) = service();
    let list = || Post::modern("tools/list", json!({}));
    assert_eq!(tools(&list().send_as(&service, ACME).await).len(), 2);
    assert_eq!(
        tools(&list().send_as(&service, OTHER).await),
        ["plain.ping"]
    );
    assert_eq!(tools(&list().send(&service).await), ["plain.ping"]);
    for revision in LEGACY {
        let start = |tenant: Tenant| {
            let service = service.clone();
            async move {
                let send = async |post: Post| post.send_as(&service, tenant).await;
                Session::start(revision, send).await
            }
        };
        let (acme, other) = (start(ACME).await, start(OTHER).await);
        let list = acme.request("tools/list", &json!({}));
        assert_eq!(tools(&list.send_as(&service, ACME).await).len(), 2);
        let list = other.request("tools/list", &json!({}));
        assert_eq!(tools(&list.send_as(&service, OTHER).await), ["plain.ping"]);
    }
}

#[tokio::test]
async fn headers_of_hidden_tools_are_not_checked() {
    let (_, service) = service();
    let call = |name: &str| {
        let post = Post::tool(name, json!({"region": "eu"}));
        post.with("mcp-param-region", "us")
    };
    let visible = call("paid.find").send_as(&service, ACME).await;
    assert_eq!(visible.status, 400, "{visible:?}");
    let hidden = call("paid.find").send_as(&service, OTHER).await;
    let plain = add_plain(Server::builder("tenants", "1.0.0")).dynamic();
    let plain = http_service(plain.build().unwrap());
    let unknown = call("paid.find").send(&plain).await;
    assert_eq!(hidden.status, unknown.status);
    assert_eq!(hidden.body, unknown.body);
}

/// Change of the paid tools, then one of the others.
fn changes() -> [fn(Edit) -> Edit; 2] {
    [
        |edit| edit.disable(Component::namespace("paid")),
        |edit| edit.disable(Component::namespace("plain")),
    ]
}

#[tokio::test]
async fn streams_announce_only_changes_of_visible_lists() {
    let counts = [(ACME, [1, 1]), (OTHER, [0, 1])];
    for (tenant, expected) in counts {
        let (server, service) = service();
        let filter = json!({"notifications": {"toolsListChanged": true}});
        let listen = Post::modern("subscriptions/listen", filter);
        let response = listen.begin_as(&service, tenant).await;
        assert_changes(&server, response.into_body(), expected, 1).await;
    }
    for (tenant, expected) in counts {
        let (server, service) = service();
        let send = async |post: Post| post.send_as(&service, tenant).await;
        let session = Session::start(Revision::V2025_06_18, send).await;
        let response = session.listen().begin_as(&service, tenant).await;
        assert_changes(&server, response.into_body(), expected, 0).await;
    }
}

/// Makes the changes one after another, and compares the numbers of notifications about tools. `first` messages precede them.
async fn assert_changes(
    server: &Server,
    mut body: treenail::http::HttpBody,
    expected: [usize; 2],
    first: usize,
) {
    let mut text = String::new();
    let count = |text: &str| {
        let all = messages(text);
        let of_tools = |message: &&Value| message["method"] == "notifications/tools/list_changed";
        (all.len(), all.iter().filter(of_tools).count())
    };
    while count(&text).0 < first {
        text.push_str(std::str::from_utf8(&next(&mut body).await.unwrap()).unwrap());
    }
    let mut seen = 0;
    for (change, expected) in changes().into_iter().zip(expected) {
        server.edit(change).unwrap();
        seen += expected;
        while count(&text).1 < seen {
            text.push_str(std::str::from_utf8(&next(&mut body).await.unwrap()).unwrap());
        }
    }
    assert_eq!(count(&text).1, seen, "{text}");
}

/// Sends a request on a thread of its own, and waits for it.
fn status_on_another_thread(post: Post, service: HttpService) -> StatusCode {
    let thread = std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async { post.send(&service).await.status })
    });
    thread.join().unwrap()
}

#[tokio::test]
async fn rules_run_without_the_lock_of_a_session() {
    // A rule that uses the session of its own request would wait for the lock forever.
    let slot = std::sync::Arc::new(std::sync::OnceLock::<(HttpService, String)>::new());
    let own = std::sync::Arc::clone(&slot);
    let server = tenants().visible(move |item, _| {
        if let (Some((service, session)), "plain.ping") = (own.get(), item.name()) {
            let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"});
            let post = Post::raw(ping.to_string()).with("mcp-session-id", session);
            assert_eq!(status_on_another_thread(post, service.clone()), 200);
        }
        true
    });
    let server = server.build().unwrap();
    let service = http_service(server.clone());
    let send = async |post: Post| post.send(&service).await;
    let session = Session::start(Revision::V2025_06_18, send).await;
    let stream = session.listen().begin(&service).await;
    slot.set((service.clone(), session.id.clone()))
        .unwrap_or_default();
    let list = session.request("tools/list", &json!({}));
    assert_eq!(tools(&list.send(&service).await), ["plain.ping"]);
    let subscribe = session.request("resources/subscribe", &json!({"uri": "paid://news"}));
    assert_eq!(subscribe.send(&service).await.status, 200);
    server.edit(changes()[1]).unwrap();
    let text = next(&mut stream.into_body()).await.unwrap();
    assert!(std::str::from_utf8(&text).unwrap().contains("list_changed"));
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
