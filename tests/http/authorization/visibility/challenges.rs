//! Challenges for the scopes of visible features, which do not reveal hidden ones.

use serde_json::json;
use tracing::Level;
use treenail::schema::Revision;

use super::{
    Guarded, ISSUER, LEGACY, METADATA, Session, expect_challenge, expect_forbidden, expect_unknown,
    hiding, partly_hiding, tool,
};
use crate::client::Post;
use crate::log::Log;

#[tokio::test]
async fn visible_items_are_still_challenged_for_their_scopes() {
    let guarded = partly_hiding();
    let alice = guarded.token("files:read");
    expect_unknown(&guarded.send(tool("audit"), &alice).await, "files.audit");
    let response = guarded.send(tool("write"), &alice).await;
    expect_forbidden(&response, "files:write", "AUTH-R-14 AUTH-R-57");
    let bob = guarded.token_of(ISSUER, "bob", "files:read");
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

#[tokio::test]
async fn refusals_are_logged_with_the_principal_and_the_scopes() {
    let (log, _guard) = Log::record(Level::INFO);
    // Before the dispatch, in it, and in a function.
    let audit = Guarded::new().send_with(tool("audit"), "files:read").await;
    expect_forbidden(&audit, "files:audit", "AUTH-R-15");
    let write = partly_hiding().send_with(tool("write"), "files:read").await;
    expect_forbidden(&write, "files:write", "AUTH-R-15");
    let admin = Post::tool("files.write", json!({"scope": "files:admin"}));
    let admin = Guarded::new().send_with(admin, "files:write").await;
    expect_forbidden(&admin, "files:admin files:write", "AUTH-R-15");
    let lines = log.lines();
    let refusals: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("refused"))
        .collect();
    let expected = ["files:audit", "files:write", "files:admin files:write"];
    assert_eq!(refusals.len(), expected.len(), "AUTH-R-59: {lines:?}");
    for (line, scopes) in refusals.into_iter().zip(expected) {
        assert!(
            line.contains("alice") && line.contains(scopes),
            "AUTH-R-59: {line}"
        );
    }
}
