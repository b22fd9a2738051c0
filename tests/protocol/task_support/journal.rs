//! Values that a call has obtained before it becomes a task, and `once` in tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::support::Support;
use super::{Gate, detach, serve, tool};
use crate::support::peer::{MODERN, Peer, text};

#[tokio::test]
async fn values_of_once_are_in_the_journal_without_any_capability_of_the_client() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = gate.clone();
    let book = tool("book", &support, move |cx, _| {
        let gate = wait.clone();
        async move {
            let first = cx.once("first", async { Ok::<_, AskError>(1) }).await?;
            let failed = cx
                .once("failed", async { Err::<u8, _>(AskError::Declined) })
                .await;
            assert!(failed.is_err());
            let second = cx.once("second", async {
                gate.pass().await;
                Ok::<_, AskError>(2)
            });
            let second = second.await?;
            // It has a value, also in the same run.
            let again = cx.once("first", async { Ok::<_, AskError>(10) }).await?;
            let third = cx.once("third", async { Ok::<_, AskError>(3) }).await?;
            let failed = cx
                .once("failed", async { Err::<u8, _>(AskError::Declined) })
                .await;
            assert!(failed.is_err());
            Ok::<_, AskError>(vec![first, second, third, again])
        }
    });
    let server = serve([book]);
    let mut peer = Peer::connect(&server, MODERN).await;
    let task = detach(&mut peer, &support, "book").await;
    let journal = serde_json::to_value(&task.journal).unwrap();
    assert_eq!(journal, json!({"once": {"first": 1}, "begun": ["second"]}));
    task.link
        .record()
        .once
        .insert("first".to_owned(), "1".to_owned());
    gate.open();
    let result = task.run.await.unwrap().unwrap();
    let result: Value = serde_json::from_str(result.get()).unwrap();
    assert_eq!(result["structuredContent"], json!([1, 2, 3, 1]));
    let expected = [
        "keep second 2",
        "begin third",
        "keep third 3",
        "begin failed",
        "release failed",
    ];
    assert_eq!(task.link.events(), expected);
}

#[tokio::test]
async fn work_that_fails_after_its_call_has_become_a_task_is_released() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = gate.clone();
    let fail = tool("fail", &support, move |cx, _| {
        let gate = wait.clone();
        async move {
            let work = async {
                gate.pass().await;
                Err::<u8, _>(AskError::Declined)
            };
            cx.once("work", work).await
        }
    });
    let server = serve([fail]);
    let mut peer = Peer::connect(&server, MODERN).await;
    let task = detach(&mut peer, &support, "fail").await;
    gate.open();
    task.run.await.unwrap().unwrap();
    assert_eq!(task.link.events(), ["release work"]);
}

#[tokio::test]
async fn the_first_value_of_a_key_counts() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = gate.clone();
    let race = tool("race", &support, move |cx, _| {
        let gate = wait.clone();
        async move {
            gate.pass().await;
            let slow = async {
                tokio::task::yield_now().await;
                Ok::<_, AskError>(2)
            };
            let fast = cx.once("work", async { Ok::<_, AskError>(1) });
            let (slow, fast) = tokio::join!(cx.once("work", slow), fast);
            Ok::<_, AskError>([slow?, fast?])
        }
    });
    let server = serve([race]);
    let mut peer = Peer::connect(&server, MODERN).await;
    let task = detach(&mut peer, &support, "race").await;
    gate.open();
    let result = task.run.await.unwrap().unwrap();
    assert!(
        result.get().contains(r#""structuredContent":[1,1]"#),
        "{result}"
    );
}

#[tokio::test]
async fn a_value_that_cannot_be_stored_fails_the_task() {
    for (key, full_at) in [("begin", 0), ("keep", 1)] {
        let (support, gate) = (Support::default(), Gate::new());
        let (wait, runs) = (gate.clone(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&runs);
        let work = tool("work", &support, move |cx, _| {
            let (gate, runs) = (wait.clone(), Arc::clone(&count));
            async move {
                gate.pass().await;
                let work = async {
                    runs.fetch_add(1, Ordering::SeqCst);
                    gate.pass().await;
                    Ok::<_, AskError>(1)
                };
                cx.once("work", work).await
            }
        });
        let server = serve([work]);
        let mut peer = Peer::connect(&server, MODERN).await;
        let task = detach(&mut peer, &support, "work").await;
        if full_at == 1 {
            gate.open();
            while task.link.events().is_empty() {
                tokio::task::yield_now().await;
            }
        }
        task.link.record().is_full = true;
        gate.open();
        let error = task.run.await.unwrap().unwrap_err();
        assert_eq!(
            (error.code, &*error.message),
            (-32603, "the store is full"),
            "{key}"
        );
        assert_eq!(runs.load(Ordering::SeqCst), full_at, "{key}");
    }
}

#[tokio::test]
async fn answers_of_earlier_rounds_are_in_the_journal() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = gate.clone();
    let ask = tool("ask", &support, move |cx, _| {
        let gate = wait.clone();
        async move {
            cx.confirm("First?").await?;
            gate.pass().await;
            cx.confirm("Second?").await?;
            Ok::<_, AskError>("done")
        }
    });
    let server = serve([ask]);
    let mut peer = Peer::connect_as(&server, MODERN, json!({"elicitation": {}})).await;
    let asked = peer.call("ask", json!({})).await;
    assert_eq!(asked["resultType"], "input_required", "TASK-S-08");
    let task = support.detach();
    let accepted = json!({"action": "accept", "content": {}});
    let params = json!({
        "name": "ask",
        "arguments": {},
        "requestState": asked["requestState"],
        "inputResponses": {"question-1": accepted},
    });
    peer.begin("tools/call", params).await;
    let answer = peer.receive_any().await.unwrap();
    assert_eq!(answer["result"]["resultType"], "task", "TASK-S-09");
    let mut task = task.await;
    let first = &task.journal.answers["question-1"];
    assert_eq!(first.value.get(), accepted.to_string());
    assert_eq!(first.question.len(), 43, "a digest in base64");
    assert!(!format!("{:?}", task.journal).contains("accept"));
    gate.open();
    let second = task.questions.recv().await.unwrap();
    assert_eq!(second.question.key, "question-2", "TASK-B-03");
    assert_ne!(second.question.id, first.question);
    second.answer(&accepted);
    assert!(task.run.await.unwrap().unwrap().get().contains("done"));
}

#[tokio::test]
async fn once_remains_as_it_is_in_plain_calls() {
    let support = Support::default();
    let once = tool("once", &support, |cx, _| async move {
        let first = cx.once("a", async { Ok::<_, AskError>(1) }).await?;
        let second = cx.once("a", async { Ok::<_, AskError>(2) }).await?;
        Ok::<_, AskError>(format!("{first} {second}"))
    });
    let server = serve([once]);
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        assert_eq!(text(&peer.call("once", json!({})).await), "1 1");
    }
}
