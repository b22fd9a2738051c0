//! Completion: suggested values for prompt arguments and template variables.

use serde_json::{Value, json};
use treenail::completion::CompletionRequest;
use treenail::prelude::*;
use treenail::schema::Revision;

use super::library::server;
use crate::support::covering::covering;
use crate::support::peer::Peer;

fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

fn resource(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

fn params(reference: &Value, argument: &str, value: &str) -> Value {
    json!({"ref": reference, "argument": {"name": argument, "value": value}})
}

#[tokio::test]
async fn values_are_suggested() {
    // CLI-CMP-01: the reference, the argument, the partial value, and the suggestions.
    let recommend = prompt("library.recommend");
    let template = resource("library://books/{number}");
    let none: [&str; 0] = [];
    let table = [
        (
            &recommend,
            "subject",
            "a\"b",
            json!({"values": ["a\"b-nowhere"], "total": 1}),
        ),
        (&recommend, "in", "Os", json!({"values": ["Oslo"]})),
        (&recommend, "in", "", json!({"values": ["Oslo", "Bergen"]})),
        (&recommend, "count", "1", json!({"values": none})),
        (
            &prompt("library.media"),
            "kind",
            "im",
            json!({"values": none}),
        ),
        (
            &template,
            "number",
            "4",
            json!({"values": ["41", "42"], "total": 2}),
        ),
        (
            &resource("library://books/7"),
            "number",
            "4",
            json!({"values": ["41", "42"], "total": 2}),
        ),
        (
            &resource("file:///{+path}"),
            "path",
            "a",
            json!({"values": none}),
        ),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for (reference, argument, typed, expected) in &table {
            let params = params(reference, argument, typed);
            let result = peer.request("completion/complete", params).await["result"].take();
            let mut found = result["completion"].clone();
            let more = found.as_object_mut().unwrap().remove("hasMore");
            assert!(more.is_none_or(|more| more == false));
            assert_eq!(found, *expected, "{reference} {argument}");
            let complete = revision.is_modern().then(|| json!("complete"));
            assert_eq!(result.get("resultType"), complete.as_ref());
        }
    }
}

#[tokio::test]
async fn other_arguments_are_available() {
    // CLI-CMP-02
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let mut params = params(&prompt("library.recommend"), "subject", "a");
        params["context"] = json!({"arguments": {"in": "Oslo", "unknown": "x"}});
        let answer = peer.request("completion/complete", params).await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["a-Oslo"]));
    }
}

struct Travel;

#[mcp_tool]
impl Travel {
    #[prompt]
    fn journey(#[arg(complete = known)] from: String, to: String) -> String {
        format!("{from} {to}")
    }
}

fn known(typed: &CompletionRequest) -> Vec<String> {
    let others = typed.others();
    others
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

#[tokio::test]
async fn all_other_arguments_are_available_with_their_names() {
    let server = treenail::server!().mount(Travel).build().unwrap();
    let mut peer = Peer::connect(&server, Revision::LATEST).await;
    let mut params = params(&prompt("journey"), "from", "a");
    params["context"] = json!({"arguments": {"to": "Oslo", "by": "rail"}});
    let answer = peer.request("completion/complete", params).await;
    let values = &answer["result"]["completion"]["values"];
    assert_eq!(*values, json!(["by=rail", "to=Oslo"]));
}

#[tokio::test]
async fn a_hundred_values_are_sent_at_most() {
    for revision in covering("SRV-CMP-02") {
        let mut peer = Peer::connect(&server(), revision).await;
        let params = params(&prompt("library.recommend"), "subject", "many");
        let answer = peer.request("completion/complete", params).await;
        let completion = &answer["result"]["completion"];
        assert_eq!(completion["values"].as_array().unwrap().len(), 100);
        assert_eq!(
            (&completion["total"], &completion["hasMore"]),
            (&json!(250), &json!(true))
        );
    }
}

#[tokio::test]
async fn invalid_requests_get_a_precise_error() {
    let unknown = "invalid `params` for `completion/complete`: ";
    let table = [
        (
            params(&prompt("library.recomend"), "subject", ""),
            "unknown prompt `library.recomend`: namespace `library` has no `recomend`; did you mean `library.recommend`?",
        ),
        (
            params(&prompt("library.recommend"), "subjekt", ""),
            "there is no argument `subjekt`; did you mean `subject`?",
        ),
        (
            params(&prompt("library.motto"), "x", ""),
            "there is no argument `x`",
        ),
        (
            params(&resource("library://motto"), "x", ""),
            "there is no argument `x`",
        ),
        (
            params(&resource("elsewhere://{a}"), "a", ""),
            "there is no resource template `elsewhere://{a}`",
        ),
        (json!({}), unknown),
        (
            params(&json!({"type": "ref/tool", "name": "x"}), "x", ""),
            unknown,
        ),
        (json!({"ref": prompt("library.recommend")}), unknown),
    ];
    for revision in covering("SRV-CMP-03") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (params, expected) in &table {
            let (code, message) = peer.refused("completion/complete", params.clone()).await;
            assert_eq!(code, -32602, "{params}");
            assert!(message.starts_with(expected), "{message}");
        }
    }
}

#[tokio::test]
async fn a_panic_is_an_internal_error() {
    for revision in covering("SRV-CMP-03") {
        let mut peer = Peer::connect(&server(), revision).await;
        let params = params(&prompt("library.recommend"), "subject", "panic");
        let (code, message) = peer.refused("completion/complete", params).await;
        assert_eq!(code, -32603);
        assert_eq!(
            message,
            "the completion of `subject` failed unexpectedly; this is a bug in the server"
        );
    }
}
