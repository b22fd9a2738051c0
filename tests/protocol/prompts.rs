//! Prompts: their descriptors, results, and errors for invalid requests.

use serde_json::{Value, json};
use treenail::schema::Revision;

use super::library::{CHECKS_TYPES, server};
use crate::support::covering::covering;
use crate::support::peer::Peer;

#[tokio::test]
async fn a_prompt_is_described_by_its_function() {
    for revision in covering("SRV-PRM-03") {
        let mut peer = Peer::connect(&server(), revision).await;
        let result = peer.request("prompts/list", json!({})).await["result"].take();
        let prompts = result["prompts"].as_array().unwrap();
        let names: Vec<_> = prompts.iter().map(|prompt| &prompt["name"]).collect();
        let expected = ["recommend", "motto", "dialogue", "media", "whole", "fails"];
        assert_eq!(
            json!(names),
            json!(expected.map(|name| format!("library.{name}")))
        );
        assert_eq!(
            prompts[0],
            json!({
                "name": "library.recommend",
                "title": "Recommend",
                "description": "Recommends a book.",
                "icons": [{"src": "https://example.com/icon.png"}],
                "arguments": [
                    {"name": "subject", "description": "What it is about", "required": true},
                    {"name": "count", "required": false},
                    {"name": "in", "required": false},
                    {"name": "unit", "required": false},
                ],
            })
        );
        assert_eq!(prompts[1], json!({"name": "library.motto"}));
        let hints = (result.get("ttlMs"), result.get("cacheScope"));
        let expected = (json!(0), json!("private"));
        let expected = revision.is_modern().then_some(&expected);
        assert_eq!(
            hints,
            (
                expected.map(|hints| &hints.0),
                expected.map(|hints| &hints.1)
            )
        );
    }
}

#[tokio::test]
async fn each_return_type_becomes_messages() {
    // The arguments of each, and the resulting messages.
    let user = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
    let place = json!([{"name": "Oslo", "latitude": 1, "note": null}]).to_string();
    let table = [
        (
            "recommend",
            json!({"subject": "\"trees\" é"}),
            vec![user("Recommend 1 on \"trees\" é")],
        ),
        (
            "recommend",
            json!({"subject": "a", "count": "3", "in": "Oslo", "unit": "metric"}),
            vec![user("Recommend 3 on a in Oslo Metric")],
        ),
        ("motto", json!({}), vec![user("one\ntwo")]),
        (
            "dialogue",
            json!({ "places": place }),
            vec![
                user("test"),
                json!({"role": "assistant", "content": {"type": "text", "text": "1 places"}}),
            ],
        ),
        ("whole", json!({}), vec![user("all")]),
    ];
    for revision in covering("SRV-PRM-04") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments, messages) in &table {
            let result = peer
                .prompt(&format!("library.{name}"), arguments.clone())
                .await;
            assert_eq!(result["messages"], json!(messages), "{name}");
            let complete = revision.is_modern().then(|| json!("complete"));
            assert_eq!(result.get("resultType"), complete.as_ref());
        }
        let description = |result: Value| result["description"].clone();
        let own = description(peer.prompt("library.whole", json!({})).await);
        assert_eq!(own, "Its own");
        let listed = peer
            .prompt("library.recommend", json!({"subject": "a"}))
            .await;
        assert_eq!(description(listed), "Recommends a book.");
        let params = json!({"name": "library.motto"});
        let answer = peer.request("prompts/get", params).await;
        assert!(
            answer["result"]["messages"].is_array(),
            "no arguments are needed"
        );
    }
}

#[tokio::test]
async fn message_content_is_downgraded_for_the_revision() {
    for revision in covering("SRV-PRM-05, SRV-PRM-06") {
        let mut peer = Peer::connect(&server(), revision).await;
        let table = [
            ("image", Revision::V2024_11_05, "image"),
            ("audio", Revision::V2025_03_26, "audio"),
            ("link", Revision::V2025_06_18, "resource_link"),
            ("resource", Revision::V2024_11_05, "resource"),
        ];
        for (kind, since, content) in table {
            let result = peer.prompt("library.media", json!({"kind": kind})).await;
            let expected = if revision >= since { content } else { "text" };
            assert_eq!(result["messages"][0]["content"]["type"], expected, "{kind}");
        }
    }
}

#[tokio::test]
async fn invalid_requests_get_a_precise_error() {
    // The params, and the message.
    let recommend = "wrong arguments for the prompt `library.recommend`:";
    let table = [
        (
            json!({"name": "library.recommnd"}),
            "unknown prompt `library.recommnd`: namespace `library` has no `recommnd`; did you mean `library.recommend`?".to_owned(),
        ),
        (
            json!({"name": "library"}),
            "`library` is a namespace, not a prompt; see `prompts/list`".to_owned(),
        ),
        (json!({}), "`params.name` is missing".to_owned()),
        (
            json!({"name": "library.motto", "arguments": ["a"]}),
            "`params.arguments` is not an object".to_owned(),
        ),
        (
            json!({"name": "library.recommend"}),
            format!("{recommend}\n- /subject: missing; expected a string"),
        ),
        (
            json!({"name": "library.recommend", "arguments": {"subjct": "a"}}),
            format!(
                "{recommend}\n- /subjct: unknown argument; did you mean `subject`?\n- /subject: missing; expected a string"
            ),
        ),
        (
            json!({"name": "library.recommend", "arguments": {"subject": "a", "count": "9"}}),
            format!(
                "{recommend}\n- /count: expected an integer (at least 1, at most 5), got the string \"9\""
            ),
        ),
        (
            json!({"name": "library.recommend", "arguments": {"subject": "a", "count": "few"}}),
            format!(
                "{recommend}\n- /count: expected an integer (at least 1, at most 5), got the string \"few\""
            ),
        ),
        (
            json!({"name": "library.recommend", "arguments": {"subject": 7}}),
            format!("{recommend}\n- /subject: expected a string in quotes, got 7"),
        ),
        (
            json!({"name": "library.recommend", "arguments": {"subject": "a", "unit": "feet"}}),
            format!(
                "{recommend}\n- /unit: unknown variant `feet`, expected `metric` or `imperial`"
            ),
        ),
        (
            json!({"name": "library.motto", "arguments": {"a": "b"}}),
            "wrong arguments for the prompt `library.motto`:\n- /a: unknown argument; known arguments: none".to_owned(),
        ),
    ];
    for revision in covering("SRV-PRM-07") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (params, message) in &table {
            let refused = peer.refused("prompts/get", params.clone()).await;
            if message.contains("an integer") || message.contains("variant") {
                assert_eq!(refused.0, -32602, "{params}");
                assert!(
                    !CHECKS_TYPES || refused.1 == *message,
                    "{params}: {refused:?}"
                );
            } else {
                assert_eq!(refused, (-32602, message.clone()), "{params}");
            }
        }
    }
}

#[tokio::test]
async fn a_failure_is_an_internal_error() {
    let table = [
        ("", -32603, "the station does not answer"),
        ("refuse", -32602, "not this one"),
        (
            "panic",
            -32603,
            "the prompt `library.fails` failed unexpectedly; this is a bug in the server",
        ),
    ];
    for revision in covering("SRV-PRM-07") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (how, code, message) in table {
            let params = json!({"name": "library.fails", "arguments": {"how": how}});
            let refused = peer.refused("prompts/get", params).await;
            assert_eq!(
                refused,
                (code, message.to_owned()),
                "the panic message is not sent"
            );
        }
        let params = json!({"name": "library.media", "arguments": {"kind": "none"}});
        assert_eq!(peer.refused("prompts/get", params).await.0, -32603);
    }
}
