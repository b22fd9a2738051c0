//! Features that a caller sees because of a `tower` layer.

use http::StatusCode;
use serde_json::{Value, json};
use treenail::http::{HttpService, http_service};
use treenail::schema::Revision;
use treenail::server::{Component, Edit};
use treenail::{Server, ServerBuilder};

use super::{LEGACY, Session, add_paid, add_plain, tools};
use crate::client::{Post, messages, next};

/// A tenant, as a `tower` layer attaches it to requests.
#[derive(Clone, Copy, PartialEq)]
struct Tenant(&'static str);

fn tenants() -> ServerBuilder {
    let server = add_paid(add_plain(Server::builder("tenants", "1.0.0")));
    server.dynamic().visible(|feature, caller| {
        !feature.is_in("paid") || caller.extension::<Tenant>() == Some(&Tenant("acme"))
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
    let server = tenants().visible(move |feature, _| {
        if let (Some((service, session)), "plain.ping") = (own.get(), feature.name()) {
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
