//! Values whose absence and `null` differ: `Option<Option<T>>`.

#![allow(clippy::option_option, reason = "null differs from absence")]

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::support::peer::{MODERN, Peer, text};

/// Person to ask.
#[mcp_type]
#[derive(Debug)]
struct Contact {
    name: String,
}

/// Changes of an incident. What is missing stays as it is.
#[mcp_type]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
struct Patch {
    title: Option<String>,
    /// Person to ask; null for none
    contact_person: Option<Option<Contact>>,
    #[serde(default)]
    room: Option<Option<u8>>,
}

/// Changes, without a form that is written.
#[mcp_type(input)]
enum Change {
    /// Moves it.
    Move { to: Option<Option<String>> },
}

struct Desk;

#[mcp_tool]
impl Desk {
    #[tool]
    async fn patch(&self, patch: Patch) -> Patch {
        patch
    }

    #[tool]
    async fn change(&self, change: Change) -> String {
        let Change::Move { to } = change;
        format!("{to:?}")
    }

    #[tool]
    async fn assign(
        &self,
        /// Person to ask
        #[arg(length = 1..)]
        contact: Option<Option<String>>,
    ) -> String {
        format!("{contact:?}")
    }
}

async fn desk(revision: Revision) -> Peer {
    let server = treenail::server!().mount(Desk).build().unwrap();
    Peer::connect(&server, revision).await
}

#[tokio::test]
async fn the_schema_has_null_where_it_differs_from_absence() {
    let mut peer = desk(MODERN).await;
    let tools = peer.request("tools/list", json!({})).await["result"]["tools"].take();
    let find = |name: &str| {
        let mut tools = tools.as_array().unwrap().iter();
        tools.find(|tool| tool["name"] == name).unwrap()
    };
    let name = json!({"type": "string"});
    let contact = json!({"type": "object", "properties": {"name": name}, "required": ["name"]});
    let expected = json!({
        "title": {"type": "string"},
        "contactPerson": {
            "anyOf": [contact, {"type": "null"}],
            "description": "Person to ask; null for none",
        },
        "room": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "null"}]},
    });
    let patch = &find("patch")["inputSchema"]["properties"]["patch"];
    assert_eq!(patch["properties"], expected);
    assert_eq!(patch.get("required"), None);
    let output = &find("patch")["outputSchema"];
    let mut nullable = expected;
    nullable["title"] = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    assert_eq!(output["properties"], nullable);
    assert_eq!(output["required"], json!(["title"]));
    let assign = &find("assign")["inputSchema"];
    let expected = json!({
        "anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}],
        "description": "Person to ask",
    });
    assert_eq!(assign["properties"]["contact"], expected);
    assert_eq!(assign.get("required"), None);
    assert!(!Value::to_string(&tools).contains("x-treenail"), "{tools}");
}

#[tokio::test]
async fn absence_and_null_arrive_as_such_and_are_written_as_such() {
    for revision in Revision::ALL {
        let mut peer = desk(revision).await;
        for patch in [
            json!({"title": null}),
            json!({"title": "a", "contactPerson": null, "room": null}),
            json!({"title": null, "contactPerson": {"name": "Anna"}, "room": 4}),
        ] {
            let result = peer.call("patch", json!({ "patch": patch })).await;
            let written: Value = serde_json::from_str(text(&result)).unwrap();
            assert_eq!(written, patch);
        }
        for (given, expected) in [
            (json!({}), "None"),
            (json!({"to": null}), "Some(None)"),
            (json!({"to": "a"}), "Some(Some(\"a\"))"),
        ] {
            let result = peer
                .call("change", json!({"change": {"Move": given}}))
                .await;
            assert_eq!(text(&result), expected);
        }
        for (given, expected) in [
            (json!({}), "None"),
            (json!({"contact": null}), "Some(None)"),
            (json!({"contact": "a"}), "Some(Some(\"a\"))"),
        ] {
            assert_eq!(text(&peer.call("assign", given).await), expected);
        }
        let result = peer.call("assign", json!({"contact": ""})).await;
        let expected = "/contact: expected a string (characters at least 1) or null, got";
        assert!(text(&result).contains(expected), "{}", text(&result));
    }
}

/// Has a default that its type cannot be without.
#[mcp_tool]
fn defaulted(#[arg(default)] note: Option<Option<String>>) -> String {
    format!("{note:?}")
}

#[test]
fn an_argument_that_null_clears_has_no_default() {
    let built = treenail::server!().tools(tools![defaulted]).build();
    let error = built.unwrap_err().to_string();
    assert!(error.contains("argument `note` has a default"), "{error}");
}
