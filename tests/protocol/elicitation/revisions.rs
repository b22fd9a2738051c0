//! The same function and the same answers, in both eras.

use std::sync::atomic::Ordering;

use serde_json::json;
use treenail::prelude::*;
use treenail::schema::Revision;

use super::hotel::{ELICITS, agree, guest, hotel};
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, error, text};

#[tokio::test]
async fn two_elicitations_work_in_every_revision_with_forms() {
    for revision in covering(
        "SRV-ELI-02, SRV-ELI-03, SRV-BASE-08, SRV-STDIO-03, SRV-MRTR-01, ALL-TRN-01 since 2025-06-18",
    ) {
        let (hotel, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, questions) = peer.call_and_agree("book", json!({"city": "Oslo"})).await;
        assert_eq!(
            text(&answer["result"]),
            "Ada in Oslo, breakfast: true",
            "{revision}"
        );
        let messages: Vec<_> = questions
            .iter()
            .map(|question| question["params"]["message"].as_str().unwrap())
            .collect();
        assert_eq!(
            messages,
            ["Who stays in Oslo?", "Book for Ada?"],
            "SRV-ELI-02"
        );
        let runs = if revision.is_modern() { 3 } else { 1 };
        assert_eq!(hotel.runs.load(Ordering::SeqCst), runs, "{revision}");
        let mode = &questions[0]["params"]["mode"];
        let known = revision >= Revision::V2025_11_25;
        assert_eq!(mode == "form", known, "SRV-ELI-02 {revision}: {mode}");
    }
}

#[tokio::test]
async fn url_elicitation_works_in_revisions_that_support_it() {
    for revision in covering("SRV-ELI-06 since 2025-11-25") {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, questions) = peer.call_and_agree("book_and_pay", json!({})).await;
        assert_eq!(text(&answer["result"]), "Ada", "{revision}");
        let params = &questions[1]["params"];
        assert_eq!(params["mode"], "url", "SRV-ELI-06");
        assert_eq!(params["url"], "https://example.com/pay", "SRV-ELI-06");
        let id = params.get("elicitationId").is_some();
        assert_eq!(id, !revision.is_modern(), "SRV-ELI-06 {revision}");
    }
}

#[tokio::test]
async fn several_requests_are_sent_in_one_round() {
    for revision in covering("SRV-MRTR-05 since 2025-06-18") {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, questions) = peer.call_and_agree("all_at_once", json!({})).await;
        assert_eq!(text(&answer["result"]), "Ada m file:///home", "{revision}");
        assert_eq!(questions.len(), 3);
    }
    let (_, server) = hotel();
    let mut peer = guest(&server, MODERN).await;
    let answer = peer.round("all_at_once", json!({}), json!({})).await;
    let questions = answer["result"]["inputRequests"].as_object().unwrap();
    let keys: Vec<_> = questions.keys().collect();
    assert_eq!(
        keys,
        ["capital", "client_roots", "user_name"],
        "SRV-MRTR-05"
    );
    for question in questions.values() {
        assert!(question.get("id").is_none(), "SRV-MRTR-05: {question}");
        assert!(question.get("jsonrpc").is_none(), "SRV-MRTR-05: {question}");
    }
}

#[tokio::test]
async fn effects_happen_once() {
    for revision in ELICITS {
        let (hotel, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, _) = peer.call_and_agree("reserve", json!({})).await;
        assert_eq!(text(&answer["result"]), "41", "{revision}");
        assert_eq!(hotel.effects.load(Ordering::SeqCst), 1, "{revision}");
    }
}

#[tokio::test]
async fn a_declined_elicitation_is_an_error_of_the_function() {
    for revision in covering("SRV-ELI-08 since 2025-06-18") {
        for (action, expected) in [
            ("decline", "the user declined"),
            ("cancel", "the user cancelled"),
        ] {
            let (_, server) = hotel();
            let mut peer = guest(&server, revision).await;
            let params = json!({"name": "book", "arguments": {"city": "Oslo"}});
            let (answer, questions) = peer
                .converse("tools/call", params, |_| json!({"action": action}))
                .await;
            assert_eq!(answer["result"]["isError"], true, "SRV-ELI-08");
            assert_eq!(text(&answer["result"]), expected, "SRV-ELI-08");
            assert_eq!(questions.len(), 1);
        }
    }
}

#[tokio::test]
async fn sampling_and_roots_work_in_every_revision() {
    for revision in covering("SRV-SAM-03, SRV-SAM-04, SRV-ROOT-01, ALL-BASE-04") {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, questions) = peer.call_and_agree("sample", json!({})).await;
        assert_eq!(text(&answer["result"]), "Paris", "{revision}");
        let params = &questions[0]["params"];
        assert_eq!(params["maxTokens"], 100, "SRV-SAM-03");
        let messages = params["messages"].as_array().unwrap().len();
        let expected = if revision < Revision::V2025_11_25 {
            2
        } else {
            1
        };
        assert_eq!(messages, expected, "SRV-SAM-04 {revision}: {params}");

        let first = questions[0].get("id").cloned();
        let (answer, questions) = peer.call_and_agree("roots", json!({})).await;
        let second = questions[0].get("id").cloned();
        assert_eq!(second == first, revision.is_modern(), "ALL-BASE-04");
        assert_eq!(text(&answer["result"]), "file:///home", "{revision}");
        assert_eq!(questions[0]["method"], "roots/list", "SRV-ROOT-01");
    }
}

#[tokio::test]
async fn prompts_and_resources_can_elicit() {
    for revision in covering("SRV-MRTR-02, SRV-RES-08, SRV-PRM-06 since 2025-06-18") {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, _) = peer
            .converse("prompts/get", json!({"name": "greet"}), agree)
            .await;
        let message = &answer["result"]["messages"][0]["content"]["text"];
        assert_eq!(message, "Greet Ada", "SRV-MRTR-02 {revision}");
        let (answer, _) = peer
            .converse("resources/read", json!({"uri": "hotel://guest"}), agree)
            .await;
        assert_eq!(
            answer["result"]["contents"][0]["text"], "Ada",
            "SRV-MRTR-02"
        );
    }
}

#[tokio::test]
async fn clients_without_the_capability_get_no_request() {
    for revision in covering("SRV-MRTR-06, SRV-META-03, SRV-META-04, SRV-ERR-03, SRV-ROOT-02") {
        let (_, server) = hotel();
        let mut peer = Peer::connect(&server, revision).await;
        if revision.is_modern() {
            // Capabilities of an earlier request do not count.
            peer.capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
            let answer = peer.round("roots", json!({}), json!({})).await;
            assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
            peer.capabilities = json!({});
        }
        for (tool, arguments, needed) in [
            ("book", json!({"city": "Oslo"}), json!({"elicitation": {}})),
            ("sample", json!({}), json!({"sampling": {}})),
            ("roots", json!({}), json!({"roots": {}})),
        ] {
            let answer = peer.round(tool, arguments, json!({})).await;
            if revision.is_modern() {
                let (code, _) = error(&answer);
                assert_eq!(code, -32021, "SRV-MRTR-06 SRV-META-04");
                let required = &answer["error"]["data"]["requiredCapabilities"];
                assert_eq!(*required, needed, "SRV-ERR-03");
            } else {
                assert_eq!(answer["result"]["isError"], true, "SRV-ROOT-02 {answer}");
                assert!(
                    text(&answer["result"]).contains(&needed.to_string()),
                    "{answer}"
                );
            }
        }
        let answer = peer.round("degrade", json!({}), json!({})).await;
        assert_eq!(text(&answer["result"]), "somebody", "AMB-19 {revision}");
        let answer = peer.round("degrade_and_fail", json!({}), json!({})).await;
        assert_eq!(
            text(&answer["result"]),
            "no room is free",
            "AMB-19 {revision}"
        );
    }
}

#[tokio::test]
async fn undeclared_modes_are_not_used() {
    for revision in covering("SRV-ELI-01, SRV-MRTR-06 since 2025-11-25") {
        let (_, server) = hotel();
        let forms = json!({"elicitation": {}});
        let mut peer = Peer::connect_as(&server, revision, forms).await;
        let (answer, questions) = peer.call_and_agree("book_and_pay", json!({})).await;
        assert_eq!(questions.len(), 1, "SRV-ELI-01");
        if revision.is_modern() {
            let required = &answer["error"]["data"]["requiredCapabilities"];
            assert_eq!(*required, json!({"elicitation": {"url": {}}}), "SRV-ERR-03");
        } else {
            assert_eq!(answer["result"]["isError"], true, "SRV-ELI-01");
        }
        let urls = json!({"elicitation": {"url": {}}});
        let mut peer = Peer::connect_as(&server, revision, urls).await;
        let answer = peer.round("degrade", json!({}), json!({})).await;
        assert_eq!(text(&answer["result"]), "somebody", "SRV-ELI-01");
    }
}

#[tokio::test]
async fn spawned_tasks_can_elicit() {
    for revision in ELICITS {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, _) = peer.call_and_agree("spawned", json!({})).await;
        assert_eq!(text(&answer["result"]), "Ada", "{revision}");
    }
}

#[tokio::test]
async fn pages_are_not_opened_in_a_revision_without_them() {
    let (_, server) = hotel();
    let modes = json!({"elicitation": {"form": {}, "url": {}}});
    let mut peer = Peer::connect_as(&server, Revision::V2025_06_18, modes).await;
    let (answer, questions) = peer.call_and_agree("book_and_pay", json!({})).await;
    assert_eq!(questions.len(), 1, "only the form: {questions:?}");
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text(&answer["result"]).contains(r#""url""#), "{answer}");
}

#[mcp_tool]
async fn open(cx: &Context, url: String) -> Result<(), AskError> {
    cx.elicit_url("Pay there", url).await
}

#[tokio::test]
async fn a_page_whose_url_is_none_is_not_opened() {
    let server = treenail::server!().tools(tools![open]).build().unwrap();
    for revision in ELICITS.into_iter().skip(1) {
        let mut peer = guest(&server, revision).await;
        for url in ["no url", "/pay", "https://a b", "https://a/\nb", ""] {
            let (answer, questions) = peer.call_and_agree("open", json!({"url": url})).await;
            assert_eq!(questions.len(), 0, "{revision} {url}");
            let reason = text(&answer["result"]);
            assert!(reason.contains("the URL is no URI"), "{url}: {reason}");
        }
    }
}
