//! Questions of tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use treenail::client::{ClientError, ClientLimits, McpClientBuilder, TaskWaitLimits};
use treenail::schema::{ElicitAction, ElicitRequestParams, ElicitResult};

use super::{
    ID, States, Times, acknowledged, completed, modern, peer, pushed, result, state, until_received,
};
use crate::script::{Reply, answer};

/// Returns a state with these open questions.
fn asking(keys: &[&str]) -> Value {
    let question = |key: &&str| {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let params = json!({"mode": "form", "message": key, "requestedSchema": schema});
        let request = json!({"method": "elicitation/create", "params": params});
        ((*key).to_owned(), request)
    };
    let requests: serde_json::Map<_, _> = keys.iter().map(question).collect();
    state("input_required", &json!({ "inputRequests": requests }))
}

/// Answers forms with their own message. Returns the number of questions.
fn answering(builder: McpClientBuilder) -> (McpClientBuilder, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let builder = builder.on_elicit(move |params| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            let mut result = ElicitResult::new(ElicitAction::Accept);
            if let ElicitRequestParams::Form(form) = params {
                result.content = Some([("name".to_owned(), form.message.into())].into());
            }
            Ok(result)
        }
    });
    (builder, asked)
}

#[tokio::test(start_paused = true)]
async fn a_question_is_put_once_and_answered_once() {
    let mut states = States::new([
        asking(&["a", "b"]),
        asking(&["a", "b"]),
        asking(&["b", "c"]),
        state("working", &json!({})),
        completed("done"),
    ]);
    let (builder, received) = modern(move |message| result(message, "complete", &states.next()));
    let (builder, asked) = answering(builder);
    let client = builder.build().await.unwrap();
    let called = client.call_tool("report", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"));
    assert_eq!(asked.load(Ordering::SeqCst), 3, "TASK-C-07");
    let mut answered = Vec::new();
    for message in received.all() {
        if message["method"] == "tasks/update" {
            let answers = message["params"]["inputResponses"]
                .as_object()
                .unwrap()
                .clone();
            for (key, answer) in answers {
                assert_eq!(answer["content"], json!({ "name": key }), "TASK-C-06");
                assert_eq!(answer["action"], "accept", "TASK-C-06");
                answered.push(key);
            }
        }
    }
    assert_eq!(answered, ["a", "b", "c"], "TASK-C-07");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_sent_again_after_a_failure() {
    let mut updates = 0;
    let (builder, received) = peer(move |message| match message["method"].as_str() {
        Some("tools/call") => result(message, "task", &state("working", &json!({}))),
        Some("tasks/update") => {
            updates += 1;
            match updates {
                1 => Reply::error(message, &json!({"code": -32603, "message": "store"})),
                _ => Reply::result(message, &json!({"resultType": "complete"})),
            }
        }
        Some("tasks/get") if updates < 2 => result(message, "complete", &asking(&["a"])),
        Some("tasks/get") => result(message, "complete", &completed("done")),
        _ => Reply::Lines(vec![acknowledged(message, &[])]),
    });
    let (builder, asked) = answering(builder);
    let client = builder.build().await.unwrap();
    client.call_tool("report", ()).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 1, "TASK-C-07");
    let methods = received.methods();
    let updates = methods.iter().filter(|method| *method == "tasks/update");
    assert_eq!(updates.count(), 2, "TASK-C-07");
}

#[tokio::test(start_paused = true)]
async fn pushes_do_not_delay_an_answer_that_is_sent_again() {
    let (times, mut updates) = (Times::start(), 0);
    let noted = times.clone();
    let (builder, _) = peer(move |message| match message["method"].as_str() {
        Some("tools/call") => result(message, "task", &state("working", &json!({}))),
        Some("subscriptions/listen") => Reply::Lines(vec![acknowledged(message, &[ID])]),
        Some("tasks/update") => {
            noted.note();
            updates += 1;
            match updates {
                1 => Reply::error(message, &json!({"code": -32603, "message": "store"})),
                _ => Reply::result(message, &json!({"resultType": "complete"})),
            }
        }
        _ if updates < 2 => result(message, "complete", &asking(&["a"])),
        _ => result(message, "complete", &completed("done")),
    });
    let client = answering(builder).0.build().await.unwrap();
    client.call_tool("report", ()).await.unwrap();
    assert_eq!(times.all(), [1_000, 2_000], "TASK-C-07");
}

/// The state of the poll is older than the question, which the server has pushed before its response.
#[tokio::test(start_paused = true)]
async fn a_stale_poll_does_not_lose_a_question() {
    let listen = Mutex::new(Value::Null);
    let (mut polls, mut is_answered) = (0, false);
    let (builder, _) = peer(move |message| match message["method"].as_str() {
        Some("tools/call") => result(message, "task", &state("working", &json!({}))),
        Some("subscriptions/listen") => {
            *listen.lock().unwrap() = message.clone();
            Reply::Lines(vec![acknowledged(message, &[ID])])
        }
        Some("tasks/update") => {
            is_answered = true;
            Reply::result(message, &json!({"resultType": "complete"}))
        }
        _ if is_answered => result(message, "complete", &completed("done")),
        _ => {
            polls += 1;
            if polls > 1 {
                return result(message, "complete", &asking(&["a"]));
            }
            let stale = state("working", &json!({"resultType": "complete"}));
            let question = pushed(&listen.lock().unwrap(), &asking(&["a"]));
            Reply::Lines(vec![question, answer(message, &stale)])
        }
    });
    let builder = builder.on_elicit(|_| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok(ElicitResult::new(ElicitAction::Decline))
    });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("report", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"), "TASK-C-07");
}

#[tokio::test(start_paused = true)]
async fn a_question_without_a_handler_ends_the_call() {
    let (builder, received) = modern(|message| result(message, "complete", &asking(&["a"])));
    let client = builder.build().await.unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Unanswered(_)),
        "TASK-C-06: {error}"
    );
    until_received(&received, "tasks/cancel").await;
}

#[tokio::test(start_paused = true)]
async fn an_invalid_form_is_not_sent() {
    let (builder, received) = modern(|message| result(message, "complete", &asking(&["a"])));
    let builder = builder.on_elicit(|_| async {
        let mut result = ElicitResult::new(ElicitAction::Accept);
        result.content = Some([("name".to_owned(), 7_i64.into())].into());
        Ok(result)
    });
    let client = builder.build().await.unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Unanswered(_)),
        "TASK-C-06: {error}"
    );
    assert!(
        !received.methods().contains(&"tasks/update".to_owned()),
        "TASK-C-06"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_open_no_more_is_dropped() {
    let mut states = States::new([
        asking(&["a"]),
        state("working", &json!({})),
        completed("done"),
    ]);
    let (builder, received) = modern(move |message| result(message, "complete", &states.next()));
    // The user never answers.
    let builder = builder.on_elicit(|_| async {
        tokio::time::sleep(Duration::from_secs(1_000_000)).await;
        Ok(ElicitResult::new(ElicitAction::Decline))
    });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("report", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"));
    assert!(!received.methods().contains(&"tasks/update".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn endless_questions_are_an_error() {
    let mut number = 0;
    let (builder, _) = modern(move |message| {
        number += 1;
        result(message, "complete", &asking(&[&format!("q{number}")]))
    });
    let (builder, asked) = answering(builder);
    let limits = ClientLimits::default().tasks(TaskWaitLimits::default().questions(5));
    let client = builder.limits(limits).build().await.unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 5);
}

#[tokio::test(start_paused = true)]
async fn a_question_with_an_oversized_key_is_an_error() {
    let asking = asking(&["x".repeat(5_000).as_str()]);
    let (builder, _) = modern(move |message| result(message, "complete", &asking));
    let (builder, asked) = answering(builder);
    let wait = TaskWaitLimits::default().max_wait(Duration::from_secs(60));
    let builder = builder.limits(ClientLimits::default().tasks(wait));
    let client = builder.build().await.unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_returns_again_and_again_is_an_error() {
    let mut number = 0;
    let (builder, _) = modern(move |message| {
        number += 1;
        let keys: &[_] = if number % 2 == 0 { &[] } else { &["a"] };
        result(message, "complete", &asking(keys))
    });
    // The user never answers.
    let builder = builder.on_elicit(|_| async {
        tokio::time::sleep(Duration::from_secs(1_000_000)).await;
        Ok(ElicitResult::new(ElicitAction::Decline))
    });
    let limits = ClientLimits::default().tasks(TaskWaitLimits::default().questions(5));
    let client = builder.limits(limits).build().await.unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn refused_answers_end_the_call() {
    let (builder, received) = peer(move |message| match message["method"].as_str() {
        Some("tools/call") => result(message, "task", &state("working", &json!({}))),
        Some("tasks/update") => {
            Reply::error(message, &json!({"code": -32602, "message": "too large"}))
        }
        Some("tasks/get") => result(message, "complete", &asking(&["a"])),
        _ => Reply::Lines(vec![acknowledged(message, &[])]),
    });
    let client = answering(builder).0.build().await.unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unanswered(_)), "{error:?}");
    assert!(error.to_string().contains("too large"), "{error}");
    until_received(&received, "tasks/cancel").await;
}
