//! Capabilities and instructions of servers that change at run time, and of those that do not.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use treenail::Limits;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::server::Component;

use crate::dynamic::{AnyChange, empty};
use crate::support::covering::covering;
use crate::support::notes::{Extra, extra, fixed, notes};
use crate::support::peer::{Peer, initialize};

async fn greeting(server: &Server, revision: Revision) -> Value {
    let mut peer = Peer::silent(server, revision);
    let (method, params) = if revision.is_modern() {
        ("server/discover", json!({}))
    } else {
        ("initialize", initialize(revision.as_str()))
    };
    peer.request(method, params).await["result"].take()
}

#[tokio::test]
async fn dynamic_servers_declare_list_changes_even_for_empty_lists() {
    let changes = json!({"listChanged": true});
    for revision in covering(
        "SRV-TOOL-01, SRV-TOOL-02, SRV-PRM-01, SRV-PRM-02, SRV-RES-01, SRV-RES-02, SRV-DISC-04",
    ) {
        let capabilities = greeting(&empty(), revision).await["capabilities"].take();
        let expected =
            json!({"logging": {}, "tools": changes, "prompts": changes, "resources": changes});
        assert_eq!(capabilities, expected, "{revision}");

        let mut peer = Peer::connect(&empty(), revision).await;
        for (method, member) in [
            ("tools/list", "tools"),
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
        ] {
            let answer = peer.request(method, json!({})).await;
            assert_eq!(answer["result"][member], json!([]));
        }
        for (method, params, code) in [
            ("tools/call", json!({"name": "a"}), -32602),
            ("prompts/get", json!({"name": "a"}), -32602),
            (
                "resources/read",
                json!({"uri": "a://b"}),
                if revision.is_modern() { -32602 } else { -32002 },
            ),
            ("completion/complete", json!({}), -32601),
        ] {
            assert_eq!(peer.refused(method, params).await.0, code, "{method}");
        }
    }
}

#[tokio::test]
async fn static_servers_declare_no_list_changes() {
    // SRV-TOOL-01, SRV-RES-01: `subscribe` and `listChanged` are independent of each other
    let (server, _) = fixed(Limits::default());
    for revision in covering("SRV-TOOL-01, SRV-PRM-01, SRV-RES-01") {
        let capabilities = greeting(&server, revision).await["capabilities"].take();
        assert_eq!(capabilities["tools"], json!({}));
        assert_eq!(capabilities["prompts"], json!({}));
        assert_eq!(capabilities["resources"], json!({"subscribe": true}));
    }
    let message = server.edit(extra).unwrap_err().to_string();
    assert_eq!(
        message,
        "this server is not dynamic: build it with `ServerBuilder::dynamic()`"
    );
}

#[tokio::test]
async fn instructions_and_capabilities_follow_edits() {
    let gate = Arc::new(Semaphore::new(0));
    let server = treenail::server!().dynamic().instructions("Be brief.");
    let server = server.build().unwrap();
    let actual = |greeting: &Value| {
        let capabilities = &greeting["capabilities"];
        let subscribe = capabilities["resources"]["subscribe"] == true;
        let completes = capabilities.get("completions").is_some();
        let instructions = greeting["instructions"].as_str().unwrap().to_owned();
        (subscribe, completes, instructions)
    };
    let state = Arc::clone(&gate);
    let steps: [(AnyChange, bool, bool, &str); 5] = [
        (
            Box::new(move |offer| offer.mount(notes(&state))),
            true,
            true,
            "Be brief.\n\nNotes are short.",
        ),
        (
            Box::new(extra),
            true,
            true,
            "Be brief.\n\nNotes are short.\n\nExtra is more.",
        ),
        (
            Box::new(|offer| offer.disable(Component::namespace("notes"))),
            true,
            false,
            "Be brief.\n\nExtra is more.",
        ),
        (
            Box::new(|offer| offer.remove(Component::mounted::<Extra>())),
            false,
            false,
            "Be brief.",
        ),
        (
            Box::new(|offer| offer.enable(Component::prompt("notes.summary"))),
            false,
            true,
            "Be brief.\n\nNotes are short.",
        ),
    ];
    for (change, subscribe, completes, instructions) in steps {
        server.edit(change).unwrap();
        for revision in covering("SRV-DISC-04, SRV-CMP-01, SRV-RES-01") {
            let completes = completes && revision >= Revision::V2025_03_26;
            let expected = (subscribe, completes, instructions.to_owned());
            let greeting = greeting(&server, revision).await;
            assert_eq!(actual(&greeting), expected, "{revision}");
        }
    }
}
