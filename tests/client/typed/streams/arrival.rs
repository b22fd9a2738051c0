//! Arrival of the items: their order, their time, and the end of the stream.

use std::sync::Arc;
use std::time::Duration;

use treenail::client::{ClientError, ClientLimits};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::super::station::client;
use super::{StreamsClient, all, frame, source, word};

/// Returns a client whose server sends items, one with room for only two of them, and one without any room.
async fn clients(server: &Server, revision: Revision) -> [(StreamsClient, usize); 3] {
    let of = |queued| async move {
        let limits = ClientLimits::default().queued_notifications(queued);
        let builder = McpClient::builder().server(server).limits(limits);
        let client = builder.protocol_version(revision).build().await.unwrap();
        (StreamsClient::new(&client), queued)
    };
    [of(1_024).await, of(2).await, of(0).await]
}

#[tokio::test]
async fn each_item_arrives_once_and_in_order() {
    let (server, _) = source();
    for revision in Revision::ALL {
        for (streams, queued) in clients(&server, revision).await {
            let at = format!("{revision}, {queued}");
            for to in [0, 1, 5] {
                let numbers = || 1..=to;
                let frames: Vec<_> = numbers().map(frame).collect();
                let words: Vec<_> = numbers().map(word).collect();
                let text = words.concat();
                let (items, end) = all(streams.frames(to)).await;
                assert_eq!((items, end.is_none()), (frames.clone(), true), "{at}");
                let (items, _) = all(streams.frame_lines(to)).await;
                assert_eq!(items, frames, "{at}");
                let (items, _) = all(streams.words(to)).await;
                assert_eq!(items.concat(), text, "{at}");
                let (items, _) = all(streams.word_list(to)).await;
                assert_eq!(items, words, "{at}");
                let (items, _) = all(streams.blocks(to)).await;
                let texts: Vec<_> = items.iter().filter_map(|block| block.as_text()).collect();
                assert_eq!(texts, words, "{at}");
                let (items, _) = all(streams.blocks_joined(to)).await;
                let texts = items.iter().map(|block| &*block.text);
                assert_eq!(texts.collect::<String>(), text, "{at}");
                let (items, _) = all(streams.last_word(to)).await;
                assert_eq!(items.last(), words.last(), "{at}");
                let (items, _) = all(streams.last_block(to)).await;
                let last = items.last().and_then(|block| block.as_text());
                assert_eq!(last, words.last().map(String::as_str), "{at}");
                let (items, end) = all(streams.last_frame(to)).await;
                assert_eq!(items.last(), frames.last(), "{at}");
                assert_eq!(
                    end.is_some(),
                    to == 0,
                    "a value that is the last one is missing"
                );
            }
        }
    }
}

#[tokio::test]
async fn all_items_arrive_before_a_reduced_result() {
    let (server, _) = source();
    for revision in Revision::ALL {
        let streams = StreamsClient::new(&client(&server, revision).await);
        let frames: Vec<_> = (1..=5).map(frame).collect();
        let words: Vec<_> = (1..=5).map(word).collect();
        assert_eq!(all(streams.last_frame(5)).await.0, frames, "{revision}");
        assert_eq!(all(streams.last_word(5)).await.0, words, "{revision}");
        assert_eq!(all(streams.words(5)).await.0, words, "{revision}");
        assert_eq!(all(streams.blocks_joined(5)).await.0.len(), 5, "{revision}");
        assert_eq!(all(streams.ticks(5)).await.0.len(), 5, "{revision}");
    }
}

#[tokio::test]
async fn a_failure_follows_the_preceding_items() {
    let (server, _) = source();
    for revision in Revision::ALL {
        for (streams, queued) in clients(&server, revision).await {
            let at = format!("{revision}, {queued}");
            let failed = |end: Option<ClientError>| {
                let error = end.expect(&at);
                assert!(matches!(error, ClientError::Tool(_)), "{at}");
                // Without the items, which have been yielded.
                assert_eq!(error.to_string(), "the tool failed: seven", "{at}");
            };
            let frames: Vec<_> = (1..=6).map(frame).collect();
            let words: Vec<_> = (1..=6).map(word).collect();
            let (items, end) = all(streams.frames(9)).await;
            assert_eq!(items, frames, "{at}");
            failed(end);
            let (items, end) = all(streams.frame_lines(9)).await;
            assert_eq!(items, frames, "{at}");
            failed(end);
            let (items, end) = all(streams.words(9)).await;
            assert_eq!(items.concat(), words.concat(), "{at}");
            failed(end);
            let (items, end) = all(streams.blocks(9)).await;
            assert_eq!(items.len(), 6, "{at}");
            // The items that were not progress remain: the reason may have several blocks too.
            let error = end.expect(&at).to_string();
            assert!(error.starts_with("the tool failed: "), "{at}: {error}");
            assert!(error.ends_with("seven"), "{at}: {error}");
            let (items, end) = all(streams.last_frame(9)).await;
            assert_eq!(items.last(), frames.last(), "{at}");
            failed(end);
            let (items, end) = all(streams.last_word(9)).await;
            assert_eq!(items.last(), words.last(), "{at}");
            failed(end);
        }
    }
}

#[tokio::test]
async fn items_arrive_while_the_tool_runs() {
    for revision in Revision::ALL {
        let (server, permits) = source();
        let streams = StreamsClient::new(&client(&server, revision).await);
        let mut slow = streams.slow(3);
        for at in 1..=3 {
            permits.add_permits(1);
            assert_eq!(slow.next().await.unwrap().unwrap(), at, "{revision}");
        }
        assert!(slow.next().await.is_none());
    }
}

#[tokio::test]
async fn progress_of_the_function_leaves_no_gap() {
    let (server, _) = source();
    for revision in Revision::ALL {
        let streams = StreamsClient::new(&client(&server, revision).await);
        assert_eq!(
            all(streams.with_progress()).await.0,
            [1, 2, 3],
            "{revision}"
        );
    }
}

#[tokio::test]
async fn dropping_a_stream_cancels_its_call() {
    for revision in Revision::ALL {
        let (server, permits) = source();
        let streams = StreamsClient::new(&client(&server, revision).await);
        let mut slow = streams.slow(9);
        permits.add_permits(1);
        slow.next().await.unwrap().unwrap();
        assert!(
            Arc::strong_count(&permits) > 2,
            "the tool has one while it runs"
        );
        drop(slow);
        let ended = async {
            while Arc::strong_count(&permits) > 2 {
                tokio::task::yield_now().await;
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(10), ended).await;
        assert!(ended.is_ok(), "{revision}: the tool runs on");
    }
}
