//! Text copies of values, and values that are text only.

use serde_json::json;
use treenail::dynamic;
use treenail::schema::Revision;
use treenail::tool::{Structured, WrapResults};

use super::{Form, expected, layered, server};
use crate::support::peer::{Peer, text};

#[tokio::test]
async fn own_content_that_is_the_copy_is_not_repeated() {
    let tool = || Structured::new(7).with_text("Seven").with_text("7");
    let tool = dynamic::Tool::new("seven").blocking(move |_, _| tool());
    let server = treenail::server!().add(tool).build().unwrap();
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        let result = peer.call("seven", json!({})).await;
        assert_eq!(result["content"].as_array().unwrap().len(), 2, "{revision}");
    }
}

#[tokio::test]
async fn a_plain_string_is_text_where_it_is_not_structured() {
    for wrap in [WrapResults::Legacy, WrapResults::Never, WrapResults::Always] {
        for server in [server(wrap), layered(wrap)] {
            for revision in Revision::ALL {
                let mut peer = Peer::connect(&server, revision).await;
                let result = peer.call("name", json!({})).await;
                let copy = match result.get("structuredContent") {
                    Some(_) => "\"7\"",
                    None => "7",
                };
                assert_eq!(text(&result), copy, "{revision}, {wrap:?}");
                let (content, _) = expected(&json!("7"), Form::Other, revision, wrap);
                assert_eq!(result.get("structuredContent"), content.as_ref());
                let result = peer.call("choice", json!({})).await;
                assert_eq!(
                    text(&result),
                    "\"Seven\"",
                    "JSON of a type that is no plain string"
                );
            }
        }
    }
}
