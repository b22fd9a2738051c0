//! Lists per caller: an item that a rule hides does not exist for the caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use treenail::context::Principal;
use treenail::layer::{Request, only};
use treenail::prelude::*;
use treenail::schema::{CacheScope, Revision};
use treenail::server::{Caller, Component, Item, ItemDescriptor};
use treenail::transport::Connection;
use treenail::{Limits, Server, ServerBuilder};

use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, initialize, text};

struct Desk;

/// The desk is open to everyone.
#[mcp_tool(namespace = "desk")]
impl Desk {
    #[tool]
    fn open() -> &'static str {
        "open"
    }

    #[tool]
    fn close_drawer() -> &'static str {
        "closed"
    }

    #[prompt]
    fn greet(#[arg(complete = names)] name: String) -> String {
        name
    }

    #[resource("desk://lamp", subscribable)]
    fn lamp() -> &'static str {
        "lamp"
    }

    #[resource("desk://drawer/{name}", subscribable)]
    fn drawer(#[arg(complete = names)] name: String) -> String {
        name
    }
}

struct Safe;

/// The safe is secret.
#[mcp_tool(namespace = "desk_close")]
impl Safe {
    #[tool]
    fn drawer() -> &'static str {
        "closed"
    }

    #[tool]
    fn opens() -> &'static str {
        "opened"
    }

    #[prompt]
    fn greet_all(#[arg(complete = names)] name: String) -> String {
        name
    }

    #[resource("desk://lamps", subscribable)]
    fn lamps() -> &'static str {
        "lamps"
    }

    /// Secret.
    #[resource("desk://drawers/{name}", subscribable)]
    fn drawers(#[arg(complete = names)] name: String) -> String {
        name
    }
}

fn names(_: &str) -> Vec<String> {
    vec!["ann".to_owned()]
}

/// Hidden or not, its name is that of a visible tool in the form of hosts without dots.
#[mcp_tool]
fn late() -> &'static str {
    "late"
}

fn builder() -> ServerBuilder {
    Server::builder("office", "1.0.0").limits(Limits::default().page_size(1))
}

fn is_secret(item: &Item<'_>) -> bool {
    item.is_in("desk_close") || item.name() == "late"
}

fn is_admin(caller: &Caller<'_>) -> bool {
    caller
        .principal()
        .is_some_and(|one| one.as_str() == "admin")
}

fn visible(item: &Item<'_>, caller: &Caller<'_>) -> bool {
    !is_secret(item) || is_admin(caller)
}

/// A server whose safe only `admin` sees.
fn office() -> ServerBuilder {
    builder().mount(Safe).mount(Desk).visible(visible)
}

fn connection(server: &Server, principal: &str) -> Connection {
    let mut connection = server.connect();
    if !principal.is_empty() {
        connection
            .extensions_mut()
            .insert(Principal::new(principal));
    }
    connection
}

async fn peer(server: &Server, principal: &str, revision: Revision) -> Peer {
    let mut peer = Peer::over(connection(server, principal), revision);
    if !revision.is_modern() {
        peer.shake_hands().await;
    }
    peer
}

/// Requests that name hidden items, unknown items, and visible ones.
fn requests() -> Vec<(&'static str, Value)> {
    let mut requests = vec![
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
    ];
    let lists = [
        ("tools/list", "desk_close.opens"),
        ("tools/list", "desk.close_drawer"),
        ("tools/list", "nothing"),
        ("prompts/list", "desk_close.greet_all"),
        ("resources/list", "desk://lamps"),
        ("resources/templates/list", "desk://drawers/{name}"),
    ];
    requests.push(("tools/list", json!({})));
    requests.extend(lists.map(|(list, cursor)| (list, json!({"cursor": cursor}))));
    for name in [
        "desk_close",
        "desk_close.opens",
        "desk_close.open",
        "desk_close.drawer",
        "desk_close_drawer",
        "desk__close_drawer",
        "desk_close__opens",
        "desk.opens",
        "late",
        "desk.open",
    ] {
        requests.push(("tools/call", json!({"name": name, "arguments": {}})));
    }
    for name in ["desk_close.greet_all", "desk.greet_all", "desk.greet"] {
        requests.push((
            "prompts/get",
            json!({"name": name, "arguments": {"name": "a"}}),
        ));
        requests.push((
            "completion/complete",
            complete(&json!({"type": "ref/prompt", "name": name})),
        ));
    }
    for uri in [
        "desk://lamps",
        "desk://lampe",
        "desk://drawers/a",
        "desk://drawers/{name}",
        "desk://drawer/a",
        "desk://lamp",
    ] {
        requests.push(("resources/read", json!({"uri": uri})));
        requests.push((
            "completion/complete",
            complete(&json!({"type": "ref/resource", "uri": uri})),
        ));
    }
    requests
}

fn complete(reference: &Value) -> Value {
    json!({"ref": reference, "argument": {"name": "name", "value": "a"}})
}

#[tokio::test]
async fn a_hidden_item_is_answered_as_one_that_does_not_exist() {
    let full = office().build().unwrap();
    let plain = builder().mount(Desk).build().unwrap();
    for revision in covering(
        "SRV-STATE-04, SRV-CACHE-05 in 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28",
    ) {
        let mut guest = peer(&full, "", revision).await;
        let mut expected = peer(&plain, "", revision).await;
        for (method, params) in requests() {
            if method == "completion/complete" && revision == Revision::V2024_11_05 {
                continue;
            }
            let answer = guest.request(method, params.clone()).await;
            let plain = expected.request(method, params.clone()).await;
            assert_eq!(answer, plain, "{revision} {method} {params}");
        }
        if !revision.is_modern() {
            for uri in [
                "desk://lamps",
                "desk://drawers/a",
                "desk://x",
                "desk://lamp",
            ] {
                let params = json!({"uri": uri});
                let answer = guest.request("resources/subscribe", params.clone()).await;
                let plain = expected.request("resources/subscribe", params).await;
                assert_eq!(answer, plain, "{revision} {uri}");
            }
        }
    }
}

#[tokio::test]
async fn the_description_of_the_server_has_no_instructions_of_hidden_types() {
    let full = office().build().unwrap();
    let plain = builder().mount(Desk).build().unwrap();
    for revision in covering("SRV-LIFE-01, SRV-DISC-02 in 2025-06-18, 2026-07-28") {
        let (method, params) = if revision.is_modern() {
            ("server/discover", json!({}))
        } else {
            ("initialize", initialize(revision.as_str()))
        };
        let mut answers = Vec::new();
        for (server, principal) in [(&plain, ""), (&full, ""), (&full, "admin")] {
            let mut peer = Peer::over(connection(server, principal), revision);
            answers.push(peer.request(method, params.clone()).await);
        }
        assert_eq!(answers[0], answers[1]);
        let instructions = answers[2]["result"]["instructions"].as_str().unwrap();
        assert!(instructions.contains("secret"), "{instructions}");
    }
}

#[tokio::test]
async fn two_callers_of_one_server_see_their_own_lists() {
    let server = office().limits(Limits::default()).build().unwrap();
    for revision in covering("SRV-TOOL-03, SRV-PRM-03, SRV-RES-03") {
        let mut guest = peer(&server, "guest", revision).await;
        let mut admin = peer(&server, "admin", revision).await;
        for _ in 0..2 {
            assert_eq!(guest.tools().await, ["desk.open", "desk.close_drawer"]);
            let all = [
                "desk_close.drawer",
                "desk_close.opens",
                "desk.open",
                "desk.close_drawer",
            ];
            assert_eq!(admin.tools().await, all);
        }
        let opened = admin.call("desk_close.opens", json!({})).await;
        assert_eq!(text(&opened), "opened");
        let read = admin
            .request("resources/read", json!({"uri": "desk://drawers/a"}))
            .await;
        assert_eq!(read["result"]["contents"][0]["text"], "a");
    }
}

#[tokio::test]
async fn a_form_without_dots_is_ambiguous_only_among_visible_tools() {
    let server = office().build().unwrap();
    let revision = covering_one("SRV-TOOL-07 in 2026-07-28");
    let mut guest = peer(&server, "guest", revision).await;
    let closed = guest.call("desk_close_drawer", json!({})).await;
    assert_eq!(text(&closed), "closed");
    let mut admin = peer(&server, "admin", revision).await;
    let params = json!({"name": "desk_close_drawer"});
    assert_eq!(admin.refused("tools/call", params).await.0, -32602);
}

#[tokio::test]
async fn lists_of_callers_are_private() {
    let revision = covering_one("SRV-CACHE-01, SRV-CACHE-03, SRV-CACHE-05 in 2026-07-28");
    let caching = (Duration::from_secs(60), CacheScope::Public);
    let server = office().cache_lists(caching.0, caching.1).build().unwrap();
    for principal in ["admin", "guest"] {
        let mut peer = peer(&server, principal, revision).await;
        for method in [
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "server/discover",
        ] {
            let answer = peer.request(method, json!({})).await;
            assert_eq!(answer["result"]["cacheScope"], "private", "{method}");
            assert_eq!(answer["result"]["ttlMs"], 60_000, "{method}");
        }
    }
}

#[tokio::test]
async fn a_rule_of_a_namespace_applies_to_everything_in_it() {
    let server = builder()
        .limits(Limits::default())
        .tools(tools![late])
        .namespace("outer", |outer| {
            let outer = outer.visible(|_, caller| is_admin(caller));
            let outer = outer.namespace("inner", |inner| inner.mount(Desk));
            outer.tools(tools![late])
        })
        .namespace("other", |other| other.tools(tools![late]))
        .build()
        .unwrap();
    let mut guest = peer(&server, "guest", MODERN).await;
    assert_eq!(guest.tools().await, ["late", "other.late"]);
    let unknown = guest
        .refused("resources/read", json!({"uri": "desk://lamp"}))
        .await;
    assert!(!unknown.1.contains("did you mean"), "{unknown:?}");
    let mut admin = peer(&server, "admin", MODERN).await;
    assert_eq!(admin.tools().await.len(), 5);
}

#[tokio::test]
async fn a_rule_sees_the_item_and_the_caller() {
    #[derive(Debug)]
    struct Tenant(&'static str);

    let server = builder()
        .name_separator("__")
        .mount(Desk)
        .visible(|item, caller| {
            let tenant = caller.extension::<Tenant>().map(|tenant| tenant.0);
            let client = caller.client_info().map(|client| &*client.name);
            assert!(caller.has_scope("anything") && caller.has_scopes(item.scopes()));
            match item.descriptor() {
                ItemDescriptor::Tool(tool) => {
                    assert_eq!(item.tool().unwrap().name, tool.name);
                    assert_eq!(tool.name, item.name().replace('.', "__"));
                    item.name() == "desk.open" && tenant == Some("acme") && client == Some("test")
                }
                ItemDescriptor::Prompt(_) => item.uri().is_none() && tenant.is_none(),
                ItemDescriptor::Resource(_) => item.uri() == Some("desk://lamp"),
                _ => item.uri() == Some("desk://drawer/{name}") && item.meta().is_none(),
            }
        })
        .build()
        .unwrap();
    for revision in covering("SRV-TOOL-03") {
        let mut connection = server.connect();
        connection.extensions_mut().insert(Tenant("acme"));
        let mut peer = Peer::over(connection, revision);
        if !revision.is_modern() {
            peer.shake_hands().await;
        }
        assert_eq!(peer.tools().await, ["desk__open"]);
        let prompts = peer.request("prompts/list", json!({})).await;
        assert_eq!(prompts["result"]["prompts"], json!([]));
        let resources = peer.request("resources/list", json!({})).await;
        assert_eq!(resources["result"]["resources"][0]["uri"], "desk://lamp");
    }
}

#[tokio::test]
async fn a_rule_that_panics_hides_the_item() {
    let server = builder()
        .mount(Desk)
        .visible(|item, _| match item.name() {
            "desk.close_drawer" => panic!("a secret"),
            _ => true,
        })
        .build()
        .unwrap();
    let mut peer = peer(&server, "", MODERN).await;
    assert_eq!(peer.tools().await, ["desk.open"]);
    let params = json!({"name": "desk.close_drawer"});
    let (code, message) = peer.refused("tools/call", params).await;
    assert_eq!(code, -32602);
    assert!(message.starts_with("unknown tool"), "{message}");
}

#[tokio::test]
async fn a_layer_cannot_reach_a_hidden_item() {
    let server = office()
        .layer(only(
            Request::is_tool_call,
            tower::layer::util::Identity::new(),
        ))
        .build()
        .unwrap();
    for revision in covering("SRV-TOOL-09") {
        let mut guest = peer(&server, "guest", revision).await;
        let mut names = Vec::new();
        for name in ["desk_close.opens", "desk_close.nothing"] {
            let (_, message) = guest.refused("tools/call", json!({"name": name})).await;
            names.push(message.replace(name, "?"));
        }
        assert!(names[0].contains("there is no namespace"), "{names:?}");
        assert_eq!(guest.tools().await, ["desk.open"], "the first page");
    }
}

#[tokio::test]
async fn an_edit_notifies_only_callers_whose_lists_have_changed() {
    let server = office().dynamic().build().unwrap();
    for revision in covering("SRV-TOOL-02, SRV-SUB-02 in 2025-06-18, 2026-07-28") {
        let mut guest = peer(&server, "guest", revision).await;
        let mut admin = peer(&server, "admin", revision).await;
        for peer in [&mut guest, &mut admin] {
            if revision.is_modern() {
                drop(peer.listen("all", json!({"toolsListChanged": true})).await);
            } else {
                peer.told_nothing().await;
            }
        }
        let secret =
            |edit: treenail::server::Edit| edit.disable(Component::namespace("desk_close"));
        server.edit(secret).unwrap();
        for _ in 0..admin_changes(revision) {
            admin.next_notification().await;
        }
        guest.told_nothing().await;
        server
            .edit(|edit| edit.disable(Component::tool("desk.open")))
            .unwrap();
        let expected = "notifications/tools/list_changed";
        assert_eq!(guest.next_notification().await.0, expected);
        assert_eq!(admin.next_notification().await.0, expected);
        server
            .edit(|edit| edit.enable(Component::tool("desk.open")))
            .unwrap();
        server
            .edit(|edit| edit.enable(Component::namespace("desk_close")))
            .unwrap();
    }
}

/// A legacy peer is notified of all lists.
fn admin_changes(revision: Revision) -> usize {
    if revision.is_modern() { 1 } else { 3 }
}

#[tokio::test]
async fn an_addition_by_an_edit_obeys_the_rules() {
    let server = office().dynamic().build().unwrap();
    let mut guest = peer(&server, "guest", MODERN).await;
    server.edit(|edit| edit.tools(tools![late])).unwrap();
    let (_, message) = guest.refused("tools/call", json!({"name": "late"})).await;
    assert!(message.contains("unknown tool"), "{message}");
    let mut admin = peer(&server, "admin", MODERN).await;
    assert_eq!(text(&admin.call("late", json!({})).await), "late");
}

#[tokio::test]
async fn a_replacement_has_the_rules_of_its_edit() {
    let server = builder().tools(tools![late]).dynamic().build().unwrap();
    let mut guest = peer(&server, "guest", MODERN).await;
    assert_eq!(guest.tools().await, ["late"]);
    server
        .edit(|edit| {
            edit.replace(|all| {
                all.tools(tools![late])
                    .visible(|_, caller| is_admin(caller))
            })
        })
        .unwrap();
    assert!(guest.tools().await.is_empty());
    let mut admin = peer(&server, "admin", MODERN).await;
    assert_eq!(admin.tools().await, ["late"]);
}

#[tokio::test]
async fn an_edit_with_a_rule_makes_lists_private() {
    let caching = (Duration::from_secs(60), CacheScope::Public);
    let server = builder().mount(Desk).dynamic();
    let server = server.cache_lists(caching.0, caching.1).build().unwrap();
    let mut guest = peer(&server, "guest", MODERN).await;
    let list = guest.request("prompts/list", json!({})).await;
    assert_eq!(list["result"]["cacheScope"], "public");
    server
        .edit(|edit| {
            edit.namespace("late", |late| {
                late.tools(tools![late])
                    .visible(|_, caller| is_admin(caller))
            })
        })
        .unwrap();
    let list = guest.request("prompts/list", json!({})).await;
    assert_eq!(list["result"]["cacheScope"], "private");
    let params = json!({"name": "late.late"});
    assert_eq!(guest.refused("tools/call", params).await.0, -32602);
    let mut admin = peer(&server, "admin", MODERN).await;
    assert_eq!(text(&admin.call("late.late", json!({})).await), "late");
}

#[tokio::test]
async fn a_change_of_a_rule_is_announced() {
    let open = Arc::new(AtomicBool::new(false));
    let is_open = Arc::clone(&open);
    let server = builder()
        .mount(Desk)
        .dynamic()
        .visible(move |_, caller| is_admin(caller) || is_open.load(Ordering::Relaxed))
        .build()
        .unwrap();
    for revision in covering("SRV-TOOL-02 in 2025-06-18, 2026-07-28") {
        open.store(false, Ordering::Relaxed);
        let mut guest = peer(&server, "guest", revision).await;
        if revision.is_modern() {
            guest.listen(1, json!({"toolsListChanged": true})).await;
        }
        assert!(guest.tools().await.is_empty());
        open.store(true, Ordering::Relaxed);
        server.visibility_changed();
        let (method, _) = guest.next_notification().await;
        assert_eq!(method, "notifications/tools/list_changed");
        for _ in 1..admin_changes(revision) {
            guest.next_notification().await;
        }
        assert_eq!(guest.tools().await, ["desk.open"]);
    }
}

#[tokio::test]
async fn updates_of_hidden_resources_are_not_sent() {
    let open = Arc::new(AtomicBool::new(true));
    let is_open = Arc::clone(&open);
    let server = builder()
        .mount(Desk)
        .visible(move |item, _| {
            item.uri() != Some("desk://lamp") || is_open.load(Ordering::Relaxed)
        })
        .build()
        .unwrap();
    for revision in covering("SRV-RES-08, SRV-SUB-02 in 2025-06-18, 2026-07-28") {
        open.store(true, Ordering::Relaxed);
        let mut guest = peer(&server, "guest", revision).await;
        let uris = ["desk://lamp", "desk://drawer/a"];
        if revision.is_modern() {
            guest
                .listen(1, json!({"resourceSubscriptions": uris}))
                .await;
        } else {
            for uri in uris {
                let params = json!({"uri": uri});
                guest.request("resources/subscribe", params).await;
            }
        }
        server.resource_updated(uris[0]);
        guest.told_update(uris[0]).await;
        open.store(false, Ordering::Relaxed);
        server.resource_updated(uris[0]);
        server.resource_updated(uris[1]);
        guest.told_update(uris[1]).await;
    }
}

#[tokio::test]
async fn hidden_resources_are_left_out_of_a_subscription() {
    let revision = covering_one("SRV-SUB-03 in 2026-07-28");
    let server = office().build().unwrap();
    let wanted = json!({"resourceSubscriptions": ["desk://lamps", "desk://lamp", "desk://x"]});
    let mut guest = peer(&server, "guest", revision).await;
    let accepted = guest.listen(1, wanted.clone()).await;
    assert_eq!(accepted["resourceSubscriptions"], json!(["desk://lamp"]));
    let mut admin = peer(&server, "admin", revision).await;
    let accepted = admin.listen(1, wanted).await;
    let all = json!(["desk://lamps", "desk://lamp"]);
    assert_eq!(accepted["resourceSubscriptions"], all);
}

#[tokio::test]
async fn a_batch_has_one_caller() {
    let revision = covering_one("SRV-BASE-01 in 2025-03-26");
    let server = office().limits(Limits::default()).build().unwrap();
    let mut guest = peer(&server, "guest", revision).await;
    let list = guest.message(&json!(1), "tools/list", json!({}));
    let call = guest.message(&json!(2), "tools/call", json!({"name": "desk_close.opens"}));
    guest.send(&json!([list, call])).await;
    let answers = guest.receive_any().await.unwrap();
    let of = |id: i64| {
        let mut all = answers.as_array().unwrap().iter();
        all.find(|answer| answer["id"] == id).unwrap().clone()
    };
    assert_eq!(of(1)["result"]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(of(2)["error"]["code"], -32602);
}

#[tokio::test]
async fn a_call_checks_its_own_item_only() {
    let evaluations = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&evaluations);
    let server = builder()
        .mount(Safe)
        .mount(Desk)
        .visible(move |_, _| counter.fetch_add(1, Ordering::Relaxed) < usize::MAX)
        .build()
        .unwrap();
    let mut peer = peer(&server, "", MODERN).await;
    peer.call("desk.open", json!({})).await;
    assert_eq!(evaluations.swap(0, Ordering::Relaxed), 1);
    peer.tools().await;
    assert_eq!(evaluations.load(Ordering::Relaxed), 10);
}

#[tokio::test]
async fn a_rule_can_edit_the_server() {
    let slot = Arc::new(std::sync::OnceLock::<Server>::new());
    let own = Arc::clone(&slot);
    let server = office()
        .dynamic()
        .limits(Limits::default())
        .visible(move |item, _| {
            if let (Some(server), "desk.open") = (own.get(), item.name()) {
                let open = Component::prompt("desk.greet");
                server.edit(|edit| edit.disable(open)).unwrap();
            }
            true
        })
        .build()
        .unwrap();
    slot.set(server.clone()).unwrap();
    for revision in covering("SRV-TOOL-03") {
        let mut guest = peer(&server, "guest", revision).await;
        assert_eq!(guest.tools().await, ["desk.open", "desk.close_drawer"]);
    }
}
