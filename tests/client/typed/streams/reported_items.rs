//! Servers that report some of their items, none, or others than those of the result.

use serde_json::{Value, json};
use treenail::client::ClientError;
use treenail::prelude::*;

use super::{StreamsClient, all, frame};
use crate::script::{Reply, discovered, scripted};

/// Collects a stream of numbers whose server sends these items with their progress before this result.
async fn collect_numbers(
    reported: Vec<(f64, Value)>,
    result: Value,
) -> (Vec<u32>, Option<ClientError>) {
    all(streams_client(reported, result).await.slow(9)).await
}

/// Creates a client whose server sends these items with their progress before this result.
async fn streams_client(reported: Vec<(f64, Value)>, result: Value) -> StreamsClient {
    let (session, _) = scripted(move |message| {
        if message["method"] == "server/discover" {
            return discovered(message);
        }
        let meta = &message["params"]["_meta"];
        assert_eq!(meta["dev.treenail/items"], true);
        let mut lines: Vec<_> = reported
            .iter()
            .map(|(progress, item)| {
                let params = json!({
                    "progressToken": meta["progressToken"], "progress": progress,
                    "_meta": {"dev.treenail/item": item},
                });
                let method = "notifications/progress";
                json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
            })
            .collect();
        lines.push(crate::script::answer(message, &result));
        Reply::Lines(lines)
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    StreamsClient::new(&client)
}

fn collected(items: &[u32]) -> Value {
    json!({"resultType": "complete", "content": [], "structuredContent": items})
}

#[tokio::test]
async fn a_server_may_report_some_items_or_none() {
    let one = |progress: u32| (f64::from(progress), json!(progress));
    for (items, case) in [
        (vec![], "a server without item notifications"),
        (
            vec![one(1), one(2), one(3)],
            "a server with item notifications",
        ),
        (vec![one(1), one(3)], "one item is lost"),
        (vec![one(2), one(3)], "the first one is lost"),
        (vec![one(1), one(1), one(2)], "one item is reported twice"),
    ] {
        let (items, end) = collect_numbers(items, collected(&[1, 2, 3])).await;
        assert_eq!((items, end.is_none()), (vec![1, 2, 3], true), "{case}");
    }
    let text = json!({"resultType": "complete", "content": [{"type": "text", "text": "[1,2]"}]});
    assert_eq!(
        collect_numbers(vec![one(1)], text).await.0,
        [1, 2],
        "without structured content"
    );
}

#[tokio::test]
async fn an_invalid_item_ends_the_stream() {
    let (items, end) =
        collect_numbers(vec![(1.0, json!(1)), (2.0, json!("two"))], collected(&[1])).await;
    assert_eq!(items, [1]);
    assert!(matches!(end, Some(ClientError::Output(_))), "{end:?}");
    let (items, end) =
        collect_numbers(vec![(1.0, json!(1)), (2.0, json!(2))], collected(&[1])).await;
    assert_eq!(items, [1, 2]);
    assert!(
        matches!(end, Some(ClientError::Protocol(_))),
        "fewer than were reported: {end:?}"
    );
    let other = json!({"resultType": "complete", "content": [], "structuredContent": {}});
    let (items, end) = collect_numbers(vec![], other).await;
    assert!(
        items.is_empty() && matches!(end, Some(ClientError::Protocol(_))),
        "{end:?}"
    );
}

fn texts(texts: &[&str]) -> Value {
    let block = |text: &&str| json!({"type": "text", "text": text});
    let blocks: Vec<_> = texts.iter().map(block).collect();
    json!({"resultType": "complete", "content": blocks})
}

#[tokio::test]
async fn all_texts_are_read_without_reported_items() {
    let streams = streams_client(vec![], texts(&["a", "b"])).await;
    assert_eq!(all(streams.words(2)).await.0.concat(), "a\nb");
    assert_eq!(all(streams.last_word(2)).await.0, ["a\nb"]);
    let lines = [r#"{"minute": 1}"#, "{\"minute\": 2}\n{\"minute\": 3}"];
    let streams = streams_client(vec![], texts(&lines)).await;
    let (items, end) = all(streams.frame_lines(3)).await;
    assert_eq!((items, end.is_none()), ((1..=3).map(frame).collect(), true));
    let list = texts(&[r#"["a","#, r#""b"]"#]);
    let (items, _) = all(streams_client(vec![], list).await.word_list(2)).await;
    assert_eq!(items, ["a", "b"]);
}

#[tokio::test]
async fn empty_texts_are_a_part_of_joined_blocks() {
    let block = |at: u32, text: &str| (f64::from(at), json!({"type": "text", "text": text}));
    let cases: [(&[&str], &[&str]); 4] = [
        (&["", "a", "b"], &["", "a", "b"]),
        (&["", "", "ab"], &["", "", "ab"]),
        (&[""], &["", "ab"]),
        (&["", "a"], &["", "a", "b"]),
    ];
    for (reported, expected) in cases {
        let items = (1..).zip(reported).map(|(at, text)| block(at, text));
        let streams = streams_client(items.collect(), texts(&["ab"])).await;
        let (items, end) = all(streams.blocks_joined(3)).await;
        let items: Vec<_> = items.iter().map(|block| &*block.text).collect();
        assert_eq!((&*items, end.is_none()), (expected, true), "{end:?}");
    }
}

#[tokio::test]
async fn a_result_with_fewer_items_than_reported_is_an_error() {
    let words = || vec![(1.0, json!("one ")), (2.0, json!("two"))];
    let whole = streams_client(words(), texts(&["one two three"])).await;
    let (items, end) = all(whole.words(3)).await;
    assert_eq!(
        (items.concat(), end.is_none()),
        ("one two three".to_owned(), true)
    );
    for result in [texts(&["one"]), texts(&[])] {
        let (items, end) = all(streams_client(words(), result).await.words(3)).await;
        assert_eq!(items, ["one ", "two"]);
        assert!(matches!(end, Some(ClientError::Protocol(_))), "{end:?}");
    }
    let block = |text: &str| json!({"type": "text", "text": text, "_meta": {}});
    let blocks = vec![(1.0, block("one")), (2.0, block("two"))];
    let (items, end) = all(streams_client(blocks, texts(&["one"]))
        .await
        .blocks_joined(3))
    .await;
    assert_eq!(items.len(), 2);
    assert!(matches!(end, Some(ClientError::Protocol(_))), "{end:?}");
    let mut failed = texts(&["no"]);
    failed["isError"] = json!(true);
    let (items, end) = all(streams_client(words(), failed).await.words(3)).await;
    assert_eq!(items.len(), 2, "a failure that keeps nothing");
    assert!(matches!(end, Some(ClientError::Tool(_))), "{end:?}");
}
