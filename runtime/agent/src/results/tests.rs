//! Tests of the conversion of results and failures.

#![allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]

use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use treenail_runtime::RpcError;
use treenail_runtime::client::ClientError;
use treenail_schema::{CallToolResult, ContentBlock};

use super::{CallFailure, error_text, for_model};
use crate::ModelCapabilities;

fn result(result: Value) -> CallToolResult {
    serde_json::from_value(result).unwrap()
}

fn texts(blocks: &[ContentBlock]) -> Vec<&str> {
    blocks
        .iter()
        .map(|block| block.as_text().unwrap())
        .collect()
}

#[track_caller]
fn check(given: &Value, expected: &[&str]) {
    let blocks = for_model(
        &result(given.clone()),
        ModelCapabilities::default(),
        64 << 10,
    );
    assert_eq!(texts(&blocks), expected, "{given}");
}

#[test]
fn all_content_types_are_described_in_order() {
    check(
        &json!({"content": [
            {"type": "text", "text": "first"},
            {"type": "image", "data": "QUJD".repeat(4096), "mimeType": "image/png"},
            {"type": "audio", "data": "QQ==", "mimeType": "audio/wav\nIgnore this"},
            {"type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"},
            {"type": "resource_link", "name": "b", "title": "B", "uri": "file:///b", "mimeType": "text/plain", "size": 2048,
             "description": "the\nother"},
            {"type": "resource", "resource": {"uri": "file:///c", "mimeType": "text/csv", "text": "1,2\n3,4"}},
            {"type": "resource", "resource": {"uri": "file:///d", "blob": "QUJD"}},
            {"type": "text", "text": "last"},
        ]}),
        &[
            "first",
            "[image of type image/png, 12 KiB, which you cannot process]",
            "[audio of type audio/wav Ignore this, 1 bytes, which you cannot process]",
            "[resource a.txt: file:///a.txt]",
            "[resource B: file:///b, of type text/plain, 2 KiB; the other]",
            "[resource file:///c, of type text/csv]\n1,2\n3,4",
            "[resource file:///d, 3 bytes, which you cannot process]",
            "last",
        ],
    );
    check(&json!({"content": []}), &["[the tool returned nothing]"]);
}

#[test]
fn images_and_audio_are_passed_to_models_that_support_them() {
    let capabilities = ModelCapabilities::default().images(true).audio(true);
    let image = ContentBlock::image("QUJD", "image/png");
    let audio = ContentBlock::audio("QUJD", "audio/wav");
    let given = result(json!({"content": [
        {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "QUJD", "mimeType": "image/png"}},
        {"type": "image", "data": "QUJD".repeat(1000), "mimeType": "image/png"},
    ]}));
    let blocks = for_model(&given, capabilities, 4096);
    assert_eq!(blocks[..3], [image.clone(), audio, image]);
    assert_eq!(
        blocks[3].as_text(),
        Some("[image of type image/png, 2.9 KiB, too large to be shown]")
    );
}

#[test]
fn media_have_only_their_data_and_a_short_type() {
    let capabilities = ModelCapabilities::default().images(true).audio(true);
    let long = format!("image/{}", "x".repeat(1 << 20));
    let mut given = json!({"content": [
        {"type": "image", "data": "QUJD", "mimeType": "image/png", "_meta": {"a": "x".repeat(1 << 20)}},
        {"type": "image", "data": "QUJD", "mimeType": long},
        {"type": "audio", "data": "QUJD", "mimeType": "audio/wav\nand more"},
        {"type": "image", "data": "no base64", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "QUJD", "mimeType": long}},
    ]});
    let blocks = for_model(&result(given.clone()), capabilities, 4096);
    assert_eq!(blocks[0], ContentBlock::image("QUJD", "image/png"));
    for text in texts(&blocks[1..]) {
        assert!(text.ends_with(", which you cannot process]"), "{text}");
        assert!(text.len() < 1000, "{}", text.len());
    }
    // The types count too.
    let image = json!({"type": "image", "data": "QUJD", "mimeType": "image/png"});
    given["content"] = vec![image; 1000].into();
    let blocks = for_model(&result(given), capabilities, 1300);
    let images = blocks.iter().filter(|block| block.as_text().is_none());
    assert!(images.count() <= 100);
}

#[test]
fn structured_content_is_not_repeated() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let once = [
        (
            json!({"a": 1, "b": [2]}),
            text("{\n  \"b\": [2],\n  \"a\": 1\n}"),
        ),
        (json!([1, 2]), text("[1,2]")),
        (json!(null), text("null")),
        (json!("words"), text("words")),
        (json!("words"), text("\"words\"")),
        (json!({"result": 7}), text("7")),
        (json!({"result": "words"}), text("words")),
        (
            json!({"result": ["a", {"b": 1}]}),
            json!([
                {"type": "text", "text": "a"}, {"type": "text", "text": "{\"b\": 1}"},
            ]),
        ),
    ];
    for (structured, content) in once {
        let given = json!({"content": content, "structuredContent": structured});
        let expected: Vec<_> = content
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["text"].as_str().unwrap())
            .collect();
        check(&given, &expected);
    }
    let twice = [
        (json!({"a": 1}), text("one"), r#"{"a":1}"#),
        (json!({"a": 1}), text("{\"a\": 2}"), r#"{"a":1}"#),
        (json!(null), text("nothing"), "null"),
        (
            json!({"result": 7, "more": 8}),
            text("7"),
            r#"{"result":7,"more":8}"#,
        ),
    ];
    for (structured, content, describe) in twice {
        let said = content[0]["text"].as_str().unwrap().to_owned();
        check(
            &json!({"content": content, "structuredContent": structured}),
            &[&said, describe],
        );
    }
    check(
        &json!({"content": [], "structuredContent": {"a": 1}}),
        &[r#"{"a":1}"#],
    );
}

#[test]
fn truncation_is_marked() {
    let long = "é".repeat(100_000);
    let given = result(json!({"content": [
        {"type": "text", "text": "short"}, {"type": "text", "text": long}, {"type": "text", "text": "short too"},
    ]}));
    let blocks = for_model(&given, ModelCapabilities::default(), 4096);
    let texts = texts(&blocks);
    assert_eq!((texts[0], texts[2]), ("short", "short too"));
    assert!(
        texts[1].starts_with("éé") && texts[1].ends_with("éé"),
        "{}",
        texts[1]
    );
    assert!(
        texts[1].contains("\n[… 191.3 KiB of 195.3 KiB omitted …]\n"),
        "{}",
        texts[1]
    );
    assert!(
        (3900..=4096).contains(&bytes(&blocks)),
        "{}",
        bytes(&blocks)
    );

    let many: Vec<_> = (0..100_000)
        .map(|at| ContentBlock::text(at.to_string()))
        .collect();
    let blocks = for_model(
        &CallToolResult::new(many),
        ModelCapabilities::default(),
        1 << 20,
    );
    assert_eq!(blocks.len(), 1001);
    let last = blocks[1000].as_text();
    assert_eq!(last, Some("[99000 more parts of the result are omitted]"));
}

fn bytes(blocks: &[ContentBlock]) -> usize {
    let bytes = blocks.iter().map(|block| match block {
        ContentBlock::Text(content) => content.text.len(),
        ContentBlock::Image(content) => content.data.len() + content.mime_type.len(),
        _ => panic!("{block:?}"),
    });
    bytes.sum()
}

#[test]
fn results_fit_the_limit_and_short_ones_are_unchanged() {
    let mut random = Rng::with_seed(7);
    for _ in 0..2_000 {
        let count = random.usize(..12);
        let content: Vec<_> = (0..count)
            .map(|_| {
                let longest = [4, 40, 400, 4000][random.usize(..4)];
                let length = random.usize(..longest);
                let text: String = (0..length).map(|_| random.char('a'..)).collect();
                match random.u8(..4) {
                    0 => ContentBlock::image("QUJD".repeat(length / 4 + 1), "image/png"),
                    _ => ContentBlock::text(text),
                }
            })
            .collect();
        let given = CallToolResult::new(content.clone());
        let capabilities = ModelCapabilities::default().images(true);
        let max = random.usize(..10_000);
        let blocks = for_model(&given, capabilities, max);
        assert!(
            bytes(&blocks) <= max.max(256),
            "{} of {max}: {blocks:?}",
            bytes(&blocks)
        );
        let images = content
            .iter()
            .filter(|block| matches!(block, ContentBlock::Image(_)));
        let has_room = bytes(&images.cloned().collect::<Vec<_>>()) <= max - max / 4;
        if count > 0 && bytes(&content) <= max && has_room {
            assert_eq!(blocks, content);
        }
    }
}

#[test]
fn failures_suggest_the_next_step() {
    let closed = ClientError::Closed("the server has ended".into());
    let refused = ClientError::Refused(RpcError::invalid_params("no such place"));
    let busy = ClientError::Http {
        url: "http://a.example/mcp".into(),
        status: 503,
        body: "too many calls".into(),
    };
    let names: Vec<String> = (0..100).map(|at| format!("tool_{at}")).collect();
    let many: Vec<&str> = names.iter().map(String::as_str).collect();
    let table: [(CallFailure<'_>, &[&str]); 14] = [
        (
            CallFailure::UnknownTool {
                known: &["clock", "weather"],
            },
            &[
                "There is no tool `clok`. Did you mean `clock`?",
                "`clock`, `weather`",
                "Call one of them",
            ],
        ),
        (
            CallFailure::UnknownTool { known: &[] },
            &["no tools at all"],
        ),
        (
            CallFailure::UnknownTool { known: &many },
            &["`tool_63`, and 36 more."],
        ),
        (
            CallFailure::InvalidArguments {
                report: "Wrong so.",
            },
            &["Wrong so."],
        ),
        (CallFailure::Malformed { message: "Bad so." }, &["Bad so."]),
        (
            CallFailure::Denied {
                reason: Some("too late"),
            },
            &[
                "`clok`",
                "user does not want",
                ": too late.",
                "Do not call it so again",
            ],
        ),
        (
            CallFailure::Forbidden { reason: None },
            &[
                "must not be called",
                "so it was not.",
                "Do not call it so again",
            ],
        ),
        (
            CallFailure::NoApprover,
            &["no one is available to approve it", "tell the user"],
        ),
        (
            CallFailure::TimedOut {
                after: Duration::from_secs(30),
            },
            &["within 30s", "cancelled", "try once more"],
        ),
        (
            CallFailure::TooManyCalls { max: 8 },
            &["only 8 are run", "next message"],
        ),
        (
            CallFailure::Interrupted {
                reason: "time is up",
            },
            &["time is up"],
        ),
        (
            CallFailure::Failed(&closed),
            &[
                "the connection to its server failed",
                "the server has ended",
                "Go on without it",
            ],
        ),
        (
            CallFailure::Failed(&refused),
            &["refused the call", "no such place", "correct it"],
        ),
        (
            CallFailure::Failed(&busy),
            &["too busy", "has not run it", "too many calls", "later"],
        ),
    ];
    for (failure, describe) in table {
        let text = error_text("clok", failure);
        for describe in describe {
            assert!(text.contains(describe), "{text}");
        }
    }
}
