//! Questions and progress of functions that continue as tasks.

use serde_json::{Value, json};
use treenail::dynamic::Tool;
use treenail::prelude::*;
use treenail::schema::LoggingLevel;

use super::support::Support;
use super::{Gate, detach, serve, tool};
use crate::support::peer::{MODERN, Peer};

#[tokio::test]
async fn the_context_of_a_task_uses_its_link() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = gate.clone();
    let ask = tool("ask", &support, move |cx, _| {
        let gate = wait.clone();
        async move {
            cx.progress(1).message("one").await;
            gate.pass().await;
            cx.progress(2).total(3).message("two").await;
            #[allow(deprecated, reason = "the message must not be sent")]
            cx.log(LoggingLevel::Error, "lost").await;
            assert!(!cx.reruns_for_answers());
            cx.confirm("Sure?").await?;
            let named = cx
                .elicit_url("Pay", "https://example.com/")
                .key("pay")
                .await;
            Ok::<_, AskError>(format!("{named:?}"))
        }
    });
    let server = serve([ask]);
    let elicitation = json!({"elicitation": {"form": {}, "url": {}}});
    let mut peer = Peer::connect_as(&server, MODERN, elicitation).await;
    let task = support.detach();
    let meta = json!({"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"});
    peer.begin(
        "tools/call",
        json!({"name": "ask", "arguments": {}, "_meta": meta}),
    )
    .await;
    assert_eq!(peer.next_notification().await.1["message"], "one");
    assert_eq!(
        peer.receive_any().await.unwrap()["result"]["resultType"],
        "task"
    );
    let mut task = task.await;
    gate.open();
    let asked = task.questions.recv().await.unwrap();
    assert_eq!(
        (&*asked.question.key, &*asked.message()),
        ("question-1", "Sure?")
    );
    asked.answer(&json!({"action": "accept", "content": {}}));
    let asked = task.questions.recv().await.unwrap();
    assert_eq!((&*asked.question.key, &*asked.message()), ("pay", "Pay"));
    asked.answer(&json!({"action": "decline"}));
    let result = task.run.await.unwrap().unwrap();
    assert!(result.get().contains("Err(Declined)"), "{result}");
    // The first one was reported before the call became a task.
    assert_eq!(
        task.link.events(),
        [r#"["progress",1,null,"one"]"#, r#"["progress",2,3,"two"]"#]
    );
    assert_eq!(peer.finish().await, [] as [Value; 0], "TASK-S-26");
}

#[tokio::test]
async fn a_capability_that_a_question_needs_is_an_error_of_the_task() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = gate.clone();
    let ask = tool("ask", &support, move |cx, _| {
        let gate = wait.clone();
        async move {
            gate.pass().await;
            cx.confirm("Sure?").await
        }
    });
    let server = serve([ask]);
    let mut peer = Peer::connect(&server, MODERN).await;
    let task = detach(&mut peer, &support, "ask").await;
    gate.open();
    assert_eq!(task.run.await.unwrap().unwrap_err().code, -32021);
}

#[tokio::test]
async fn a_blocking_function_continues_as_a_task() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = gate.clone();
    let tool = Tool::new("ask")
        .task(support.clone())
        .blocking(move |cx, _| {
            let (gate, runtime) = (wait.clone(), tokio::runtime::Handle::current());
            runtime.block_on(async move {
                gate.pass().await;
                cx.progress(1).await;
                cx.confirm("Sure?").await
            })
        });
    let server = serve([tool]);
    let mut peer = Peer::connect_as(&server, MODERN, json!({"elicitation": {}})).await;
    let task = support.detach();
    peer.begin("tools/call", json!({"name": "ask"})).await;
    let (mut task, _) = tokio::join!(task, peer.receive_any());
    gate.open();
    let asked = task.questions.recv().await.unwrap();
    asked.answer(&json!({"action": "accept", "content": {}}));
    assert!(task.run.await.unwrap().is_ok());
    assert_eq!(task.link.events(), [r#"["progress",1,null,null]"#]);
}

#[tokio::test]
async fn a_question_that_waits_when_its_call_becomes_a_task_is_asked_by_the_task() {
    let (support, gate) = (Support::default().without_poll(), Gate::new());
    let wait = gate.clone();
    let ask = tool("ask", &support, move |cx, _| {
        let gate = wait.clone();
        async move {
            let asking = tokio::spawn(async move {
                gate.pass().await;
                cx.confirm("Sure?").await
            });
            asking.await.unwrap()
        }
    });
    let server = serve([ask]);
    let mut peer = Peer::connect_as(&server, MODERN, json!({"elicitation": {}})).await;
    peer.begin("tools/call", json!({"name": "ask", "arguments": {}}))
        .await;
    // A later request is answered after the function has been polled.
    peer.told_nothing().await;
    // The question is asked first, and the call is not polled again before it becomes a task.
    gate.open();
    let (mut task, _) = tokio::join!(support.detach(), peer.receive_any());
    let asked = task.questions.recv().await.unwrap();
    assert_eq!(asked.question.key, "question-1");
    asked.answer(&json!({"action": "accept", "content": {}}));
    assert!(task.run.await.unwrap().is_ok());
}
